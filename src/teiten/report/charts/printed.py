"""Ratios as they are printed against those that were measured, a point for each finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    HALF,
    Chart,
    Fit,
    Plot,
    as_columns,
    configured,
    rows_data,
)

FIELDS = ("finding", "outcome", "printed", "measured", "low", "high", "about")
HEIGHT = 400
"""Pixels."""
MARGIN = 1.15


@dataclass(frozen=True)
class PrintedPoint:
    finding: str
    outcome: str
    printed: float
    measured: float
    low: float
    high: float
    about: str


@dataclass(frozen=True)
class PrintedWords:
    title: str
    note: str
    x: str
    y: str
    finding: str
    outcomes: tuple[str, ...]
    """In the order of their colours."""


def printed_against_measured(
    name: str, points: Sequence[PrintedPoint], words: PrintedWords
) -> Chart:
    """Both axes are logarithmic and alike, so that what agrees lies on the diagonal."""
    rows = [tuple(getattr(point, field) for field in FIELDS) for point in points]
    values = [value for point in points for value in (point.printed, point.measured, 1.0)]
    ends = [min(values) / MARGIN, max(values) * MARGIN]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    axis = alt.Axis(tickCount=6, format="~g")
    colour = alt.Color(
        "outcome:N",
        title=None,
        scale=alt.Scale(
            domain=list(words.outcomes), range=list(CATEGORY_COLOURS[: len(words.outcomes)])
        ),
    )
    base = Plot().encode(x=alt.X("printed:Q", scale=scale, title=words.x, axis=axis))
    diagonal = (
        Plot(alt.InlineData(values=[{"end": end} for end in ends]))
        .mark_line(strokeDash=[5, 4], opacity=0.5)
        .encode(
            x=alt.X("end:Q", scale=scale),
            y=alt.Y("end:Q", scale=scale),
            color=alt.ColorValue("currentColor"),
        )
    )
    intervals = base.mark_rule(strokeWidth=1.5, opacity=0.7, clip=True).encode(
        y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"), color=colour
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=alt.Y("measured:Q", scale=scale, title=words.y, axis=axis),
        color=colour,
        tooltip=[alt.Tooltip("finding:N", title=words.finding), alt.Tooltip("about:N", title="")],
    )
    layers = alt.layer(diagonal, intervals, dots).properties(
        data=rows_data(), width=HALF, height=HEIGHT
    )
    return Chart(
        name,
        words.title,
        words.note,
        configured(layers),
        as_columns(FIELDS, rows),
        Fit((), 110),
        alternative="; ".join(point.about for point in points),
    )
