"""Points with intervals: campaigns, workloads by version, ratios printed and measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from teiten.model.text import joined_sentences
from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    CURRENT,
    HALF,
    MOST_OF_AN_INTERVAL,
    NEW,
    OLD,
    PANEL,
    QUIET,
    WHOLE,
    WIDE,
    Chart,
    Cuttable,
    Fit,
    Spec,
    coloured_by,
    columns_of,
    cut,
    cut_end,
    inline,
    mark,
    of,
    panels,
    plot,
    tips,
)
from teiten.report.texts import Texts

USUAL = 2.0
"""An interval is drawn whole up to so many times the median one, or as far as the points go."""
HEIGHT = 260
"""Pixels."""
MARGIN = 0.06
"""Share of the drawn range that is left free at either end of the axis."""
DASHED = [5, 4]


class Ranged(Protocol):
    """A value, with the ends of its interval where it has one."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def reach(points: Sequence[Ranged]) -> tuple[float, float]:
    """The ends of the axis: all points and useful intervals, with a margin. An interval of two
    blocks may be so long that it would press all points into one line; it is no part of this."""
    values = [point.value for point in points]
    useful = [*values]
    halves = [_half(point) for point in points if point.high is not None]
    if halves:
        apart = math.log(max(values) / min(values))
        most = min(max(USUAL * median(halves), apart), math.log(MOST_OF_AN_INTERVAL))
        for point in points:
            if point.low is not None and point.high is not None and _half(point) <= most:
                useful += [point.low, point.high]
    low, high = min(useful), max(useful)
    margin = MARGIN * ((high - low) or high)
    return low - margin, high + margin


def _half(point: Ranged) -> float:
    """Compute the upper half-width of the point's interval, on the logarithm."""
    return math.inf if point.high is None else math.log(point.high / point.value)


@dataclass(frozen=True)
class LinePoint(Cuttable):
    """A point of the chart, in the unit of the axis."""

    label: str
    value: float
    low: float | None
    high: float | None
    mean: float
    """The mean of the point's segment."""
    change: str
    """Label of the change that is marked before this point; empty for none."""
    campaign: str
    version: str
    about: str
    """The value with its interval, in words."""


def history_line(t: Texts, name: str, points: Sequence[LinePoint], axis: str) -> Chart:
    """A line of campaigns in their order, evenly spaced: each point with its interval, means of the
    segments, changes marked. A zero-based axis would hide what is looked for. ``axis``: by what the
    campaigns are ordered."""
    low, high = reach(points)
    drawn, is_cut = cut(points, low, high)
    scale = {"domain": [low, high], "zero": False, "nice": False}
    x = of(
        "label:O",
        scale={"domain": [point.label for point in points], "type": "point", "padding": 0.6},
        title=t(f"history.axis-{axis}"),
        axis={"labelAngle": -40, "labelOverlap": True, "labelLimit": 180, "grid": False},
    )
    base = {"x": x, "color": {"value": OLD}}
    y = t("history.value")
    mean = of("mean:Q", scale=scale, title=y, axis={"tickCount": 5, "format": WHOLE})
    changed = "datum.change"
    colour = {"value": OLD, "condition": {"test": changed, "value": NEW}}
    hint = tips(
        ("campaign:N", t("comparison.campaign")),
        ("version:N", t("history.version")),
        ("about:N", y),
    )
    dot = {"x": x, "y": of("value:Q", scale=scale), "color": colour, **hint}
    span = {"y": of("low:Q", scale=scale), "y2": of("high")}
    label = {"x": x, "y": {"value": 0}, "text": of("change:N")}
    look = {"align": "left", "dx": -10, "dy": -8, "baseline": "bottom", "fontSize": 12}
    layers = [
        mark("line", {**base, "y": mean}, interpolate="step", opacity=0.55, strokeWidth=2),
        mark(
            "rule",
            {"x": x, "color": {"value": NEW}},
            only=changed,
            strokeDash=DASHED,
            strokeWidth=1.5,
            xOffset=-14,
        ),
        mark("rule", {**base, **span}, strokeWidth=2),
        cut_end("above", {**base, "y": {"value": 0}, **hint}, size=70),
        cut_end("below", {**base, "y": {"value": HEIGHT}, **hint}, size=70),
        mark("point", dot, filled=True, size=80, opacity=1),
        mark("text", label, only=changed, **look),
    ]
    return Chart(
        name,
        t("history.chart", metric=t("metric.tps")),
        t("history.chart-cut") if is_cut else "",
        plot(layers, WIDE, HEIGHT),
        columns_of(LinePoint, drawn),
        Fit((), 110),
        alternative="; ".join(f"{point.label}: {point.about}" for point in points),
    )


COLOURS = (*(CATEGORY_COLOURS[at] for at in (0, 4, 2, 5, 3)), QUIET)
"""Colours of the verdicts: faster, slower, equivalent, small, mixed, inconclusive."""


