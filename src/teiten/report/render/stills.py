"""Charts as pictures inside a page: what stands there until, or unless, its scripts draw them."""

from __future__ import annotations

import base64
import re
from dataclasses import replace

from markupsafe import Markup

from teiten.report.blocks import Page, rebuilt
from teiten.report.charts.base import FONT, Chart
from teiten.report.charts.drawing import png_of, svg_of

MOST_MARKS = 1000
"""Rows above which a picture of points is smaller than one of shapes."""
SCALE = 1.5
"""Pixels of the one for a pixel of the other."""


def with_stills(page: Page) -> Page:
    """The page with a picture in each of its charts. Takes a twentieth of a second a chart."""
    return replace(page, sections=rebuilt(page.sections, _drawn))


def _drawn(block: object) -> object:
    return replace(block, still=still(block)) if isinstance(block, Chart) else block


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
