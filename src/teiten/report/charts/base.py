"""Common parts of all charts: the chart as data, colours, marks and panels, and the look of axes.

Charts are written as Vega-Lite itself: a report has dozens of them, and objects that stand for its
parts, and are copied with each of them, took half of the time that a report needs.

Text and lines are drawn in ``currentColor``, so that one drawing follows light, dark and print by
CSS alone. Marks have mid tones that are readable on white and on black and that differ for
colour-blind readers (Okabe and Ito 2008).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import cycle
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, TypeVar

from markupsafe import Markup

from teiten.report.charts.library import SCHEMA

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PointT = TypeVar("PointT", bound="DataclassInstance")
Spec = dict[str, Any]
Columns = dict[str, list[Any]]
"""Rows of a chart, by column: what JSON says shortest."""

OLD = "#7890a8"
NEW = "#e07b1f"
SIDE_COLOURS = (OLD, NEW, "#009e73", "#b565a7", "#56a5d8", "#a58a1c")
CATEGORY_COLOURS = (
    *("#3d7ab8", "#e69f00", "#009e73", "#cc6ba2", "#d55e00"),
    *("#56b4e9", "#9c8b1f", "#7a68b3", "#a0522d", "#5f8f8f"),
)
QUIET = "#9aa3ad"
MOST_OF_AN_INTERVAL = 1.6
"""Intervals are drawn up to so many times the greatest value."""
FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Hiragino Sans', 'Noto Sans JP', "
    "'Noto Sans CJK JP', 'Yu Gothic UI', Meiryo, sans-serif"
)
WIDE = 640
"""Width in pixels of a plot that stands alone."""
HALF = 400
PANEL = 190
WIDE_PANEL = 250
CURRENT: Spec = {"value": "currentColor"}
WHOLE = ",~f"
"""The format of numbers on axes: as many decimals as they have."""
_SYMBOL = 28
"""Pixels of a symbol in a legend, and of the space around it."""
_WORDS = re.compile(r"[^\s\u3000-\uffef]+\s*|[\u3000-\uffef][\u3001\u3002\u30fc\uff09]*\s*")
EMPTY = Markup()
ROWS = "rows"
"""The name of a chart's data."""


def text_width(text: str, size: float = 13.0) -> float:
    """About how many pixels a text takes: Japanese characters are as wide as they are high."""
    return size * sum(1.0 if ord(letter) > ord("\u2fff") else 0.57 for letter in text)


def in_lines(text: str, room: float) -> list[str]:
    """A label in as few lines of about so many pixels as possible, none much shorter than the
    others: broken between words, and between Japanese letters where there are none."""
    longest = _broken(text, room)
    tried = (_broken(text, share * room) for share in (0.5, 0.6, 0.7, 0.8, 0.9))
    return next((lines for lines in tried if len(lines) == len(longest)), longest)


def _broken(text: str, room: float) -> list[str]:
    lines = [""]
    for word in _WORDS.findall(text):
        if lines[-1] and text_width(lines[-1] + word.rstrip(), 12.0) > room:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]


def labels_in_lines(labels: Sequence[str], step: float) -> Spec:
    """Keys of an axis that break labels into lines; none where one line is enough."""
    lines = {label: in_lines(label, step) for label in labels}
    if all(len(broken) == 1 for broken in lines.values()):
        return {}
    return {"labelExpr": f"({json.dumps(lines, ensure_ascii=False)})[datum.label] || datum.label"}


@dataclass(frozen=True)
class Fit:
    """How the browser fits a chart to a narrow page: the specification's part whose width may
    shrink, and the pixels needed beside it. Facets instead lose columns."""

    path: tuple[str, ...]
    beside: int
    figures: int = 0
    """The pixels of numbers among these, which a small screen shows before the chart."""


def picture_name(name: str) -> str:
    """Reduce a picture's name to what can stand in a file's name and in an attribute: names of
    workloads and levels are parts of it, and those of a ledger may be any text."""
    return re.sub(r"[^\w.-]", "-", name)


