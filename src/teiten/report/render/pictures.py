"""Charts as still pictures: beside a text, and inside a page until, or unless, its scripts draw
them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from teiten.report.blocks import Drawing, Page, rebuilt
from teiten.report.charts.base import FONT, Chart
from teiten.report.charts.drawing import png_of, svg, svg_of

MOST_MARKS = 1000
"""Rows above which a picture of points is smaller than one of shapes."""
SCALE = 1.5
"""Pixels of the one for a pixel of the other."""


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

    def drawn(block: object) -> object:
        return replace(block, still=still(block)) if isinstance(block, Chart) else block

    return replace(page, sections=rebuilt(page.sections, drawn))


def still(chart: Chart) -> Markup:
    """SVG in the page's own colours and letters, or where there are many marks PNG on white."""
    if len(next(iter(chart.rows.values()), ())) > MOST_MARKS:
        png = png_of(chart, SCALE, background="white", padding=8)
        data = base64.b64encode(png).decode("ascii")
        return Markup('<img alt="" src="data:image/png;base64,{}">').format(data)
    drawn = svg_of(chart, background=None)
    return Markup(_of_its_own(drawn, chart.name))  # noqa: S704 - Vega escapes what it draws


def _of_its_own(drawn: str, name: str) -> str:
    """With names that no other picture of the page has, and without what the page says once."""
    own = re.sub(r'\bid="', f'id="{name}-', drawn).replace("url(#", f"url(#{name}-")
    own = own.replace(f' font-family="{FONT}"', "")
    return re.sub(r"<!DOCTYPE[^>]*>|<\?xml[^>]*>", "", own)
