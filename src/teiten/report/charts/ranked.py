"""Levels ranked by a metric: a bar for each median, its trials as dots, the highest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import altair as alt

from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    WIDE,
    Chart,
    Fit,
    Plot,
    as_columns,
    configured,
    rows_data,
)

FIELDS = ("kind", "level", "text", "value", "block", "trial")
ROW = 30


@dataclass(frozen=True)
class RankedDot:
    """A trial of a level."""

    level: str
    value: float
    block: int
    trial: int


@dataclass(frozen=True)
class RankedWords:
    title: str
    note: str
    x: str
    level: str
    block: str
    trial: str


def ranked(name: str, dots: Sequence[RankedDot], told: dict[str, str], words: RankedWords) -> Chart:
    """``told``: what stands at the end of a level's bar."""
    levels = {dot.level for dot in dots}
    middle = {level: median(dot.value for dot in dots if dot.level == level) for level in levels}
    order = sorted(levels, key=lambda level: -middle[level])
    rows: list[tuple[str, str, str | None, float, int | None, int | None]] = [
        ("median", level, told.get(level, ""), middle[level], None, None) for level in order
    ]
    rows += [("trial", dot.level, None, dot.value, dot.block, dot.trial) for dot in dots]
    greatest = max((dot.value for dot in dots), default=1.0)
    y = alt.Y("level:N", sort=order, title=None, axis=alt.Axis(labelLimit=260))
    x = alt.X(
        "value:Q",
        title=words.x,
        scale=alt.Scale(domain=[0, greatest * 1.2], nice=False),
        axis=alt.Axis(tickCount=6, format=",~f"),
    )
    shown = [alt.Tooltip("level:N", title=words.level), alt.Tooltip("value:Q", title=words.x)]
    medians = Plot().transform_filter(alt.datum.kind == "median")
    bar = medians.mark_bar(color=CATEGORY_COLOURS[0], opacity=0.55, cornerRadius=2).encode(
        x=x, y=y, tooltip=shown
    )
    text = medians.mark_text(align="left", dx=10, color="currentColor", fontSize=12).encode(
        x=x, y=y, text=alt.Text("text:N")
    )
    trials = (
        Plot()
        .transform_filter(alt.datum.kind == "trial")
        .mark_circle(size=30, opacity=0.85, color=CATEGORY_COLOURS[1])
        .encode(
            x=x,
            y=y,
            tooltip=[
                *shown,
                alt.Tooltip("block:Q", title=words.block),
                alt.Tooltip("trial:Q", title=words.trial),
            ],
        )
    )
    spec = configured(
        alt.layer(bar, trials, text).properties(
            data=rows_data(), width=WIDE - 160, height=ROW * len(order)
        )
    )
    alternative = "; ".join(f"{level}: {told.get(level, '')}" for level in order)
    return Chart(
        name, words.title, words.note, spec, as_columns(FIELDS, rows), Fit((), 300),
        alternative=alternative,
    )  # fmt: skip