@dataclass(frozen=True)
class Chart:
    """A chart: its specification refers to its rows by name, so that they are held once."""

    name: str
    """As ``picture_name`` leaves it."""
    title: str
    note: str
    spec: Spec
    rows: Columns
    fit: Fit | None = None
    wide: bool = True
    """Needs the page's whole width."""
    alternative: str = ""
    """Text for readers who cannot see the chart; where empty, they get ``note``."""
    figures: tuple[tuple[str, str, str], ...] = ()
    """Label, number with its interval, and word, which stand before it on small screens."""
    still: Markup = EMPTY
    """The picture inside a page (``render.pictures``); empty leaves it to the page's scripts."""
    chooser: Mapping[str, Any] = field(default_factory=dict)
    """For the chart of series: which rows the reader can choose."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", picture_name(self.name))

    def complete(self) -> Spec:
        """The specification with its rows inside."""
        return {**self.spec, "datasets": {ROWS: as_records(self.rows)}}


def as_records(columns: Columns) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def as_columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    """Rows to columns, as ``finite`` makes them."""
    return finite({name: [row[at] for row in rows] for at, name in enumerate(names)})


def finite(columns: Columns) -> Columns:
    """The columns; what is not a finite number becomes None, which Vega leaves out."""
    return {
        name: [
            None if isinstance(value, float) and not math.isfinite(value) else value
            for value in values
        ]
        for name, values in columns.items()
    }


def columns_of(form: type[DataclassInstance], points: Sequence[DataclassInstance]) -> Columns:
    """Points of one form to columns, one for each of its fields."""
    names = [part.name for part in fields(form)]
    return as_columns(names, [[getattr(point, name) for name in names] for point in points])


@dataclass(frozen=True, kw_only=True)
class Cuttable:
    """A point with a ``value``, and an interval from ``low`` to ``high`` that may be cut."""

    below: bool = False
    """The interval goes on below what is drawn."""
    above: bool = False


def cut(points: Sequence[PointT], low: float, high: float) -> tuple[list[PointT], bool]:
    """Points, ``Cuttable``, whose intervals go no farther than is drawn; and whether any did."""
    known: Sequence[Any] = points
    drawn = [
        replace(
            point,
            low=None if point.low is None else max(point.low, low),
            high=None if point.high is None else min(point.high, high),
            below=point.low is not None and point.low < low,
            above=point.high is not None and point.high > high,
        )
        for point in known
    ]
    return drawn, any(point.below or point.above for point in drawn)


def cut_above(points: Sequence[PointT]) -> tuple[list[PointT], bool]:
    """``cut`` for axes that begin at zero: at some times the greatest value."""
    known: Sequence[Any] = points
    most = max((point.value for point in known), default=1.0)
    return cut(points, -math.inf, MOST_OF_AN_INTERVAL * most)


_TYPES = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}


def of(column: str, **how: Any) -> Spec:
    """A channel that shows a column of the rows: ``of("value:Q", title="TPS")``. The second end of
    an interval has no type."""
    name, _, kind = column.partition(":")
    return {"field": name, **({"type": _TYPES[kind]} if kind else {}), **how}


def tips(*columns: tuple[str, str] | tuple[str, str, str]) -> Spec:
    """The channel of hints: columns, what each is called, and the format of its numbers."""
    return {
        "tooltip": [
            of(column, title=title, **({"format": form[0]} if form else {}))
            for column, title, *form in columns
        ]
    }


def coloured_by(column: str, colours: Mapping[str, str], **how: Any) -> Spec:
    """The channel of colours. ``colours``: of each value, in the order of the legend."""
    scale = {"domain": list(colours), "range": list(colours.values())}
    alone = {"legend": None} if len(colours) < 2 else {}  # one colour tells nothing apart
    return {"color": of(column, title=None, scale=scale, **{**alone, **how})}


def mark(kind: str, channels: Spec, *, only: str = "", **look: Any) -> Spec:
    """A layer of marks. ``only``: the test of the rows that have one."""
    chosen = {"transform": [{"filter": only}]} if only else {}
    return {"mark": {"type": kind, **look}, "encoding": channels, **chosen}


def cut_end(which: str, channels: Spec, *, size: int, opacity: float = 1) -> Spec:
    """A triangle where an interval goes on beyond what is drawn: ``above`` or ``below``."""
    shape = "triangle-up" if which == "above" else "triangle-down"
    look = {"filled": True, "shape": shape, "size": size, "opacity": opacity}
    return mark("point", channels, only=f"datum.{which}", **look)


def is_kind(kind: str) -> str:
    """The test of rows whose column ``kind`` says what they are."""
    return f"datum.kind === '{kind}'"


def inline(layer: Spec, *rows: Spec) -> Spec:
    """A layer with rows of its own."""
    return {**layer, "data": {"values": list(rows)}}


def plot(layers: Sequence[Spec], width: Any, height: Any) -> Spec:
    """The specification of a chart of one plot: layers from the lowest to the uppermost."""
    return _in_the_look_of_all(
        {"data": {"name": ROWS}, "layer": list(layers), "width": width, "height": height}
    )


def panels(
    layers: Sequence[Spec],
    width: Any,
    height: Any,
    *,
    columns: int = 3,
    order: Sequence[str] | None = None,
    apart: bool = False,
) -> Spec:
    """Plots beside one another by the column ``panel``; ``apart``: each has an axis of its own."""
    facet = {"facet": of("panel:N", title=None, sort=order), "columns": columns}
    own = {"resolve": {"scale": {"y": "independent"}}} if apart else {}
    return faceted(layers, width, height, **facet, **own)


def faceted(layers: Sequence[Spec], width: Any, height: Any, **facet: Any) -> Spec:
    """The specification of plots that follow one another. ``facet``: by what, and how."""
    drawn = layers[0] if len(layers) == 1 else {"layer": list(layers)}
    inside = {**drawn, "width": width, "height": height}
    return _in_the_look_of_all({"data": {"name": ROWS}, "spec": inside, **facet})


def rows_of_plots(column: str, order: Sequence[str], **header: Any) -> Spec:
    """The facet of ``faceted`` whose plots stand below one another."""
    return {"row": of(column, title=None, sort=list(order), header={"labelAngle": 0, **header})}


def logarithmic_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Decades over the positive values, with 2 and 5 between them where there are few; the ends are
    at 1, 2 or 5, so that no part of the axis is empty."""
    positive = [value for value in values if value > 0]
    if not positive:
        return ()
    first, last = floor(log10(min(positive))), ceil(log10(max(positive)))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    low = max((tick for tick in ticks if tick <= min(positive)), default=ticks[0])
    high = min((tick for tick in ticks if tick >= max(positive)), default=ticks[-1])
    shown = ticks if last - first <= 2 else [low, *ticks[::3], high]
    return tuple(tick for tick in ticks if low <= tick <= high and tick in shown)