@dataclass(frozen=True)
class AtlasDot(Cuttable):
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


def atlas_chart(
    t: Texts,
    name: str,
    dots: Sequence[AtlasDot],
    verdicts: Sequence[str],
    versions: Sequence[str],
    *,
    first: str,
) -> Chart:
    """A panel for each workload, each with an axis of its own: its speed by version. ``verdicts``:
    in the order of ``COLOURS``; ``versions``: in their order; ``first``: to which the others are
    relative."""
    order = list(dict.fromkeys(dot.panel for dot in dots))
    drawn: list[AtlasDot] = []
    for panel in order:
        of_panel = [dot for dot in dots if dot.panel == panel]
        drawn += cut(of_panel, *reach(of_panel))[0]
    is_cut = any(dot.below or dot.above for dot in drawn)
    return Chart(
        name,
        t("atlas.chart", first=first),
        joined_sentences((t("atlas.chart-note"), t("atlas.cut") if is_cut else "")),
        panels(_versions(t, verdicts, versions), PANEL, 120, order=order, apart=True),
        columns_of(AtlasDot, drawn),
        Fit(("columns",), PANEL + 60),
        alternative="; ".join(f"{dot.panel}, {dot.version}: {dot.about}" for dot in dots),
    )


def _versions(t: Texts, verdicts: Sequence[str], versions: Sequence[str]) -> list[Spec]:
    scale = {"zero": False, "nice": False, "padding": 8}
    axis = {"tickCount": 4, "format": ".2~f"}
    x = of(
        "version:O",
        title=t("collection.servers"),
        scale={"domain": list(versions), "type": "point", "padding": 0.4},
        axis={"labelAngle": 0, "grid": False, "labelOverlap": True},
    )
    value = of("value:Q", scale=scale)
    base = {"x": x, **coloured_by("verdict:N", dict(zip(verdicts, COLOURS, strict=True)))}
    first = {
        "x": {"value": 0},
        "x2": {"value": "width"},
        "y": of("value:Q", scale=scale, title=t("atlas.speed"), axis=axis),
    }
    span = {"y": of("low:Q", scale=scale), "y2": of("high")}
    hint = tips(
        ("panel:N", t("atlas.workload")),
        ("version:N", t("collection.servers")),
        ("about:N", t("atlas.speed")),
        ("verdict:N", t("table.verdict")),
    )
    relative = "isValid(datum.low)"
    return [
        mark("rule", first, only=f"!{relative}", strokeDash=DASHED, opacity=0.5),
        mark("line", {"x": x, "y": value, "color": CURRENT}, strokeWidth=1.5, opacity=0.6),
        mark("rule", {**base, **span}, strokeWidth=2),
        mark("circle", {**base, "y": value, **hint}, only=relative, size=46, opacity=1),
        cut_end("below", {**base, "y": of("low:Q", scale=scale)}, size=40),
        cut_end("above", {**base, "y": of("high:Q", scale=scale)}, size=40),
    ]


@dataclass(frozen=True)
class PrintedPoint:
    finding: str
    outcome: str
    printed: float
    measured: float
    low: float
    high: float
    about: str


def printed_against_measured(
    t: Texts, points: Sequence[PrintedPoint], outcomes: Sequence[str]
) -> Chart:
    """A point for each finding. Both axes are logarithmic and alike, so that what agrees lies on
    the diagonal. ``outcomes``: in the order of their colours."""
    values = [value for point in points for value in (point.printed, point.measured, 1.0)]
    ends = [min(values) / 1.15, max(values) * 1.15]
    scale = {"type": "log", "domain": ends, "nice": False}
    axis = {"tickCount": 6, "format": "~g"}
    base = {
        "x": of("printed:Q", scale=scale, title=t("collection.printed-ratio"), axis=axis),
        **coloured_by("outcome:N", dict(zip(outcomes, CATEGORY_COLOURS, strict=False))),
    }
    diagonal = {"x": of("end:Q", scale=scale), "y": of("end:Q", scale=scale), "color": CURRENT}
    span = {"y": of("low:Q", scale=scale), "y2": of("high")}
    dot = {
        "y": of("measured:Q", scale=scale, title=t("collection.measured-ratio"), axis=axis),
        **tips(("finding:N", t("table.finding")), ("about:N", "")),
    }
    layers = [
        inline(
            mark("line", diagonal, strokeDash=DASHED, opacity=0.5), *({"end": end} for end in ends)
        ),
        mark("rule", {**base, **span}, strokeWidth=1.5, opacity=0.7, clip=True),
        mark("point", {**base, **dot}, filled=True, size=70, opacity=1),
    ]
    return Chart(
        "printed-measured",
        t("collection.chart"),
        t("collection.chart-note"),
        plot(layers, HALF, 400),
        columns_of(PrintedPoint, points),
        Fit((), 110),
        alternative="; ".join(point.about for point in points),
    )
