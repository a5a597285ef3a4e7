"""The forest chart: the ratio new/old with its interval by level, the line at 1 and the ±δ band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from teiten.model.text import joined_sentences
from teiten.report.charts.base import (
    NEW,
    WIDE,
    Chart,
    Cuttable,
    Fit,
    Spec,
    columns_of,
    cut,
    inline,
    mark,
    of,
    plot,
    text_width,
    tips,
)
from teiten.report.texts import Texts

WIDEST = (0.5, 2.0)
"""Intervals are drawn up to here; the numbers beside them are never cut."""
TELLING = 100.0
"""An interval that spans a larger factor goes on beyond the chart, where others do not: an axis for
it would leave no room for those that tell something."""
BEYOND = 1.5
"""Where a ratio itself lies farther out, intervals are drawn up to this many times it."""
MANY = 10
"""One of so many rows may lie beyond the chart as a whole."""
APART = 3.0
"""So many times as far from 1 as all the others, in logarithms, is too far for an axis of all."""
LINEAR = 5.0
"""The greatest end of the axis by its smallest, up to which it is linear."""
TICKS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000)
"""Ratios that a logarithmic axis marks."""
ROW_HEIGHT = 30
LABEL_LIMIT = 380
"""Pixels."""
USUAL_LABELS = 220.0
"""Pixels of labels up to which the plot is as wide as it usually is."""


@dataclass(frozen=True)
class ForestRow(Cuttable):
    """A line of the chart; ``text`` is the ratio with its interval in figures."""

    label: str
    ratio: float
    low: float
    high: float
    text: str
    verdict: str
    overall: bool
    says_nothing: bool = False
    """The interval is in ``text`` a sign alone, which a note explains (``parts.noted``)."""


@dataclass(frozen=True)
class ForestWords:
    axis: str
    title: str
    note: str
    ratio: str
    overall: str = ""
    """The words for a first line that is of all the others together."""


def _reach(
    rows: Sequence[ForestRow], delta: float, widest: tuple[float, float]
) -> tuple[float, float]:
    rows = _together(rows)
    ratios = [row.ratio for row in rows]
    telling = [row for row in rows if row.high < row.low * TELLING] or rows
    low = min(1 - 2 * delta, *(row.low for row in telling), *ratios)
    high = max(1 + 2 * delta, *(row.high for row in telling), *ratios)
    low = max(low, min(widest[0], min(ratios) / BEYOND))
    high = min(high, max(widest[1], max(ratios) * BEYOND))
    edge = 1.05 if high / low > LINEAR else 1.0
    margin = 0.0 if high / low > LINEAR else (high - low) * 0.03
    return low / edge - margin, high * edge + margin


def _together(rows: Sequence[ForestRow]) -> Sequence[ForestRow]:
    """Leave out the rows that would leave no room on an axis for the others."""
    outward = sorted(rows, key=_distance)
    most = len(rows) - len(rows) // MANY
    telling = [row for row in outward[:most] if row.high < row.low * TELLING]
    reach = max((abs(math.log(end)) for row in telling for end in (row.low, row.high)), default=inf)
    return [*outward[:most], *(row for row in outward[most:] if _distance(row) <= APART * reach)]


def _distance(row: ForestRow) -> float:
    """How far a ratio is from 1, whether it is above or below."""
    return abs(math.log(row.ratio)) if row.ratio > 0 else inf


def forest(
    t: Texts,
    name: str,
    rows: Sequence[ForestRow],
    delta: float,
    words: ForestWords,
    *,
    widest: tuple[float, float] = WIDEST,
) -> Chart:
    """One row per level, the overall ratio first; beyond LINEAR the axis is logarithmic. ``delta``:
    a share; ``widest``: how far intervals are drawn."""
    domain = _reach(rows, delta, widest)
    drawn, is_cut = cut(rows, *domain)
    drawn = [_at_edge(row, domain) for row in drawn]
    layers = _layers(t, [row.label for row in rows], domain, delta, words)
    overall = words.overall if len(rows) > 1 and rows[0].overall else ""
    labels = max(min(LABEL_LIMIT, text_width(row.label)) for row in rows)
    figures = round(max(text_width(row.text) for row in rows))
    width = round(WIDE - 180 - max(0.0, labels - USUAL_LABELS))
    return Chart(
        name,
        words.title,
        joined_sentences((words.note, overall, t("chart.band-cut") if is_cut else "")),
        {
            **plot(layers, width, ROW_HEIGHT * len(rows)),
            "resolve": {"scale": {"size": "independent"}},
        },
        columns_of(ForestRow, drawn),
        Fit((), round(labels) + figures + 50, figures),  # labels, and ratios in figures
        alternative="; ".join(f"{row.label}: {row.text}, {row.verdict}" for row in rows),
        figures=tuple((row.label, row.text, row.verdict) for row in rows),
    )


def _at_edge(row: ForestRow, domain: tuple[float, float]) -> ForestRow:
    """A row; where its ratio lies beyond the chart, a triangle alone stands for it."""
    if domain[0] < row.ratio < domain[1]:
        return row
    edge = domain[0] if row.ratio <= domain[0] else domain[1]
    return replace(row, ratio=edge, low=edge, high=edge)


def _layers(
    t: Texts, labels: list[str], domain: tuple[float, float], delta: float, words: ForestWords
) -> list[Spec]:
    logarithmic = domain[1] / domain[0] > LINEAR
    ticks = [tick for tick in TICKS if domain[0] <= tick <= domain[1]]
    kind = {"type": "log"} if logarithmic else {"zero": False}
    scale = {**kind, "domain": list(domain), "nice": False}
    ratios = {
        **({"values": ticks} if logarithmic else {}),
        "tickCount": 5,
        "format": "~g" if logarithmic else ".3f" if domain[1] - domain[0] < 0.025 else ".2f",
        "labelOverlap": True,
        "labelSeparation": 6,
    }
    band = {"x": of("from:Q", scale=scale, title=words.axis, axis=ratios), "x2": of("to")}
    base = {
        "y": of(
            "label:N",
            scale={"domain": labels},
            title=None,
            axis={
                "ticks": False,
                "domain": False,
                "labelPadding": 10,
                "labelFontSize": 13,
                "labelLimit": LABEL_LIMIT,
            },
        ),
        "color": _of_kind(NEW, "#6f7f90"),
        **tips(("label:N", " "), ("text:N", words.ratio), ("verdict:N", t("table.verdict"))),
    }
    interval = {"x": of("low:Q", scale=scale), "x2": of("high"), "size": _size(5, 2.5)}
    point = {
        "x": of("ratio:Q", scale=scale),
        "size": _size(170, 80),
        "shape": _of_kind("diamond", "circle"),
    }
    text = {"x": {"value": "width"}, "y": of("label:N"), "text": of("text:N")}
    return [
        inline(
            mark("rect", band, fill="currentColor", opacity=0.08),
            {"from": 1 - delta, "to": 1 + delta},
        ),
        inline(
            mark("rule", {"x": of("equal:Q", scale=scale)}, strokeWidth=1.5, opacity=0.6),
            {"equal": 1},
        ),
        mark("rule", {**base, **interval}),
        *(
            mark(
                "point",
                {**base, "x": {"value": end}, "size": {"value": 70}},
                only=f"datum.{field}",
                shape=f"triangle-{side}",
                filled=True,
                opacity=1,
            )
            for field, side, end in (("below", "left", 0), ("above", "right", "width"))
        ),
        mark(
            "point",
            {**base, **point},
            only=f"datum.ratio > {domain[0]} && datum.ratio < {domain[1]}",
            filled=True,
            opacity=1,
        ),
        mark("text", text, align="left", dx=14, fontSize=13),
    ]


def _of_kind(overall: str, level: str) -> Spec:
    """How the overall ratio differs from that of a level."""
    return of("overall:N", legend=None, scale={"domain": [True, False], "range": [overall, level]})


def _size(overall: float, level: float) -> Spec:
    return {"value": level, "condition": {"test": "datum.overall", "value": overall}}