def _in_the_look_of_all(spec: Spec) -> Spec:
    within = _with_legends_that_fit(spec)
    return {**within, "$schema": SCHEMA, "config": CONFIG, "background": None}


def _with_legends_that_fit(part: Any) -> Any:
    """Legends with more labels than stand in one line of a plot get several: Vega cuts them."""
    if isinstance(part, list):
        return [_with_legends_that_fit(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    whole = {
        key: inner if key == "data" else _with_legends_that_fit(inner)
        for key, inner in part.items()
    }
    scale, legend = whole.get("scale"), whole.get("legend", {})
    labels = scale.get("domain") if isinstance(scale, dict) else None
    if "field" not in whole or legend is None or not isinstance(labels, list):
        return whole
    widths = [_SYMBOL + text_width(str(label), 12.0) for label in labels]
    if not widths or sum(widths) <= WIDE or "columns" in legend:
        return whole
    return {**whole, "legend": {**legend, "columns": max(1, int(WIDE // max(widths)))}}


def coloured(sides: Iterable[str]) -> dict[str, str]:
    """The colour of each side, in their order."""
    return dict(zip(sides, cycle(SIDE_COLOURS), strict=False))


_TEXT = {
    "labelFont": FONT,
    "titleFont": FONT,
    "labelColor": "currentColor",
    "titleColor": "currentColor",
    "labelFontSize": 12,
    "titleFontSize": 12,
}
CONFIG: Spec = {
    "aria": False,  # the page describes its charts itself, in its own language
    "font": FONT,
    "view": {"stroke": None},
    "text": {"fill": "currentColor", "font": FONT, "fontSize": 12},
    "rule": {"color": "currentColor"},
    "axis": {
        **_TEXT,
        "titleFontWeight": "normal",
        "labelOpacity": 0.85,
        "titleOpacity": 0.85,
        "gridColor": "currentColor",
        "gridOpacity": 0.12,
        "domainColor": "currentColor",
        "domainOpacity": 0.35,
        "tickColor": "currentColor",
        "tickOpacity": 0.35,
        "titlePadding": 8,
        "labelLimit": 320,
        "titleLimit": 560,
    },
    "legend": {
        **_TEXT,
        "titleFontWeight": "normal",
        "orient": "top",
        "direction": "horizontal",
        "symbolType": "circle",
        "symbolSize": 90,
        "symbolOpacity": 1,
        "labelLimit": 320,
        "offset": 8,
    },
    "header": {**_TEXT, "titleFontWeight": "normal", "labelFontWeight": 600, "labelLimit": 300},
    "facet": {"spacing": 20},
}
