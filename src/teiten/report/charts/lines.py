"""Lines by a quantity: by size, clients, load, level of a factor, or second of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle

from teiten.model.text import joined_sentences
from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    HALF,
    NEW,
    PANEL,
    WHOLE,
    WIDE,
    WIDE_PANEL,
    Chart,
    Cuttable,
    Fit,
    Spec,
    coloured,
    coloured_by,
    columns_of,
    cut_above,
    cut_end,
    inline,
    is_kind,
    logarithmic_ticks,
    mark,
    of,
    panels,
    plot,
    tips,
)
from teiten.report.texts import Texts

ZERO = {"zero": True}
FEW = 6
"""Places of points up to which each has a label on the axis: nobody measures half a node."""


@dataclass(frozen=True)
class SeriesColumn:
    """A series that the reader can choose: where it is found, and the factor to its shown unit."""

    name: str
    source: str
    column: str
    factor: float


@dataclass(frozen=True)
class CurvePointOfSide(Cuttable):
    side: str
    x: float
    value: float
    low: float | None
    high: float | None
    text: str
    """The value with its interval in figures."""


@dataclass(frozen=True)
class CurveLabels:
    title: str
    note: str
    x: str
    y: str
    side: str
    sides: Mapping[str, str]
    """The colour of each, in their order."""
    logarithmic: bool = False
    """Both axes are, with the loads as ticks; the chart is then half as wide (``curves``)."""


def line_chart(
    t: Texts,
    name: str,
    points: Sequence[CurvePointOfSide],
    words: CurveLabels,
    *,
    place: tuple[float, str] | None = None,
    ticks: Sequence[float] = (),
    wide: bool = True,
) -> Chart:
    """Lines from zero on, one for each side. ``ticks``: where the horizontal axis has labels; empty
    where points are, if they are few. ``place``: one on that axis with a name, such as the size of
    the memory. Intervals that end far above every value are cut."""
    drawn, is_cut = cut_above(points)
    measured = sorted({point.x for point in points})
    shown = list(ticks) or (measured if len(measured) <= FEW else [])
    places = {"values": shown} if shown else {"tickCount": 8}
    x = of(
        "x:Q",
        title=words.x,
        scale={"zero": True, "nice": False, "padding": 12},
        axis={"grid": False, "format": WHOLE, **places},
    )
    base = {"x": x, **coloured_by("side:N", words.sides)}
    y = of("value:Q", title=words.y, scale=ZERO, axis={"tickCount": 5, "format": WHOLE})
    layers = [*_named(*place)] if place else []
    if any(point.low is not None for point in points):
        band = {"y": of("low:Q", title=words.y, scale=ZERO), "y2": of("high")}
        high = {**base, "y": of("high:Q", scale=ZERO)}
        layers += [
            mark("area", {**base, **band}, opacity=0.16),
            cut_end("above", high, size=40, opacity=0.8),
        ]
    hint = tips(("side:N", words.side), ("x:Q", words.x, WHOLE), ("text:N", words.y))
    layers += [
        mark("line", {**base, "y": y}, strokeWidth=2.2),
        mark("circle", {**base, "y": y, **hint}, size=46, opacity=1),
    ]
    return Chart(
        name,
        words.title,
        joined_sentences((words.note, t("chart.band-cut") if is_cut else "")),
        plot(layers, WIDE - 60 if wide else 340, 260),
        columns_of(CurvePointOfSide, drawn),
        Fit((), 110),
        wide=wide,
        alternative="; ".join(f"{point.side}, {point.x:g}: {point.text}" for point in points),
    )


def _named(place: float, name: str) -> tuple[Spec, Spec]:
    """A line upwards with its name above the plot."""
    row, x = {"x": place, "name": name}, of("x:Q")
    text = {"x": x, "y": {"value": -4}, "text": of("name:N")}
    look: Spec = {"align": "center", "fontSize": 11, "opacity": 0.75, "baseline": "bottom"}
    return (
        inline(mark("rule", {"x": x}, strokeDash=[4, 4], opacity=0.45), row),
        inline(mark("text", text, **look), row),
    )


@dataclass(frozen=True)
class SweepPoint(Cuttable):
    query: str
    level: float
    value: float
    """Time at the first level by the time here."""
    low: float | None
    high: float | None
    text: str
    workers: str
    """Launched; a dash where unknown."""
    says_nothing: bool = False
    """As of a ``ForestRow``."""


@dataclass(frozen=True)
class SweepWords:
    title: str
    note: str
    x: str
    y: str
    query: str
    workers: str


def sweep_chart(t: Texts, name: str, points: Sequence[SweepPoint], words: SweepWords) -> Chart:
    """The speed-up of queries over the levels of a numeric factor, with intervals."""
    queries = list(dict.fromkeys(point.query for point in points))
    colours = dict(zip(queries, cycle(CATEGORY_COLOURS if len(queries) > 1 else [NEW])))
    drawn, is_cut = cut_above(points)
    x = of(
        "level:Q",
        title=words.x,
        scale={"nice": False, "padding": 12},
        axis={
            "values": sorted({point.level for point in points}),
            "format": "~g",
            "grid": False,
            "labelOverlap": True,
        },
    )
    base = {"x": x, **coloured_by("query:N", colours)}
    y = of("value:Q", title=words.y, scale=ZERO, axis={"tickCount": 5})
    interval = {"y": of("low:Q", title=words.y), "y2": of("high")}
    hint = tips(
        ("query:N", words.query),
        ("level:Q", words.x),
        ("text:N", words.y),
        ("workers:N", words.workers),
    )
    layers = [
        inline(mark("rule", {"y": of("equal:Q")}, strokeWidth=1.5, opacity=0.5), {"equal": 1}),
        mark("rule", {**base, **interval}, strokeWidth=2, opacity=0.8),
        cut_end("above", {**base, "y": of("high:Q", title=words.y)}, size=40, opacity=0.8),
        mark("line", {**base, "y": y}, strokeWidth=2.2),
        mark("circle", {**base, "y": y, **hint}, size=70, opacity=1),
    ]
    return Chart(
        name,
        words.title,
        joined_sentences((words.note, t("chart.band-cut") if is_cut else "")),
        plot(layers, WIDE - 60, 260),
        columns_of(SweepPoint, drawn),
        Fit((), 110),
        alternative="; ".join(f"{point.query}, {point.level:g}: {point.text}" for point in points),
    )


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


def curves(name: str, points: Sequence[CurvePoint], words: CurveLabels) -> Chart:
    """A number by load: a dot for every load's mean, the knee, and the curve where one fits. Axes
    that are not logarithmic begin at 0; the curves' points end where the measured loads do."""
    across: Spec = {"scale": ZERO, "axis": {"grid": False, "tickMinStep": 1}}
    up: Spec = {"scale": ZERO, "axis": {"tickCount": 5, "format": WHOLE}}
    if words.logarithmic:
        across, up = _logarithmic(points)
    base = {
        "x": of("load:Q", title=words.x, **across),
        "y": of("value:Q", title=words.y, **up),
        **coloured_by("side:N", words.sides),
    }
    spans = {"x": of("low:Q", title=words.x), "x2": of("high")}
    hint = tips(("side:N", words.side), ("load:Q", words.x), ("value:Q", words.y, ",.4~g"))
    knee, kinds = is_kind(PointKind.KNEE), {point.kind for point in points}
    layers = []  # only those that have points: Vega complains of one without
    if PointKind.CURVE in kinds:
        only = is_kind(PointKind.CURVE)
        layers.append(mark("line", base, only=only, strokeWidth=2, opacity=0.9))
    if any(point.low is not None for point in points):
        look = {"strokeWidth": 7, "opacity": 0.3, "strokeCap": "round"}
        layers.append(mark("rule", {**base, **spans}, only=knee, **look))
    if PointKind.KNEE in kinds:
        look = {"shape": "diamond", "size": 260, "filled": False, "strokeWidth": 2}
        layers.append(mark("point", base, only=knee, **look))
    only = is_kind(PointKind.MEAN)
    layers.append(mark("circle", {**base, **hint}, only=only, size=60, opacity=0.9))
    return Chart(
        name,
        words.title,
        words.note,
        plot(layers, HALF if words.logarithmic else WIDE - 90, 260),
        columns_of(CurvePoint, points),
        Fit((), 90),
        wide=not words.logarithmic,
    )


