"""A metric by level: every trial a dot, the medians joined by a line, the range as a band.

A report has this chart once for each metric, so it is written as Vega-Lite itself: Altair's
objects, which are copied whole at each call, took half of the time that a report needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median
from typing import Any

from teiten.report.charts.base import (
    HALF,
    PANEL,
    Chart,
    Fit,
    Spec,
    as_columns,
    looking_as_all,
    named_rows,
)

WIDE_PANEL = 250
FAR = 5
"""Panels whose greatest values differ by more times than this have an axis each."""
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
    sides: Mapping[str, str]
    """The colour of each, in their order."""
    panels: tuple[str, ...] = ("",)
    side: str = ""
    block: str = ""
    trial: str = ""
    median: str = ""
    logarithmic: bool = False
    maximum: float | None = None
    format: str = ",~f"
    lone: tuple[str, ...] = ()
    """Levels that no line joins to the others, as they are no numbers on the same axis."""
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
    sides = list(axes.sides)
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
            sides.index(side),
        )
        for (panel, level, side), values in groups.items()
    ]
    data = as_columns(FIELDS, [*rows, *medians])
    several = len(axes.panels) > 1
    spec = (
        _faceted(axes, apart=_far_apart(dots))
        if several
        else {"layer": _layers(axes), "data": named_rows(), "height": 260, "width": HALF}
    )
    fit = Fit(("columns",), WIDE_PANEL + 30) if several else Fit((), 90)
    return Chart(name, title, note, looking_as_all(spec), data, fit, wide=several)


def _far_apart(dots: Sequence[Dot]) -> bool:
    """Whether panels of one axis would leave some of them flat on the ground."""
    most: dict[str, float] = {}
    for dot in dots:
        most[dot.panel] = max(dot.value, most.get(dot.panel, 0.0))
    return max(most.values()) > FAR * min(most.values())


def _faceted(axes: LevelAxes, *, apart: bool) -> Spec:
    """``apart``: each panel has an axis of its own."""
    columns = 3 if len(axes.panels) in (3, 5, 6) else 4
    own: Spec = {"resolve": {"scale": {"y": "independent"}}} if apart else {}
    return {
        **own,
        "data": named_rows(),
        "facet": _of("panel", "nominal", title=None, sort=list(axes.panels)),
        "spec": {
            "layer": _layers(axes),
            "height": 200,
            "width": WIDE_PANEL if columns == 3 else PANEL,
        },
        "columns": columns,
    }


def _of(field: str, kind: str, **more: Any) -> Spec:
    """Encode a column of the rows as a channel of the chart."""
    return {"field": field, "type": kind, **more}


def _only(kind: str) -> list[Spec]:
    return [{"filter": f"(datum.kind === '{kind}')"}]


def _without(levels: Sequence[str]) -> list[Spec]:
    return [{"filter": {"not": {"field": "level", "oneOf": list(levels)}}}] if levels else []


def _value_scale(axes: LevelAxes) -> Spec:
    if axes.logarithmic:
        ends = {"domain": [axes.ticks[0], axes.ticks[-1]]} if len(axes.ticks) > 1 else {}
        return {"type": "log", **ends, "nice": False}
    if axes.maximum is not None:
        return {"domain": [0, axes.maximum]}
    return {"zero": True}


def _layers(axes: LevelAxes) -> list[Spec]:
    sides = list(axes.sides)
    levels = {"domain": list(axes.levels), "paddingInner": 0.25}
    level_axis = {"labelAngle": 0, "grid": False, "labelOverlap": True}
    joined = {
        "x": _of("level", "ordinal", scale=levels, title=axes.x, axis=level_axis),
        "color": _of(
            "side",
            "nominal",
            title=None,
            scale={"domain": sides, "range": list(axes.sides.values())},
        ),
    }
    apart = {
        **joined,
        "xOffset": _of("side", "nominal", scale={"domain": sides, "paddingOuter": 1}),
    }
    scale = _value_scale(axes)
    value = _of("value", "quantitative", scale=scale)
    value_axis = {"values": list(axes.ticks)} if axes.ticks else {"tickCount": 5}
    low = _of(
        "low", "quantitative", scale=scale, title=axes.y, axis={**value_axis, "format": axes.format}
    )
    head = [_of("side", "nominal", title=axes.side), _of("level", "ordinal", title=axes.x)]
    return [
        {
            "mark": {"type": "bar", "opacity": 0.18, "cornerRadius": 2, "width": {"band": 0.9}},
            "encoding": {**apart, "y": low, "y2": {"field": "high"}},
            "transform": _only("median"),
        },
        {
            "mark": {"type": "line", "opacity": 0.9},
            "encoding": {**joined, "strokeWidth": _FIRST_IS_THICKER, "y": value},
            "transform": [*_only("median"), *_without(axes.lone)],
        },
        {
            "mark": {
                "type": "tick",
                "thickness": 2.5,
                "width": {"band": 0.9},
                "orient": "horizontal",
            },
            "encoding": {
                **apart,
                "y": value,
                "tooltip": [*head, _number("value", f"{axes.median}, {axes.y}")],
            },
            "transform": _only("median"),
        },
        {
            "mark": {"type": "circle", "size": 26, "opacity": 0.75},
            "encoding": {
                **apart,
                "y": value,
                "tooltip": [
                    *head,
                    _number("value", axes.y),
                    _of("block", "quantitative", title=axes.block),
                    _of("trial", "quantitative", title=axes.trial),
                ],
            },
            "transform": _only("trial"),
        },
    ]


def _number(field: str, title: str) -> Spec:
    return _of(field, "quantitative", title=title, format=",.4~g")


_FIRST_IS_THICKER: Spec = {
    "condition": {"test": "datum.rank === 0", "value": 3.2},
    "value": 1.7,
}
