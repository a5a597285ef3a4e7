"""Common parts of all charts: the chart as data, colours, and the look of axes.

Text and lines are drawn in ``currentColor``, so that one drawing follows light, dark and print by
CSS alone. Marks have mid tones that are readable on white and on black and that differ for
colour-blind readers (Okabe and Ito 2008).

Channels are given as ``alt.X2("high:Q")``, never as a text: for each of those Altair looks through
all of its classes, which takes longer than the chart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self, TypeVar

import altair as alt
from markupsafe import Markup

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
    "#3d7ab8",
    "#e69f00",
    "#009e73",
    "#cc6ba2",
    "#d55e00",
    "#56b4e9",
    "#9c8b1f",
    "#7a68b3",
    "#a0522d",
    "#5f8f8f",
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
_SYMBOL = 28
"""Pixels of a symbol in a legend, and of the space around it."""
EMPTY = Markup()
ROWS = "rows"
"""The name of a chart's data."""


def text_width(text: str, size: float = 13.0) -> float:
    """About how many pixels a text takes: Japanese characters are as wide as they are high."""
    return size * sum(1.0 if ord(one) > ord("\u2fff") else 0.57 for one in text)


@dataclass(frozen=True)
class Fit:
    """How the browser fits a chart to a narrow page: the specification's part whose width may
    shrink, and the pixels needed beside it. Facets instead lose columns."""

    path: tuple[str, ...]
    beside: int


@dataclass(frozen=True)
class Chart:
    """A chart: its specification refers to its rows by name, so that they are held once."""

    name: str
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
    """The chart in figures, which stand before it on small screens: label, number with its
    interval, and word."""
    still: Markup = EMPTY
    """The picture inside a page (``render.stills``); empty leaves it to the page's scripts."""
    chooser: Mapping[str, Any] = field(default_factory=dict)
    """For the chart of series: which rows the reader can choose."""

    def complete(self) -> Spec:
        """The specification with its rows inside."""
        inline = self.spec.get("datasets", {})
        return {**self.spec, "datasets": {**inline, ROWS: as_records(self.rows)}}


def as_records(columns: Columns) -> list[dict[str, Any]]:
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def as_columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    """Rows to columns; what is not a finite number becomes None, which Vega leaves out."""
    return {name: [_finite(row[at]) for row in rows] for at, name in enumerate(names)}


def columns_of(form: type[DataclassInstance], points: Sequence[DataclassInstance]) -> Columns:
    """Points of one form to columns, one for each of its fields."""
    names = [part.name for part in fields(form)]
    return as_columns(names, [[getattr(point, name) for name in names] for point in points])


def with_ends_cut(points: Sequence[PointT]) -> list[PointT]:
    """Points, with a ``value`` and a ``high`` end, whose intervals go no farther than is drawn;
    they say themselves that they are ``cut``."""
    known: Sequence[Any] = points
    reach = MOST_OF_AN_INTERVAL * max((point.value for point in known), default=1.0)
    return [
        point if point.high is None or point.high <= reach else replace(point, high=reach, cut=True)
        for point in known
    ]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Plot(alt.Chart):
    """A chart of Altair's whose copies share its parts. Layers and facets copy what they are made
    of again and again, to the last title; nobody here changes a part that was given, and without it
    a report takes a third less time."""

    def __deepcopy__(self, memo: Any = None) -> Self:
        copy: Self = self.copy(deep=False)
        return copy


def rows_data() -> Any:
    return alt.NamedData(name=ROWS)


def named_rows() -> Spec:
    """``rows_data`` in a chart that is written without Altair."""
    return {"name": ROWS}


def configured(chart: Any) -> Spec:
    """The specification of an Altair chart with the look of this report."""
    return looking_as_all(chart.to_dict(validate=False))


def looking_as_all(spec: Spec) -> Spec:
    """A specification with the look of this report."""
    within = _with_legends_that_fit(spec)
    return {**within, "$schema": alt.SCHEMA_URL, "config": CONFIG, "background": None}


def _with_legends_that_fit(part: Any) -> Any:
    """Legends with more labels than stand in one line of a plot get several: Vega cuts them."""
    if isinstance(part, list):
        return [_with_legends_that_fit(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _with_legends_that_fit(one) for key, one in part.items() if key != "datasets"}
    if "datasets" in part:
        found["datasets"] = part["datasets"]
    scale, legend = found.get("scale"), found.get("legend", {})
    labels = scale.get("domain") if isinstance(scale, dict) else None
    if "field" not in found or legend is None or not isinstance(labels, list):
        return found
    widths = [_SYMBOL + text_width(str(label), 12.0) for label in labels]
    if not widths or sum(widths) <= WIDE or "columns" in legend:
        return found
    return {**found, "legend": {**legend, "columns": max(1, int(WIDE // max(widths)))}}


def coloured(sides: Iterable[str]) -> dict[str, str]:
    """The colour of each side, in their order."""
    return dict(zip(sides, cycle(SIDE_COLOURS), strict=False))


def side_scale(sides: Mapping[str, str]) -> alt.Scale:
    """``sides``: the colour of each, in their order."""
    return alt.Scale(domain=list(sides), range=list(sides.values()))


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
        "labelLimit": 260,
        "titleLimit": 420,
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
