"""The same chart as a still picture."""

from __future__ import annotations

import vl_convert

from teiten.report.charts.base import Chart
from teiten.report.charts.library import VEGA_LITE


def svg(chart: Chart) -> str:
    """The chart as SVG, on white: a picture in a text has no page's colour behind it."""
    drawn: str = vl_convert.vegalite_to_svg(
        {**chart.complete(), "background": "white", "padding": 10}, vl_version=VEGA_LITE
    )
    return drawn
