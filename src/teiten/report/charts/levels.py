"""A metric by level: every trial a dot, the medians joined by a line, the range as a band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median
from typing import Any

import altair as alt

from teiten.report.charts.base import (
    HALF,
    PANEL,
    Chart,
    Fit,
    Spec,
    as_columns,
    configured,
    rows_data,
    side_colours,
)

WIDE_PANEL = 250
FIELDS = ("kind", "panel", "level", "side", "value", "low", "high", "block", "trial", "rank")


@dataclass(frozen=True)
class Dot:
    """A trial's number, where it belongs."""

    panel: str
    level: str
    side: str
    value: float
    block: int
    trial: int


@dataclass(frozen=True)
class LevelAxes:
    """Titles and orders of a chart by level."""

    x: str
    y: str
    levels: tuple[str, ...]
    sides: tuple[str, ...]
    panels: tuple[str, ...] = ("",)
    side: str = ""
    block: str = ""
    trial: str = ""
    median: str = ""
    logarithmic: bool = False
    maximum: float | None = None
    format: str = ",~f"
    ticks: tuple[float, ...] = ()
    """Where the value axis has its labels; empty leaves it to Vega."""


def logarithmic_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Decades over the positive values, with 2 and 5 between them where there are few."""
    positive = [value for value in values if value > 0]
    if not positive:
        return ()
    first, last = floor(log10(min(positive))), ceil(log10(max(positive)))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    low = max((tick for tick in ticks if tick <= min(positive)), default=ticks[0])
    high = min((tick for tick in ticks if tick >= max(positive)), default=ticks[-1])
    return tuple(tick for tick in ticks if low <= tick <= high)


def by_level(name: str, title: str, note: str, dots: Sequence[Dot], axes: LevelAxes) -> Chart:
    """Dots, medians and ranges of one metric; panels side by side where there are several."""
    rows = [
        ("trial", dot.panel, dot.level, dot.side, dot.value, None, None, dot.block, dot.trial, None)
        for dot in dots
    ]
    groups: dict[tuple[str, str, str], list[float]] = {}
    for dot in dots:
        groups.setdefault((dot.panel, dot.level, dot.side), []).append(dot.value)
    medians = [
        (
            "median",
            panel,
            level,
            side,
            median(values),
            min(values),
            max(values),
            None,
            None,
            axes.sides.index(side),
        )
        for (panel, level, side), values in groups.items()
    ]
    data = as_columns(FIELDS, [*rows, *medians])
    several = len(axes.panels) > 1
    spec = (
        _faceted(axes)
        if several
        else configured(_layers(axes, HALF).properties(data=rows_data(), height=260))
    )
    fit = Fit(("columns",), WIDE_PANEL + 30) if several else Fit((), 90)
    return Chart(name, title, note, spec, data, fit, wide=several)


def _faceted(axes: LevelAxes) -> Spec:
    columns = 3 if len(axes.panels) in (3, 5, 6) else 4
    chart = (
        _layers(axes, WIDE_PANEL if columns == 3 else PANEL)
        .properties(height=200)
        .facet(
            data=rows_data(),
            columns=columns,
            facet=alt.Facet("panel:N", title=None, sort=list(axes.panels)),
        )
    )
    return configured(chart)


def _value_scale(axes: LevelAxes) -> alt.Scale:
    if axes.logarithmic:
        ends = [axes.ticks[0], axes.ticks[-1]] if len(axes.ticks) > 1 else alt.Undefined
        return alt.Scale(type="log", domain=ends, nice=False)
    if axes.maximum is not None:
        return alt.Scale(domain=[0, axes.maximum])
    return alt.Scale(zero=True)


def _layers(axes: LevelAxes, width: int) -> Any:
    scale = _value_scale(axes)
    y_axis = (
        alt.Axis(values=list(axes.ticks), format=axes.format)
        if axes.ticks
        else alt.Axis(tickCount=5, format=axes.format)
    )
    x = alt.X(
        "level:O",
        scale=alt.Scale(domain=list(axes.levels), paddingInner=0.25),
        title=axes.x,
        axis=alt.Axis(labelAngle=0, grid=False, labelOverlap=True),
    )
    offset = alt.XOffset("side:N", scale=alt.Scale(domain=list(axes.sides), paddingOuter=1))
    colour = alt.Color(
        "side:N",
        title=None,
        scale=alt.Scale(domain=list(axes.sides), range=side_colours(len(axes.sides))),
    )
    head = [alt.Tooltip("side:N", title=axes.side), alt.Tooltip("level:O", title=axes.x)]
    base = alt.Chart().encode(x=x, xOffset=offset, color=colour)
    thickness = alt.condition("datum.rank === 0", alt.value(3.2), alt.value(1.7))
    centred = (
        alt.Chart()
        .encode(x=x, color=colour, strokeWidth=thickness)
        .transform_filter(alt.datum.kind == "median")
    )
    medians = base.transform_filter(alt.datum.kind == "median")
    values = alt.Tooltip("value:Q", title=axes.y, format=",.4~g")
    band = medians.mark_bar(opacity=0.18, cornerRadius=2, width={"band": 0.9}).encode(
        y=alt.Y("low:Q", scale=scale, title=axes.y, axis=y_axis), y2="high:Q"
    )
    line = centred.mark_line(opacity=0.9).encode(y=alt.Y("value:Q", scale=scale))
    tick = medians.mark_tick(thickness=2.5, width={"band": 0.9}, orient="horizontal").encode(
        y=alt.Y("value:Q", scale=scale),
        tooltip=[*head, alt.Tooltip("value:Q", title=f"{axes.median}, {axes.y}", format=",.4~g")],
    )
    dots = (
        base.transform_filter(alt.datum.kind == "trial")
        .mark_circle(size=26, opacity=0.75)
        .encode(
            y=alt.Y("value:Q", scale=scale),
            tooltip=[
                *head,
                values,
                alt.Tooltip("block:Q", title=axes.block),
                alt.Tooltip("trial:Q", title=axes.trial),
            ],
        )
    )
    return alt.layer(band, line, tick, dots).properties(width=width)
