"""The speed-up of queries over the levels of a numeric factor, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.model.text import joined_sentences
from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    NEW,
    WIDE,
    Chart,
    Fit,
    Plot,
    columns_of,
    configured,
    rows_data,
    with_ends_cut,
)


@dataclass(frozen=True)
class SweepPoint:
    query: str
    level: float
    value: float
    """Time at the first level by the time here."""
    low: float | None
    high: float | None
    text: str
    workers: str
    """Launched; a dash where unknown."""
    cut: bool = False
    """Whether the interval ends above what is drawn."""


@dataclass(frozen=True)
class SweepWords:
    title: str
    note: str
    x: str
    y: str
    query: str
    workers: str
    cut: str
    """The words for a triangle, where an interval ends beyond the chart."""


def sweep_chart(name: str, points: Sequence[SweepPoint], words: SweepWords) -> Chart:
    """Lines from zero on, with the line at 1."""
    queries = list(dict.fromkeys(point.query for point in points))
    colours = (
        [NEW] if len(queries) == 1 else [CATEGORY_COLOURS[at % 10] for at in range(len(queries))]
    )
    levels = sorted({point.level for point in points})
    base = Plot(rows_data()).encode(
        x=alt.X(
            "level:Q",
            title=words.x,
            scale=alt.Scale(nice=False, padding=12),
            axis=alt.Axis(values=levels, format="~g", grid=False, labelOverlap=True),
        ),
        color=alt.Color(
            "query:N",
            title=None,
            scale=alt.Scale(domain=queries, range=colours),
            legend=None if len(queries) == 1 else alt.Legend(),
        ),
    )
    one = (
        Plot(alt.InlineData([{"one": 1}]))
        .mark_rule(strokeWidth=1.5, opacity=0.5)
        .encode(y=alt.Y("one:Q"))
    )
    y = alt.Y("value:Q", title=words.y, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    line = base.mark_line(strokeWidth=2.2).encode(y=y)
    interval = base.mark_rule(strokeWidth=2, opacity=0.8).encode(
        y=alt.Y("low:Q", title=words.y), y2=alt.Y2("high:Q")
    )
    dot = base.mark_circle(size=70, opacity=1).encode(
        y=y,
        tooltip=[
            alt.Tooltip("query:N", title=words.query),
            alt.Tooltip("level:Q", title=words.x),
            alt.Tooltip("text:N", title=words.y),
            alt.Tooltip("workers:N", title=words.workers),
        ],
    )
    ends = base.mark_point(shape="triangle-up", filled=True, size=40, opacity=0.8)
    beyond = ends.encode(y=alt.Y("high:Q", title=words.y)).transform_filter("datum.cut")
    chart = alt.layer(one, interval, beyond, line, dot).properties(width=WIDE - 60, height=260)
    drawn = with_ends_cut(points)
    cut = any(point.cut for point in drawn)
    lines = "; ".join(f"{each.query}, {each.level:g}: {each.text}" for each in points)
    return Chart(
        name,
        words.title,
        joined_sentences((words.note, words.cut if cut else "")),
        configured(chart),
        columns_of(SweepPoint, drawn),
        Fit((), 110),
        alternative=lines,
    )
