"""Published and measured curves over one another: a panel for each published table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.report.charts.base import (
    PANEL,
    Chart,
    Fit,
    Plot,
    coloured,
    columns_of,
    configured,
    rows_data,
    side_scale,
)
from teiten.report.charts.levels import logarithmic_ticks

WIDE_PANEL = 250


@dataclass(frozen=True)
class PublishedPoint:
    """``load``: clients per core; ``relative``: the value, with as many clients as cores = 1."""

    panel: str
    curve: str
    origin: str
    side: str
    load: float
    clients: float
    relative: float
    value: float


@dataclass(frozen=True)
class PublishedWords:
    title: str
    note: str
    x: str
    y: str
    clients: str
    value: str
    curve: str
    sides: tuple[str, ...]
    """Old and new, in words that suit every panel."""
    origins: tuple[str, str]
    """Published, measured."""


def published_curves(name: str, points: Sequence[PublishedPoint], words: PublishedWords) -> Chart:
    """Lines by clients per core; dashed where published, drawn through where measured."""
    panels = list(dict.fromkeys(point.panel for point in points))
    colour = alt.Color(
        "side:N",
        title=None,
        scale=side_scale(coloured(words.sides)),
    )
    ticks = logarithmic_ticks([point.load for point in points])
    x = alt.X(
        "load:Q",
        title=words.x,
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(values=list(ticks), format="~g", grid=False),
    )
    y = alt.Y("relative:Q", title=words.y, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    dash = alt.StrokeDash(
        "origin:N",
        title=None,
        scale=alt.Scale(domain=list(words.origins), range=[[5, 3], [1, 0]]),
        legend=alt.Legend(symbolType="stroke"),
    )
    base = Plot().encode(
        x=x, y=y, color=colour, detail=[alt.Detail("curve:N"), alt.Detail("origin:N")]
    )
    line = base.mark_line(strokeWidth=2, opacity=0.9).encode(strokeDash=dash)
    dot = base.mark_circle(size=34, opacity=0.9).encode(
        tooltip=[
            alt.Tooltip("origin:N", title=" "),
            alt.Tooltip("curve:N", title=words.curve),
            alt.Tooltip("clients:Q", title=words.clients),
            alt.Tooltip("value:Q", title=words.value, format=",.4~g"),
            alt.Tooltip("relative:Q", title=words.y, format=".3f"),
        ]
    )
    width = WIDE_PANEL if len(panels) < 4 else PANEL
    chart = (
        alt.layer(line, dot)
        .properties(width=width, height=200)
        .facet(
            data=rows_data(),
            columns=3,
            facet=alt.Facet("panel:N", title=None, sort=panels),
        )
    )
    fit = Fit(("columns",), WIDE_PANEL + 30)
    return Chart(
        name, words.title, words.note, configured(chart), columns_of(PublishedPoint, points), fit
    )
