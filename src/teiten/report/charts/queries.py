"""Times of queries as bars with intervals, one group of bars for each query.

Bars begin at zero. Where the times differ too much for that, the axis is logarithmic, and dots take
the place of bars, whose length would mean nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from teiten.report.charts.base import (
    MOST_OF_AN_INTERVAL,
    WIDE,
    Chart,
    Fit,
    Plot,
    Spec,
    as_columns,
    configured,
    rows_data,
    side_scale,
)
from teiten.report.charts.levels import logarithmic_ticks

FARTHEST = 20.0
"""The greatest time by the smallest, up to which the axis is linear."""
STEP = 13
GAP = 9
FIELDS = ("kind", "panel", "query", "side", "value", "low", "high", "text", "cut")


@dataclass(frozen=True)
class QueryBar:
    """The time of a query on one side, in the shown unit."""

    panel: str
    query: str
    side: str
    value: float
    low: float | None
    high: float | None
    text: str
    """The time in figures."""
    over: bool = False
    """The value is a limit that was exceeded."""


@dataclass(frozen=True)
class QueryAxes:
    x: str
    queries: tuple[str, ...]
    sides: Mapping[str, str]
    """The colour of each, in their order."""
    panels: tuple[str, ...]
    side: str
    query: str


def query_bars(
    name: str, title: str, note: str, bars: Sequence[QueryBar], axes: QueryAxes
) -> Chart:
    """Horizontal, so that names of any length can be read."""
    values = [bar.value for bar in bars if bar.value > 0]
    logarithmic = is_logarithmic(values)
    reach = MOST_OF_AN_INTERVAL * max(values, default=1.0)
    rows = [
        (
            "over" if bar.over else "time",
            bar.panel,
            bar.query,
            bar.side,
            bar.value,
            bar.low,
            bar.high if logarithmic or bar.high is None else min(bar.high, reach),
            bar.text,
            not logarithmic and bar.high is not None and bar.high > reach,
        )
        for bar in bars
    ]
    several = len(axes.panels) > 1
    width = (WIDE - 60) // len(axes.panels) if several else WIDE - 60
    layers = _layers(axes, max(180, width), values if logarithmic else [])
    spec: Spec
    if several:
        faceted = layers.facet(
            data=rows_data(),
            columns=min(3, len(axes.panels)),
            facet=alt.Facet("panel:N", title=None, sort=list(axes.panels)),
        )
        spec = configured(faceted)
    else:
        spec = configured(layers.properties(data=rows_data()))
    fit = Fit(("columns",), 280) if several else Fit((), 180)
    lines = "; ".join(f"{bar.query}, {bar.side}: {bar.text}" for bar in bars)
    return Chart(name, title, note, spec, as_columns(FIELDS, rows), fit, alternative=lines)


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether bars of these times would be dots."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) / min(positive) > FARTHEST


def _layers(axes: QueryAxes, width: int, spread: Sequence[float]) -> Any:
    ticks = logarithmic_ticks(spread)
    scale = (
        alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False, clamp=True)
        if len(ticks) > 1
        else alt.Scale(zero=True)
    )
    axis = (
        alt.Axis(values=list(ticks), format=",~f", labelOverlap=True)
        if len(ticks) > 1
        else alt.Axis(tickCount=5, format=",~f")
    )
    x = alt.X("value:Q", title=axes.x, scale=scale, axis=axis)
    base = Plot().encode(
        y=alt.Y(
            "query:N",
            title=None,
            scale=alt.Scale(domain=list(axes.queries), paddingInner=0.25),
            axis=alt.Axis(ticks=False, domain=False, labelPadding=8, labelLimit=200),
        ),
        yOffset=alt.YOffset("side:N", scale=alt.Scale(domain=list(axes.sides))),
        color=alt.Color(
            "side:N",
            title=None,
            scale=side_scale(axes.sides),
        ),
        tooltip=[
            alt.Tooltip("query:N", title=axes.query),
            alt.Tooltip("side:N", title=axes.side),
            alt.Tooltip("text:N", title=axes.x),
        ],
    )
    timed = base.transform_filter(alt.datum.kind == "time")
    mark = (
        timed.mark_circle(size=70, opacity=1).encode(x=x)
        if spread
        else timed.mark_bar(opacity=0.85).encode(x=x)
    )
    interval = timed.mark_rule(strokeWidth=1.6, opacity=0.9).encode(
        x=alt.X("low:Q", title=axes.x, scale=scale, axis=axis),
        x2=alt.X2("high:Q"),
        **({} if spread else {"color": alt.ColorValue("currentColor")}),
    )
    beyond = (
        timed.transform_filter("datum.cut")
        .mark_text(text="›", align="left", dx=2, fontSize=14)
        .encode(x=alt.X("high:Q", scale=scale), color=alt.ColorValue("currentColor"))
    )
    over = (
        base.transform_filter(alt.datum.kind == "over")
        .mark_point(shape="triangle-right", size=80, filled=True, opacity=1)
        .encode(x=x)
    )
    over_text = (
        base.transform_filter(alt.datum.kind == "over")
        .mark_text(align="left", dx=9, fontSize=11)
        .encode(x=x, text=alt.Text("text:N"), color=alt.ColorValue("currentColor"))
    )
    height = len(axes.queries) * (len(axes.sides) * STEP + GAP)
    return alt.layer(mark, interval, beyond, over, over_text).properties(width=width, height=height)
