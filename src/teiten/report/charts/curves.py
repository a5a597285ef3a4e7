"""A number by load: a dot for every load's mean, the knee, and the curve where one fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import altair as alt

from teiten.report.charts.base import (
    HALF,
    WIDE,
    Chart,
    Fit,
    Plot,
    Spec,
    columns_of,
    configured,
    rows_data,
    side_scale,
)
from teiten.report.charts.levels import logarithmic_ticks


class PointKind(StrEnum):
    MEAN = "mean"
    CURVE = "curve"
    KNEE = "knee"


@dataclass(frozen=True)
class CurvePoint:
    """A mean that was measured, a point of a fitted curve, or the knee with its interval."""

    kind: PointKind
    side: str
    load: float
    value: float
    low: float | None = None
    """Lower end of the interval of the knee's load; ``high`` is the upper one."""
    high: float | None = None


@dataclass(frozen=True)
class CurveWords:
    title: str
    note: str
    x: str
    y: str
    side: str
    sides: Mapping[str, str]
    """The colour of each, in their order."""
    logarithmic: bool = False
    """Both axes are, with the loads as ticks; the chart is then half as wide."""


def curves(name: str, points: Sequence[CurvePoint], words: CurveWords) -> Chart:
    """Axes that are not logarithmic begin at 0; the curves' points end where the measured loads
    do."""
    data = columns_of(CurvePoint, points)
    spec, wide = _spec(words, points), not words.logarithmic
    return Chart(name, words.title, words.note, spec, data, Fit((), 90), wide=wide)


def _spec(words: CurveWords, points: Sequence[CurvePoint]) -> Spec:
    """Only layers that have points: Vega complains of one without."""
    kinds = {point.kind for point in points}
    base = Plot(rows_data()).encode(
        x=alt.X("load:Q", title=words.x, **_x(words, points)),
        y=alt.Y("value:Q", title=words.y, **_y(words, points)),
        color=alt.Color(
            "side:N",
            title=None,
            scale=side_scale(words.sides),
            legend=alt.Undefined if any(words.sides) else None,
        ),
    )
    line = _of(base, PointKind.CURVE).mark_line(strokeWidth=2, opacity=0.9)
    knees = _of(base, PointKind.KNEE)
    interval = knees.mark_rule(strokeWidth=7, opacity=0.3, strokeCap="round").encode(
        x=alt.X("low:Q", title=words.x), x2=alt.X2("high:Q")
    )
    knee = knees.mark_point(shape="diamond", size=260, filled=False, strokeWidth=2)
    dots = (
        _of(base, PointKind.MEAN)
        .mark_circle(size=60, opacity=0.9)
        .encode(
            tooltip=[
                alt.Tooltip("side:N", title=words.side),
                alt.Tooltip("load:Q", title=words.x),
                alt.Tooltip("value:Q", title=words.y, format=",.4~g"),
            ]
        )
    )
    layers = [
        *([line] if PointKind.CURVE in kinds else []),
        *([interval] if any(point.low is not None for point in points) else []),
        *([knee] if PointKind.KNEE in kinds else []),
        dots,
    ]
    width = HALF if words.logarithmic else WIDE - 90
    chart = alt.layer(*layers).properties(width=width, height=260)
    return configured(chart)


def _x(words: CurveWords, points: Sequence[CurvePoint]) -> dict[str, Any]:
    if not words.logarithmic:
        return {"scale": alt.Scale(zero=True), "axis": alt.Axis(grid=False, tickMinStep=1)}
    loads = sorted({point.load for point in points if point.kind is PointKind.MEAN})
    axis = alt.Axis(values=loads, grid=False, format=",~f", labelOverlap=True)
    return {"scale": alt.Scale(type="log", nice=False, padding=12), "axis": axis}


def _y(words: CurveWords, points: Sequence[CurvePoint]) -> dict[str, Any]:
    if not words.logarithmic:
        return {"scale": alt.Scale(zero=True), "axis": alt.Axis(tickCount=5, format=",~f")}
    ticks = list(logarithmic_ticks([point.value for point in points]))
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    return {"scale": scale, "axis": alt.Axis(values=ticks, format=",~f")}


def _of(base: Plot, kind: PointKind) -> Plot:
    return base.transform_filter(alt.datum.kind == kind.value)
