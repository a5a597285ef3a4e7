"""Horizontal bars for labels of any length: times of queries, ranked levels, parts of a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from teiten.report.charts.base import (
    CATEGORY_COLOURS,
    CURRENT,
    WHOLE,
    WIDE,
    Chart,
    Cuttable,
    Fit,
    Spec,
    as_columns,
    coloured_by,
    columns_of,
    cut_above,
    faceted,
    is_kind,
    logarithmic_ticks,
    mark,
    of,
    panels,
    plot,
    rows_of_plots,
    text_width,
    tips,
)
from teiten.report.charts.levels import Dot
from teiten.report.texts import Texts

FARTHEST = 20.0
"""The greatest time by the smallest, up to which the axis is linear."""
LABEL_LIMIT = 380
"""Pixels of a label: two methods must not look alike because their titles are cut."""
STEP = 13
GAP = 9
ROW = 30
STACK = 17


@dataclass(frozen=True)
class QueryBar(Cuttable):
    """The time of a query on one side, in the shown unit."""

    panel: str
    query: str
    side: str
    value: float
    low: float | None
    high: float | None
    text: str
    """The time in figures."""
    over: bool = False
    """The value is a limit that was exceeded."""


@dataclass(frozen=True)
class QueryAxes:
    x: str
    queries: tuple[str, ...]
    sides: Mapping[str, str]
    """The colour of each, in their order."""
    panels: tuple[str, ...]
    side: str
    query: str


def query_bars(
    name: str, title: str, note: str, bars: Sequence[QueryBar], axes: QueryAxes
) -> Chart:
    """Times of queries, one group of bars for each query.

    Bars begin at zero. Where the times differ too much for that, the axis is logarithmic, and dots
    take the place of bars, whose length would mean nothing there.
    """
    values = [bar.value for bar in bars if bar.value > 0]
    logarithmic = is_logarithmic(values)
    drawn = bars if logarithmic else cut_above(bars)[0]
    count = len(axes.panels)
    layers = _times(axes, values if logarithmic else [])
    height = len(axes.queries) * (len(axes.sides) * STEP + GAP)
    if count > 1:
        width = max(180, (WIDE - 60) // count)
        spec = panels(layers, width, height, columns=min(3, count), order=list(axes.panels))
    else:
        spec = plot(layers, WIDE - 60, height)
    labels = max((text_width(query, 11) for query in axes.queries), default=0.0)
    beside = round(max(140.0, min(LABEL_LIMIT, labels)) + 40)
    fit = Fit(("columns",), beside + 100) if count > 1 else Fit((), beside)
    lines = "; ".join(f"{bar.query}, {bar.side}: {bar.text}" for bar in bars)
    return Chart(name, title, note, spec, columns_of(QueryBar, drawn), fit, alternative=lines)


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether bars of these times would be dots."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) / min(positive) > FARTHEST


def _times(axes: QueryAxes, spread: Sequence[float]) -> list[Spec]:
    """``spread``: the times, where the axis is logarithmic."""
    ticks = list(logarithmic_ticks(spread))
    scale: Spec = {"zero": True}
    axis: Spec = {"tickCount": 5, "format": WHOLE}
    if len(ticks) > 1:
        scale = {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False, "clamp": True}
        axis = {"values": ticks, "format": WHOLE, "labelOverlap": True}
    base = {
        "y": of(
            "query:N",
            title=None,
            scale={"domain": list(axes.queries), "paddingInner": 0.25},
            axis={"ticks": False, "domain": False, "labelPadding": 8, "labelLimit": LABEL_LIMIT},
        ),
        "yOffset": of("side:N", scale={"domain": list(axes.sides)}),
        **coloured_by("side:N", axes.sides),
        **tips(("query:N", axes.query), ("side:N", axes.side), ("text:N", axes.x)),
    }
    value = {**base, "x": of("value:Q", title=axes.x, scale=scale, axis=axis)}
    span = {"x": of("low:Q", title=axes.x, scale=scale, axis=axis), "x2": of("high")}
    beyond = {"x": of("high:Q", scale=scale), "color": CURRENT}
    timed, over = "!datum.over", "datum.over"
    bars = mark("bar", value, only=timed, opacity=0.85)
    dots = mark("circle", value, only=timed, size=70, opacity=1)
    interval = {**base, **({} if spread else {"color": CURRENT}), **span}
    limit = {**value, "text": of("text:N"), "color": CURRENT}
    goes_on = {"text": "›", "align": "left", "dx": 2, "fontSize": 14}
    return [
        dots if spread else bars,
        mark("rule", interval, only=timed, strokeWidth=1.6, opacity=0.9),
        mark("text", {**base, **beyond}, only="datum.above", **goes_on),
        mark("point", value, only=over, shape="triangle-right", size=80, filled=True, opacity=1),
        mark("text", limit, only=over, align="left", dx=9, fontSize=11),
    ]


def ranked(
    t: Texts,
    name: str,
    dots: Sequence[Dot],
    labels: Mapping[str, str],
    *,
    title: str,
    note: str,
    x: str,
    called: str,
) -> Chart:
    """Levels ranked by a metric: a bar for each median, its trials as dots, the highest first.
    ``labels``: what stands at the end of a level's bar; ``called``: what a level is."""
    levels = {dot.level for dot in dots}
    middle = {level: median(dot.value for dot in dots if dot.level == level) for level in levels}
    order = sorted(levels, key=lambda level: -middle[level])
    rows: list[tuple[str, str, str | None, float, int | None, int | None]] = [
        ("median", level, labels.get(level, ""), middle[level], None, None) for level in order
    ]
    rows += [("trial", dot.level, None, dot.value, dot.block, dot.trial) for dot in dots]
    greatest = max((dot.value for dot in dots), default=1.0)
    base = {
        "x": of(
            "value:Q",
            title=x,
            scale={"domain": [0, greatest * 1.2], "nice": False},
            axis={"tickCount": 6, "format": WHOLE},
        ),
        "y": of("level:N", sort=order, title=None, axis={"labelLimit": LABEL_LIMIT}),
    }
    hint = (("level:N", called), ("value:Q", x))
    of_trial = tips(*hint, ("block:Q", t("table.block")), ("trial:Q", t("table.trial")))
    bar = {"color": CATEGORY_COLOURS[0], "opacity": 0.55, "cornerRadius": 2}
    text = {"align": "left", "dx": 10, "color": "currentColor", "fontSize": 12}
    dot = {"size": 30, "opacity": 0.85, "color": CATEGORY_COLOURS[1]}
    layers = [
        mark("bar", {**base, **tips(*hint)}, only=is_kind("median"), **bar),
        mark("circle", {**base, **of_trial}, only=is_kind("trial"), **dot),
        mark("text", {**base, "text": of("text:N")}, only=is_kind("median"), **text),
    ]
    return Chart(
        name,
        title,
        note,
        plot(layers, WIDE - 160, ROW * len(order)),
        as_columns(("kind", "level", "text", "value", "block", "trial"), rows),
        Fit((), 300),
        alternative="; ".join(f"{level}: {labels.get(level, '')}" for level in order),
    )


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
    colours: Mapping[str, str]
    """The colour of each part, in their order."""
    maximum: float | None = None


