"""A line of campaigns: each point with its interval, means of the segments, changes marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.report.charts.base import (
    NEW,
    SIDE_COLOURS,
    WIDE,
    Chart,
    Fit,
    as_columns,
    configured,
    rows_data,
)

FIELDS = ("label", "value", "low", "high", "mean", "change", "campaign", "version", "about")


@dataclass(frozen=True)
class LinePoint:
    """A point of the chart, in the unit of the axis."""

    label: str
    value: float
    low: float | None
    high: float | None
    mean: float
    """Of its segment."""
    change: str
    """What is marked before this point; empty for nothing."""
    campaign: str
    version: str
    about: str
    """The value with its interval, in words."""


@dataclass(frozen=True)
class LineWords:
    title: str
    note: str
    x: str
    y: str
    campaign: str
    version: str


def history_line(name: str, points: Sequence[LinePoint], words: LineWords) -> Chart:
    """Points in their order, evenly spaced; a zero-based axis would hide what is looked for."""
    rows = [
        (
            one.label,
            one.value,
            one.low,
            one.high,
            one.mean,
            one.change or None,
            one.campaign,
            one.version,
            one.about,
        )
        for one in points
    ]
    labels = [one.label for one in points]
    x = alt.X(
        "label:O",
        scale=alt.Scale(domain=labels, type="point", padding=0.6),
        title=words.x,
        axis=alt.Axis(labelAngle=-40, labelOverlap=True, labelLimit=180, grid=False),
    )
    scale = alt.Scale(zero=False, nice=True)
    tooltip = [
        alt.Tooltip("campaign:N", title=words.campaign),
        alt.Tooltip("version:N", title=words.version),
        alt.Tooltip("about:N", title=words.y),
    ]
    base = alt.Chart().encode(x=x)
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
    text = changes.mark_text(align="left", dx=-10, dy=0, baseline="top", fontSize=12).encode(
        y=alt.value(0), text=alt.Text("change:N")
    )
    layers = alt.layer(means, marks, interval, dots, text).properties(
        data=rows_data(), width=WIDE, height=260
    )
    told = "; ".join(f"{one.label}: {one.about}" for one in points)
    return Chart(
        name,
        words.title,
        words.note,
        configured(layers),
        as_columns(FIELDS, rows),
        Fit((), 110),
        alternative=told,
    )
