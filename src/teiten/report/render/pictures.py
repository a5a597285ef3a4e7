"""Charts as still pictures: beside a text, and inside a page until, or unless, its scripts draw
them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from teiten.report.blocks import Drawing, Page, Statement, of_kind, rebuilt
from teiten.report.charts.base import CONFIG, FONT, Chart
from teiten.report.charts.drawing import png_of, svg, svg_of

MOST_MARKS = 1000
"""Rows above which a picture of points is smaller than one of shapes."""
SCALE = 1.5
"""Pixels of the one for a pixel of the other."""
WIDEST = 900
BESIDE = 440
"""Pixels for a picture that stands beside a text or another picture."""
LEAST = 110
WIDER = 0.15
"""By which share the letters of a reader are wider than those with which a picture is measured."""
LOOSE = {**CONFIG, "legend": {**CONFIG["legend"], "columnPadding": 36}}
"""The look of pictures, in whose legends no label reaches the next symbol."""


def pictures_of(page: Page) -> Iterator[tuple[str, str]]:
    """The charts and drawings of a page as SVG for files beside it, by their names."""
    for block in page.blocks():
        if isinstance(block, Chart):
            yield block.name, svg(block)
        elif isinstance(block, Drawing):
            yield block.name, str(block.alone)


def picture_path(name: str) -> str:
    """The place of a picture, from that of the text."""
    return f"charts/{name}.svg"


def with_stills(page: Page) -> Page:
    """The page with a picture in each of its charts. Takes a twentieth of a second a chart."""

    beside = {
        statement.chart.name for statement in of_kind(page.blocks(), Statement) if statement.chart
    }

    def drawn(block: object) -> object:
        if not isinstance(block, Chart):
            return block
        is_beside = block.name in beside or not block.wide
        return replace(block, still=still(block, BESIDE if is_beside else WIDEST))

    return replace(page, sections=rebuilt(page.sections, drawn))


def still(chart: Chart, room: int = WIDEST) -> Markup:
    """SVG in the page's own colours and letters, or where there are many marks PNG on white.
    ``room``: the pixels for it; a picture that a page makes smaller has smaller letters too."""
    chart = _fitted(chart, room)
    if len(next(iter(chart.rows.values()), ())) > MOST_MARKS:
        png = png_of(chart, SCALE, background="white", padding=8)
        data = base64.b64encode(png).decode("ascii")
        return Markup('<img alt="" src="data:image/png;base64,{}">').format(data)
    drawn = svg_of(chart, background=None, padding=_padding(chart), config=LOOSE)
    return Markup(_of_its_own(drawn, chart.name))  # noqa: S704 - Vega escapes what it draws


def _fitted(chart: Chart, room: int) -> Chart:
    """The chart as wide as the room, as ``charts.js`` makes it; one of several plots as it is."""
    if chart.fit is None or chart.fit.path or "width" not in chart.spec:
        return chart
    width = max(LEAST, min(chart.spec["width"], room - chart.fit.beside))
    return replace(chart, spec={**chart.spec, "width": width})


def _padding(chart: Chart) -> dict[str, int]:
    """Pixels around the picture: labels left of the plot can be longer in the reader's letters."""
    beside = 0 if chart.fit is None else chart.fit.beside - chart.fit.figures
    return {"left": 5 + round(max(0, beside - 150) * WIDER), "right": 5, "top": 5, "bottom": 5}


def _of_its_own(drawn: str, name: str) -> str:
    """With names that no other picture of the page has, and without what the page says once."""
    own = re.sub(r'\bid="', f'id="{name}-', drawn).replace("url(#", f"url(#{name}-")
    own = own.replace(f' font-family="{FONT}"', "")
    return re.sub(r"<!DOCTYPE[^>]*>|<\?xml[^>]*>", "", own)