def stacked(name: str, title: str, note: str, bars: Sequence[Bar], words: StackWords) -> Chart:
    """Stacked bars from zero: parts of a whole by level, old and new next to one another."""
    ranks = {part: at for at, part in enumerate(words.colours)}
    rows = [(bar.level, bar.side, bar.part, ranks[bar.part], bar.value) for bar in bars]
    whole = {"domain": [0, words.maximum], "nice": False} if words.maximum else {"zero": True}
    channels = {
        "x": of("value:Q", stack="zero", title=words.x, scale=whole, axis={"tickCount": 6}),
        "y": of(
            "side:N",
            title=None,
            scale={"domain": list(words.sides), "padding": 0.12},
            axis={"ticks": False, "domain": False},
        ),
        **coloured_by("part:N", words.colours, legend={"columns": 5, "symbolType": "square"}),
        "order": of("rank:Q"),
        **tips(
            ("level:N", " "),
            ("side:N", words.side),
            ("part:N", words.part),
            ("value:Q", words.x, ",.3~g"),
        ),
    }
    header = {
        "labelAlign": "left",
        "labelOrient": "left",
        "labelPadding": 14,
        "labelFontWeight": "normal",
    }
    spec = faceted(
        [mark("bar", channels, stroke=None)],
        WIDE - 60,
        {"step": STACK},
        spacing=10,
        facet=rows_of_plots("level:N", words.levels, **header),
    )
    data = as_columns(("level", "side", "part", "rank", "value"), rows)
    return Chart(name, title, note, spec, data, Fit(("spec",), 230))
