"""A line of campaigns: each point with its interval, means of the segments, changes marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

import altair as alt

from teiten.report.charts.base import (
    MOST_OF_AN_INTERVAL,
    NEW,
    SIDE_COLOURS,
    WIDE,
    Chart,
    Fit,
    Plot,
    as_columns,
    configured,
    rows_data,
)

FIELDS = (
    *("label", "value", "low", "high", "below", "above"),
    *("mean", "change", "campaign", "version", "about"),
)
USUAL = 2.0
"""An interval is drawn whole up to so many times the median one, or as far as the points go."""
HEIGHT = 260
"""Pixels."""
MARGIN = 0.06
"""Share of the drawn range that is left free at either end of the axis."""


class Ranged(Protocol):
    """A value, with the ends of its interval where it has one."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True)
class LinePoint:
    """A point of the chart, in the unit of the axis."""

    label: str
    value: float
    low: float | None
    high: float | None
    mean: float
    """The mean of the point's segment."""
    change: str
    """Label of the change that is marked before this point; empty for none."""
    campaign: str
    version: str
    about: str
    """The value with its interval, in words."""


@dataclass(frozen=True)
class LineWords:
    title: str
    cut: str
    """The note of a chart in which an interval goes on beyond the axis."""
    x: str
    y: str
    campaign: str
    version: str


def reach(points: Sequence[Ranged]) -> tuple[float, float]:
    """The ends of the axis: all points and useful intervals, with a margin. An interval of two
    blocks may be so long that it would press all points into one line; it is no part of this."""
    values = [point.value for point in points]
    useful = [*values]
    halves = [_half(point) for point in points if point.high is not None]
    if halves:
        apart = math.log(max(values) / min(values))
        most = min(max(USUAL * median(halves), apart), math.log(MOST_OF_AN_INTERVAL))
        for one in points:
            if one.low is not None and one.high is not None and _half(one) <= most:
                useful += [one.low, one.high]
    low, high = min(useful), max(useful)
    margin = MARGIN * ((high - low) or high)
    return low - margin, high + margin


def _half(one: Ranged) -> float:
    """Compute the upper half-width of the point's interval, on the logarithm."""
    return math.inf if one.high is None else math.log(one.high / one.value)


def history_line(name: str, points: Sequence[LinePoint], words: LineWords) -> Chart:
    """Points in their order, evenly spaced; a zero-based axis would hide what is looked for."""
    low, high = reach(points)
    rows = [
        (
            point.label,
            point.value,
            None if point.low is None else max(point.low, low),
            None if point.high is None else min(point.high, high),
            point.low is not None and point.low < low,
            point.high is not None and point.high > high,
            point.mean,
            point.change or None,
            point.campaign,
            point.version,
            point.about,
        )
        for point in points
    ]
    labels = [point.label for point in points]
    x = alt.X(
        "label:O",
        scale=alt.Scale(domain=labels, type="point", padding=0.6),
        title=words.x,
        axis=alt.Axis(labelAngle=-40, labelOverlap=True, labelLimit=180, grid=False),
    )
    scale = alt.Scale(domain=[low, high], zero=False, nice=False)
    tooltip = [
        alt.Tooltip("campaign:N", title=words.campaign),
        alt.Tooltip("version:N", title=words.version),
        alt.Tooltip("about:N", title=words.y),
    ]
    base = Plot().encode(x=x)
    means = base.mark_line(interpolate="step", opacity=0.55, strokeWidth=2).encode(
        y=alt.Y("mean:Q", scale=scale, title=words.y, axis=alt.Axis(tickCount=5, format=",~f")),
        color=alt.ColorValue(SIDE_COLOURS[0]),
    )
    interval = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"), color=alt.ColorValue(SIDE_COLOURS[0])
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        y=alt.Y("value:Q", scale=scale),
        color=alt.ColorValue(
            SIDE_COLOURS[0], condition={"test": "isValid(datum.change)", "value": NEW}
        ),
        tooltip=tooltip,
    )
    changes = base.transform_filter("isValid(datum.change)")
    marks = changes.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, xOffset=-14).encode(
        color=alt.ColorValue(NEW)
    )
    text = changes.mark_text(align="left", dx=-10, dy=-8, baseline="bottom", fontSize=12).encode(
        y=alt.value(0), text=alt.Text("change:N")
    )
    cut = [
        base.transform_filter(f"datum.{field}")
        .mark_point(filled=True, shape=shape, size=70, opacity=1)
        .encode(y=alt.value(at), color=alt.ColorValue(SIDE_COLOURS[0]), tooltip=tooltip)
        for field, shape, at in (
            ("above", "triangle-up", 0),
            ("below", "triangle-down", HEIGHT),
        )
    ]
    layers = alt.layer(means, marks, interval, *cut, dots, text).properties(
        data=rows_data(), width=WIDE, height=HEIGHT
    )
    told = "; ".join(f"{one.label}: {one.about}" for one in points)
    return Chart(
        name,
        words.title,
        words.cut if any(row[4] or row[5] for row in rows) else "",
        configured(layers),
        as_columns(FIELDS, rows),
        Fit((), 110),
        alternative=told,
    )
