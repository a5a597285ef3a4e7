"""Throughput by load: a dot for every load's mean, and the curve where one fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.report.charts.base import (
    WIDE,
    Chart,
    Fit,
    Spec,
    as_columns,
    configured,
    rows_data,
    side_colours,
)

FIELDS = ("kind", "side", "load", "value")


@dataclass(frozen=True)
class CurvePoint:
    """A mean that was measured, or a point of a fitted curve."""

    fitted: bool
    side: str
    load: float
    value: float


@dataclass(frozen=True)
class CurveWords:
    title: str
    note: str
    x: str
    y: str
    side: str
    sides: tuple[str, ...]


def curves(name: str, points: Sequence[CurvePoint], words: CurveWords) -> Chart:
    """Both axes begin at 0; the curves' points end where the measured loads do."""
    data = as_columns(
        FIELDS,
        [("curve" if one.fitted else "mean", one.side, one.load, one.value) for one in points],
    )
    return Chart(name, words.title, words.note, _spec(words), data, Fit((), 90))


def _spec(words: CurveWords) -> Spec:
    colours = alt.Scale(domain=list(words.sides), range=side_colours(len(words.sides)))
    base = alt.Chart(rows_data()).encode(
        x=alt.X("load:Q", title=words.x, scale=alt.Scale(zero=True), axis=alt.Axis(grid=False)),
        y=alt.Y(
            "value:Q",
            title=words.y,
            scale=alt.Scale(zero=True),
            axis=alt.Axis(tickCount=5, format=",~f"),
        ),
        color=alt.Color("side:N", title=None, scale=colours),
    )
    line = base.transform_filter(alt.datum.kind == "curve").mark_line(strokeWidth=2, opacity=0.9)
    dots = (
        base.transform_filter(alt.datum.kind == "mean")
        .mark_circle(size=60, opacity=0.9)
        .encode(
            tooltip=[
                alt.Tooltip("side:N", title=words.side),
                alt.Tooltip("load:Q", title=words.x),
                alt.Tooltip("value:Q", title=words.y, format=",.4~g"),
            ]
        )
    )
    return configured(alt.layer(line, dots).properties(width=WIDE - 90, height=260))
