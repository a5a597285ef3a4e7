"""A metric by level: every trial a dot, the medians joined by a line, the range as a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from teiten.report.charts.base import (
    HALF,
    PANEL,
    WHOLE,
    WIDE_PANEL,
    Chart,
    Fit,
    Spec,
    as_columns,
    coloured_by,
    is_kind,
    labels_in_lines,
    mark,
    of,
    panels,
    plot,
    tips,
)
from teiten.report.texts import Texts

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
    logarithmic: bool = False
    maximum: float | None = None
    ticks: tuple[float, ...] = ()
    """Where the value axis has its labels; empty leaves it to Vega."""


def by_level(
    t: Texts, name: str, dots: Sequence[Dot], axes: LevelAxes, *, title: str, note: str
) -> Chart:
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
        ("median", *at, median(values), min(values), max(values), None, None, sides.index(at[-1]))
        for at, values in groups.items()
    ]
    data = as_columns(FIELDS, [*rows, *medians])
    count = len(axes.panels)
    columns = 3 if count in (3, 5, 6) else 4
    width = HALF if count == 1 else WIDE_PANEL if columns == 3 else PANEL
    layers = _layers(t, axes, width)
    if count > 1:
        order, apart = list(axes.panels), _far_apart(dots)
        spec = panels(layers, width, 200, columns=columns, order=order, apart=apart)
        fit = Fit(("columns",), WIDE_PANEL + 30)
    else:
        spec, fit = plot(layers, width, 260), Fit((), 90)
    return Chart(name, title, note, spec, data, fit, wide=count > 1)


def _far_apart(dots: Sequence[Dot]) -> bool:
    """Whether panels of one axis would leave some of them flat on the ground."""
    most: dict[str, float] = {}
    for dot in dots:
        most[dot.panel] = max(dot.value, most.get(dot.panel, 0.0))
    return max(most.values()) > FAR * min(most.values())


def _value_scale(axes: LevelAxes) -> Spec:
    if axes.logarithmic:
        ends = {"domain": [axes.ticks[0], axes.ticks[-1]]} if len(axes.ticks) > 1 else {}
        return {"type": "log", **ends, "nice": False}
    if axes.maximum is not None:
        return {"domain": [0, axes.maximum]}
    return {"zero": True}


def _layers(t: Texts, axes: LevelAxes, width: float) -> list[Spec]:
    x = of(
        "level:O",
        scale={"domain": list(axes.levels), "paddingInner": 0.25},
        title=axes.x,
        axis={
            "labelAngle": 0,
            "grid": False,
            "labelOverlap": True,
            **labels_in_lines(axes.levels, width / len(axes.levels) - 4),
        },
    )
    joined = {"x": x, **coloured_by("side:N", axes.sides)}
    apart = {
        **joined,
        "xOffset": of("side:N", scale={"domain": list(axes.sides), "paddingOuter": 1}),
    }
    scale = _value_scale(axes)
    value = {"y": of("value:Q", scale=scale)}
    axis = {"values": list(axes.ticks)} if axes.ticks else {"tickCount": 5}
    low = of("low:Q", scale=scale, title=axes.y, axis={**axis, "format": WHOLE})
    head = (("side:N", axes.side), ("level:O", axes.x))
    of_median = tips(*head, ("value:Q", f"{t('word.median')}, {axes.y}", NUMBER))
    of_trial = tips(
        *head,
        ("value:Q", axes.y, NUMBER),
        ("block:Q", t("table.block")),
        ("trial:Q", t("table.trial")),
    )
    medians, trials, band = is_kind("median"), is_kind("trial"), {"band": 0.9}
    line = mark(
        "line", {**joined, "strokeWidth": _FIRST_IS_THICKER, **value}, only=medians, opacity=0.9
    )
    words = [level for level in axes.levels if not level[:1].isdecimal()]
    if words:  # no line joins levels that are no numbers on the axis
        line["transform"].append({"filter": {"not": {"field": "level", "oneOf": words}}})
    span, middle = {**apart, "y": low, "y2": of("high")}, {**apart, **value, **of_median}
    tick = {"thickness": 2.5, "width": band, "orient": "horizontal"}
    return [
        mark("bar", span, only=medians, opacity=0.18, cornerRadius=2, width=band),
        line,
        mark("tick", middle, only=medians, **tick),
        mark("circle", {**apart, **value, **of_trial}, only=trials, size=26, opacity=0.75),
    ]


NUMBER = ",.4~g"
_FIRST_IS_THICKER: Spec = {"condition": {"test": "datum.rank === 0", "value": 3.2}, "value": 1.7}
