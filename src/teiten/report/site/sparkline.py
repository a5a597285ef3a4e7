"""A line of campaigns as a drawing of the size of a word, in the colours of the page."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from teiten.analysis.model.history import HistoryLine
from teiten.report.charts.history import reach

WIDTH, HEIGHT, EDGE = 176, 40, 5
"""Pixels; EDGE: what is free at either end of the line."""
DRAWING = Markup(
    '<svg class="spark" role="img" viewBox="0 0 {} {}" width="{}" height="{}" aria-label="{}">'
    "<title>{}</title>{}</svg>"
)
RULE = Markup('<path class="{}" d="M{:.1f} {:.1f}V{:.1f}"/>')
CURVE = Markup('<polyline points="{}"/>')
DOT = Markup('<circle{} cx="{:.1f}" cy="{:.1f}" r="{}"/>')
NEWEST = Markup(' class="newest"')


def sparkline(line: HistoryLine, words: str) -> Markup:
    """Points with their intervals, and the changes. ``words``: the same in words.

    The axis is that of the history's chart: it does not begin at zero.
    """
    shapes = Markup("").join(_shapes(line))
    return DRAWING.format(WIDTH, HEIGHT, WIDTH, HEIGHT, words, words, shapes)


def _shapes(line: HistoryLine) -> Iterator[Markup]:
    low, high = reach(line.points)
    step = (WIDTH - 2 * EDGE) / max(1, len(line.points) - 1)

    def across(place: float) -> float:
        return EDGE + place * step

    def down(value: float) -> float:
        """An end of an interval beyond the axis is at its end."""
        inside = min(high, max(low, value))
        return EDGE + (HEIGHT - 2 * EDGE) * (high - inside) / (high - low)

    for change in line.changes:
        yield RULE.format("change", across(change.first - 0.5), 0, HEIGHT)
    for place, point in enumerate(line.points):
        if point.low is not None and point.high is not None:
            yield RULE.format("interval", across(place), down(point.low), down(point.high))
    corners = [(across(place), down(point.value)) for place, point in enumerate(line.points)]
    yield CURVE.format(" ".join(f"{x:.1f},{y:.1f}" for x, y in corners))
    for x, y in corners[:-1]:
        yield DOT.format("", x, y, 1.5)
    yield DOT.format(NEWEST, *corners[-1], 3)
