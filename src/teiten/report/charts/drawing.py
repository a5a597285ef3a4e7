"""Charts as still pictures."""

from __future__ import annotations

import json
from typing import Any

import vl_convert

from teiten.report.charts.base import FONT, Chart
from teiten.report.charts.library import VEGA_LITE

MEASURED = "sans-serif"
"""In which texts are measured: that of vl-convert, so that a picture is the same on every machine.
With the page's own families each picture would read one of Japanese letters from the disk, tens of
megabytes, which takes longer than all else of it."""


def svg(chart: Chart) -> str:
    """The chart as SVG, on white: a picture in a text has no page's colour behind it."""
    return svg_of(chart, background="white", padding=10)


def svg_of(chart: Chart, **look: Any) -> str:
    """Draw the chart as SVG in the page's letters. ``look``: keys of the specification to set."""
    drawn: str = vl_convert.vegalite_to_svg(_measurable(chart, look), vl_version=VEGA_LITE)
    return drawn.replace(f'font-family="{MEASURED}"', f'font-family="{FONT}"')


def png_of(chart: Chart, scale: float, **look: Any) -> bytes:
    """``scale``: pixels of the picture for one of the chart."""
    drawn: bytes = vl_convert.vegalite_to_png(
        _measurable(chart, look), vl_version=VEGA_LITE, scale=scale
    )
    return drawn


def _measurable(chart: Chart, look: dict[str, Any]) -> str:
    text = json.dumps({**chart.complete(), **look})
    return text.replace(json.dumps(FONT), json.dumps(MEASURED))
