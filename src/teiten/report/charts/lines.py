"""Lines by a quantity, one for each side, with their intervals: working sets, clients, sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from teiten.model.text import joined_sentences
from teiten.report.charts.base import (
    WIDE,
    Chart,
    Fit,
    Plot,
    columns_of,
    configured,
    rows_data,
    side_scale,
    with_ends_cut,
)


@dataclass(frozen=True)
class CurvePointOfSide:
    side: str
    x: float
    value: float
    low: float | None
    high: float | None
    text: str
    """The value with its interval in figures."""
    cut: bool = False
    """Whether the interval ends above what is drawn."""


@dataclass(frozen=True)
class CurveLabels:
    title: str
    note: str
    x: str
    y: str
    side: str
    sides: Mapping[str, str]
    """The colour of each, in their order."""
    cut: str = ""
    """The words for a triangle, where an interval ends beyond the chart."""


@dataclass(frozen=True)
class AxisMark:
    """A place on the axis that has a name, such as the size of the memory."""

    x: float
    name: str


def line_chart(
    name: str,
    points: Sequence[CurvePointOfSide],
    words: CurveLabels,
    *,
    marks: Sequence[AxisMark] = (),
    ticks: Sequence[float] = (),
    wide: bool = True,
) -> Chart:
    """From zero on. ``ticks``: where the horizontal axis has labels; empty leaves it to Vega.
    Intervals that end far above every value are cut."""
    lines = "; ".join(f"{one.side}, {one.x:g}: {one.text}" for one in points)
    drawn = with_ends_cut(points)
    cut = any(point.cut for point in drawn)
    return Chart(
        name,
        words.title,
        joined_sentences((words.note, words.cut if cut else "")),
        configured(_layers(points, words, marks, ticks, WIDE - 60 if wide else 340)),
        columns_of(CurvePointOfSide, drawn),
        Fit((), 110),
        wide=wide,
        alternative=lines,
    )


def _layers(
    points: Sequence[CurvePointOfSide],
    words: CurveLabels,
    marks: Sequence[AxisMark],
    ticks: Sequence[float],
    width: int,
) -> Any:
    top = alt.Scale(zero=True)
    places = alt.Axis(values=list(ticks)) if ticks else alt.Axis(tickCount=8)
    x = alt.X(
        "x:Q",
        title=words.x,
        scale=alt.Scale(zero=True, nice=False, padding=12),
        axis=alt.Axis(grid=False, format=",~f", **places.to_dict()),
    )
    y = alt.Y("value:Q", title=words.y, scale=top, axis=alt.Axis(tickCount=5, format=",~f"))
    base = Plot(rows_data()).encode(
        x=x,
        color=alt.Color(
            "side:N",
            title=None,
            scale=side_scale(words.sides),
        ),
    )
    layers = [_named(mark, at) for at, mark in enumerate(marks)]
    if any(point.low is not None for point in points):
        band = base.mark_area(opacity=0.16).encode(
            y=alt.Y("low:Q", title=words.y, scale=top), y2=alt.Y2("high:Q")
        )
        ends = base.mark_point(shape="triangle-up", filled=True, size=40, opacity=0.8)
        cut = ends.encode(y=alt.Y("high:Q", scale=top)).transform_filter("datum.cut")
        layers += [band, cut]
    layers.append(base.mark_line(strokeWidth=2.2).encode(y=y))
    dots = base.mark_circle(size=46, opacity=1).encode(
        y=y,
        tooltip=[
            alt.Tooltip("side:N", title=words.side),
            alt.Tooltip("x:Q", title=words.x, format=",~f"),
            alt.Tooltip("text:N", title=words.y),
        ],
    )
    layers.append(dots)
    return alt.layer(*layers).properties(width=width, height=260)


def _named(mark: AxisMark, at: int) -> Any:
    """A line upwards with its name above the plot, each higher than the one before."""
    data = alt.InlineData([{"x": mark.x, "name": mark.name}])
    rule = Plot(data).mark_rule(strokeDash=[4, 4], opacity=0.45).encode(x=alt.X("x:Q"))
    text = (
        Plot(data)
        .mark_text(align="center", fontSize=11, opacity=0.75, baseline="bottom")
        .encode(x=alt.X("x:Q"), y=alt.value(-4 - 14 * at), text=alt.Text("name:N"))
    )
    return alt.layer(rule, text)