def _logarithmic(points: Sequence[CurvePoint]) -> tuple[Spec, Spec]:
    """The scales and axes of loads and values."""
    loads = sorted({point.load for point in points if point.kind is PointKind.MEAN})
    ticks = list(logarithmic_ticks([point.value for point in points]))
    across = {"values": loads, "grid": False, "format": WHOLE, "labelOverlap": True}
    up = {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False}
    return (
        {"scale": {"type": "log", "nice": False, "padding": 12}, "axis": across},
        {"scale": up, "axis": {"values": ticks, "format": WHOLE}},
    )


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


def published_curves(
    t: Texts,
    name: str,
    points: Sequence[PublishedPoint],
    *,
    x: str,
    y: str,
    clients: str,
    sides: Sequence[str],
) -> Chart:
    """Published and measured curves over one another: a panel for each published table, with lines
    by clients per core; dashed where published, drawn through where measured. ``sides``: old and
    new, in words that suit every panel."""
    order = list(dict.fromkeys(point.panel for point in points))
    ticks = logarithmic_ticks([point.load for point in points])
    base = {
        "x": of(
            "load:Q",
            title=x,
            scale={"type": "log", "nice": False, "padding": 8},
            axis={"values": list(ticks), "format": "~g", "grid": False},
        ),
        "y": of("relative:Q", title=y, scale=ZERO, axis={"tickCount": 5}),
        **coloured_by("side:N", coloured(sides)),
        "detail": [of("curve:N"), of("origin:N")],
    }
    dash = of(
        "origin:N",
        title=None,
        scale={"domain": [t("word.published"), t("word.measured")], "range": [[5, 3], [1, 0]]},
        legend={"symbolType": "stroke"},
    )
    hint = tips(
        ("origin:N", " "),
        ("curve:N", t("word.curve")),
        ("clients:Q", clients),
        ("value:Q", t("metric.tps"), ",.4~g"),
        ("relative:Q", y, ".3f"),
    )
    layers = [
        mark("line", {**base, "strokeDash": dash}, strokeWidth=2, opacity=0.9),
        mark("circle", {**base, **hint}, size=34, opacity=0.9),
    ]
    title, note = t(f"chart.{name}.title"), t(f"chart.{name}.note")
    spec = panels(layers, WIDE_PANEL if len(order) < 4 else PANEL, 200, order=order)
    fit = Fit(("columns",), WIDE_PANEL + 30)
    return Chart(name, title, note, spec, columns_of(PublishedPoint, points), fit)


