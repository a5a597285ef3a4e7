"""Stacked bars: parts of a whole by level, old and new next to one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.report.charts.base import (
    WIDE,
    Chart,
    Fit,
    Plot,
    Spec,
    as_columns,
    configured,
    rows_data,
)

FIELDS = ("level", "side", "part", "rank", "value")
STEP = 17


@dataclass(frozen=True)
class Bar:
    """One part of the bar of a level and side."""

    level: str
    side: str
    part: str
    value: float


@dataclass(frozen=True)
class StackWords:
    """Titles and orders; ``levels`` are the labels left of each pair of bars."""

    x: str
    part: str
    side: str
    levels: tuple[str, ...]
    sides: tuple[str, ...]
    parts: tuple[str, ...]
    colours: tuple[str, ...]
    maximum: float | None = None


def stacked(name: str, title: str, note: str, bars: Sequence[Bar], words: StackWords) -> Chart:
    """Horizontal bars, so that labels of any length can be read; from zero."""
    ranks = {part: at for at, part in enumerate(words.parts)}
    rows = [(bar.level, bar.side, bar.part, ranks[bar.part], bar.value) for bar in bars]
    return Chart(name, title, note, _spec(words), as_columns(FIELDS, rows), Fit(("spec",), 230))


def _spec(words: StackWords) -> Spec:
    scale = (
        alt.Scale(domain=[0, words.maximum], nice=False) if words.maximum else alt.Scale(zero=True)
    )
    chart = (
        Plot()
        .mark_bar(stroke=None)
        .encode(
            x=alt.X(
                "value:Q", stack="zero", title=words.x, scale=scale, axis=alt.Axis(tickCount=6)
            ),
            y=alt.Y(
                "side:N",
                title=None,
                scale=alt.Scale(domain=list(words.sides), padding=0.12),
                axis=alt.Axis(ticks=False, domain=False),
            ),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=list(words.parts), range=list(words.colours)),
                legend=alt.Legend(columns=5, symbolType="square"),
            ),
            order=alt.Order("rank:Q"),
            tooltip=[
                alt.Tooltip("level:N", title=" "),
                alt.Tooltip("side:N", title=words.side),
                alt.Tooltip("part:N", title=words.part),
                alt.Tooltip("value:Q", title=words.x, format=",.3~g"),
            ],
        )
        .properties(width=WIDE - 60, height=alt.Step(STEP))
    )
    return configured(
        chart.facet(
            data=rows_data(),
            spacing=10,
            row=alt.Row(
                "level:N",
                title=None,
                sort=list(words.levels),
                header=alt.Header(
                    labelAngle=0,
                    labelAlign="left",
                    labelOrient="left",
                    labelPadding=14,
                    labelFontWeight="normal",
                ),
            ),
        )
    )
