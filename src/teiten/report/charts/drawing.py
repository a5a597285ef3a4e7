"""The same chart as a still picture."""

from __future__ import annotations

from functools import cache

import vl_convert

from teiten.report.charts.base import Chart

VEGA_LITE = "6.4"
"""Of the versions that vl-convert bundles, the one whose schema Altair writes."""


SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""What of the bundle the page uses."""


def svg(chart: Chart) -> str:
    """The chart as SVG, on white: a picture in a text has no page's colour behind it."""
    drawn: str = vl_convert.vegalite_to_svg(
        {**chart.complete(), "background": "white", "padding": 10}, vl_version=VEGA_LITE
    )
    return drawn


@cache
def library() -> str:
    """Vega, Vega-Lite and vega-embed as one JavaScript text, from the wheel of vl-convert."""
    text: str = vl_convert.javascript_bundle(SNIPPET, vl_version=VEGA_LITE)
    return text
