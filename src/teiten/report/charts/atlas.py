"""Small charts beside one another, one for each workload: its speed by version, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    PANEL,
    QUIET,
    Chart,
    Fit,
    Plot,
    columns_of,
    configured,
    rows_data,
)
from teiten.report.charts.history import reach

COLOURS = (*(CATEGORY_COLOURS[at] for at in (0, 4, 2, 5, 3)), QUIET)
"""Colours of the verdicts: faster, slower, equivalent, small, mixed, inconclusive."""


@dataclass(frozen=True)
class AtlasDot:
    """A workload on one version."""

    panel: str
    version: str
    value: float
    """The speed by that on the first version."""
    low: float | None
    """None of the first version, which is no measurement but the measure."""
    high: float | None
    verdict: str
    about: str
    """The ratio with its interval in figures."""
    below: bool = False
    """The interval goes on below what is drawn."""
    above: bool = False


@dataclass(frozen=True)
class AtlasWords:
    title: str
    note: str
    cut: str
    """The note on triangles, where an interval goes on beyond the chart."""
    x: str
    y: str
    workload: str
    verdict: str
    verdicts: tuple[str, ...]
    """In the order of ``COLOURS``."""
    versions: tuple[str, ...]
    """The first one, to which the others are relative, and those in their order."""


def atlas_chart(name: str, dots: Sequence[AtlasDot], words: AtlasWords) -> Chart:
    """A panel for each workload, each with an axis of its own."""
    panels = list(dict.fromkeys(dot.panel for dot in dots))
    drawn = [
        shown for panel in panels for shown in _cut([dot for dot in dots if dot.panel == panel])
    ]
    cut = any(dot.below or dot.above for dot in drawn)
    return Chart(
        name,
        words.title,
        " ".join(filter(None, (words.note, words.cut if cut else ""))),
        configured(_faceted(panels, words)),
        columns_of(AtlasDot, drawn),
        Fit(("columns",), PANEL + 60),
        alternative="; ".join(f"{dot.panel}, {dot.version}: {dot.about}" for dot in dots),
    )


def _cut(dots: Sequence[AtlasDot]) -> list[AtlasDot]:
    """The dots of a panel with intervals that go no farther than it is useful to draw."""
    low, high = reach(dots)
    return [
        replace(
            dot,
            low=None if dot.low is None else max(dot.low, low),
            high=None if dot.high is None else min(dot.high, high),
            below=dot.low is not None and dot.low < low,
            above=dot.high is not None and dot.high > high,
        )
        for dot in dots
    ]


def _faceted(panels: list[str], words: AtlasWords) -> Any:
    scale = alt.Scale(zero=False, nice=False, padding=8)
    axis = alt.Axis(tickCount=4, format=".2~f")
    colour = alt.Color(
        "verdict:N",
        title=None,
        scale=alt.Scale(domain=list(words.verdicts), range=list(COLOURS)),
    )
    base = Plot().encode(
        x=alt.X(
            "version:O",
            title=words.x,
            scale=alt.Scale(domain=list(words.versions), type="point", padding=0.4),
            axis=alt.Axis(labelAngle=0, grid=False, labelOverlap=True),
        )
    )
    relative = "isValid(datum.low)"
    level = (
        base.transform_filter(f"!{relative}")
        .mark_rule(strokeDash=[5, 4], opacity=0.5)
        .encode(
            x=alt.value(0),
            x2=alt.value("width"),
            y=alt.Y("value:Q", scale=scale, title=words.y, axis=axis),
        )
    )
    line = base.mark_line(strokeWidth=1.5, opacity=0.6).encode(
        y=alt.Y("value:Q", scale=scale), color=alt.ColorValue("currentColor")
    )
    interval = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"), color=colour
    )
    dots = (
        base.transform_filter(relative)
        .mark_circle(size=46, opacity=1)
        .encode(
            y=alt.Y("value:Q", scale=scale),
            color=colour,
            tooltip=[
                alt.Tooltip("panel:N", title=words.workload),
                alt.Tooltip("version:N", title=words.x),
                alt.Tooltip("about:N", title=words.y),
                alt.Tooltip("verdict:N", title=words.verdict),
            ],
        )
    )
    ends = [
        base.transform_filter(f"datum.{side}")
        .mark_point(filled=True, shape=shape, size=40, opacity=1)
        .encode(y=alt.Y(f"{end}:Q", scale=scale), color=colour)
        for side, shape, end in (
            ("below", "triangle-down", "low"),
            ("above", "triangle-up", "high"),
        )
    ]
    return (
        alt.layer(level, line, interval, dots, *ends)
        .properties(width=PANEL, height=120)
        .facet(
            data=rows_data(),
            columns=3,
            facet=alt.Facet("panel:N", title=None, sort=panels),
        )
        .resolve_scale(y="independent")
    )