def series_spec(
    t: Texts, y: str, side: str, sides: Mapping[str, str], outcomes: tuple[str, ...]
) -> Spec:
    """Samples of trials over their seconds: lines of ``value`` over ``second``; one line per
    ``trial``, one panel per ``panel``; dashed where the outcome is not the first one. ``sides``:
    the colour of each, which is called ``side``."""
    x = t("axis.seconds")
    dashes = [[1, 0], *([4, 3] for _ in outcomes[1:])]
    channels = {
        "x": of(
            "second:Q",
            title=x,
            scale={"zero": True, "nice": False},
            axis={"tickCount": 5, "grid": False},
        ),
        "y": of("value:Q", title=y, scale=ZERO, axis={"tickCount": 4, "format": WHOLE}),
        **coloured_by("side:N", sides, legend={"symbolType": "stroke", "symbolStrokeWidth": 3}),
        "detail": of("trial:N"),
        "strokeDash": of(
            "counted:N", legend=None, scale={"domain": list(outcomes), "range": dashes}
        ),
        **tips(
            ("side:N", side),
            ("trial:N", t("table.trial")),
            ("counted:N", t("table.outcome")),
            ("second:Q", x, ",.4~g"),
            ("value:Q", y, ",.4~g"),
        ),
    }
    line = mark("line", channels, strokeWidth=1.3, opacity=0.85, interpolate="linear")
    return panels([line], WIDE_PANEL, 120)
