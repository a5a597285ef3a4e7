"""The forest chart: the ratio new/old with its interval by level, the line at 1 and the ±δ band."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import altair as alt

from teiten.model.text import joined_sentences
from teiten.report.charts.base import (
    NEW,
    WIDE,
    Chart,
    Fit,
    Plot,
    Spec,
    as_columns,
    configured,
    rows_data,
    text_width,
)

WIDEST = (0.5, 2.0)
"""Intervals are drawn up to here; the numbers beside them are never cut."""
BEYOND = 1.5
"""Where a ratio itself lies farther out, intervals are drawn up to this many times it."""
LINEAR = 5.0
"""The greatest end of the axis by its smallest, up to which it is linear."""
TICKS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000)
"""Ratios that a logarithmic axis marks."""
ROW_HEIGHT = 30
LABEL_LIMIT = 380
"""Pixels."""
USUAL_LABELS = 220.0
"""Pixels of labels up to which the plot is as wide as it usually is."""
FIELDS = ("label", "ratio", "low", "high", "text", "verdict", "kind", "below", "above")


@dataclass(frozen=True)
class ForestRow:
    """A line of the chart; ``text`` is the ratio with its interval in figures."""

    label: str
    ratio: float
    low: float
    high: float
    text: str
    verdict: str
    overall: bool


@dataclass(frozen=True)
class ForestWords:
    axis: str
    title: str
    note: str
    ratio: str
    verdict: str
    cut: str
    """The words for a triangle, where an interval goes on beyond the chart."""


def _reach(
    rows: Sequence[ForestRow], delta: float, widest: tuple[float, float]
) -> tuple[float, float]:
    ratios = [row.ratio for row in rows]
    low = min(1 - 2 * delta, *(row.low for row in rows), *ratios)
    high = max(1 + 2 * delta, *(row.high for row in rows), *ratios)
    low = max(low, min(widest[0], min(ratios) / BEYOND))
    high = min(high, max(widest[1], max(ratios) * BEYOND))
    edge = 1.05 if high / low > LINEAR else 1.0
    margin = 0.0 if high / low > LINEAR else (high - low) * 0.03
    return low / edge - margin, high * edge + margin


def forest(
    name: str,
    rows: Sequence[ForestRow],
    delta: float,
    words: ForestWords,
    widest: tuple[float, float] = WIDEST,
) -> Chart:
    """One row per level, the overall ratio first; ``delta`` is a share.

    ``widest``: how far intervals are drawn; beyond LINEAR the axis is logarithmic.
    """
    low, high = _reach(rows, delta, widest)
    data = as_columns(
        FIELDS,
        [
            (
                row.label,
                row.ratio,
                max(row.low, low),
                min(row.high, high),
                row.text,
                row.verdict,
                "overall" if row.overall else "level",
                row.low < low,
                row.high > high,
            )
            for row in rows
        ],
    )
    spec = _spec([row.label for row in rows], (low, high), delta, words)
    lines = "; ".join(f"{row.label}: {row.text}, {row.verdict}" for row in rows)
    figures = tuple((row.label, row.text, row.verdict) for row in rows)
    cut = any(row.low < low or row.high > high for row in rows)
    note = joined_sentences((words.note, words.cut if cut else ""))
    return Chart(
        name, words.title, note, spec, data, _fit(rows), alternative=lines, figures=figures
    )


def _fit(rows: Sequence[ForestRow]) -> Fit:
    """Beside the plot stand the labels, and the ratios in figures."""
    labels = _labels(row.label for row in rows)
    return Fit((), round(labels + max(text_width(row.text) for row in rows)) + 40)


def _labels(labels: Iterable[str]) -> float:
    """Pixels that they take, at the most."""
    return max(min(LABEL_LIMIT, text_width(label)) for label in labels)


def _spec(labels: list[str], domain: tuple[float, float], delta: float, words: ForestWords) -> Spec:
    logarithmic = domain[1] / domain[0] > LINEAR
    scale = (
        alt.Scale(type="log", domain=list(domain), nice=False)
        if logarithmic
        else alt.Scale(domain=list(domain), zero=False, nice=False)
    )
    ratios = alt.Axis(
        values=[one for one in TICKS if domain[0] <= one <= domain[1]]
        if logarithmic
        else alt.Undefined,
        tickCount=5,
        format="~g" if logarithmic else ".3f" if domain[1] - domain[0] < 0.025 else ".2f",
        labelOverlap=True,
    )
    band = (
        Plot(alt.InlineData([{"from": 1 - delta, "to": 1 + delta}]))
        .mark_rect(fill="currentColor", opacity=0.08)
        .encode(x=alt.X("from:Q", scale=scale, title=words.axis, axis=ratios), x2=alt.X2("to:Q"))
    )
    one = (
        Plot(alt.InlineData([{"one": 1}]))
        .mark_rule(strokeWidth=1.5, opacity=0.6)
        .encode(x=alt.X("one:Q", scale=scale))
    )
    base = Plot(rows_data()).encode(
        y=alt.Y(
            "label:N",
            scale=alt.Scale(domain=labels),
            title=None,
            axis=alt.Axis(
                ticks=False, domain=False, labelPadding=10, labelFontSize=13, labelLimit=LABEL_LIMIT
            ),
        ),
        color=alt.Color(
            "kind:N",
            legend=None,
            scale=alt.Scale(domain=["overall", "level"], range=[NEW, "#6f7f90"]),
        ),
        tooltip=[
            alt.Tooltip("label:N", title=" "),
            alt.Tooltip("text:N", title=words.ratio),
            alt.Tooltip("verdict:N", title=words.verdict),
        ],
    )
    overall = "datum.kind === 'overall'"
    size = alt.SizeValue(2.5, condition={"test": overall, "value": 5})
    interval = base.mark_rule().encode(
        x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), size=size
    )
    point = base.mark_point(filled=True, opacity=1).encode(
        x=alt.X("ratio:Q", scale=scale),
        size=alt.SizeValue(80, condition={"test": overall, "value": 170}),
        shape=alt.Shape(
            "kind:N",
            legend=None,
            scale=alt.Scale(domain=["overall", "level"], range=["diamond", "circle"]),
        ),
    )
    beyond = [
        base.transform_filter(f"datum.{field}")
        .mark_point(shape=f"triangle-{side}", filled=True, opacity=1)
        .encode(x=alt.value(end), size=alt.value(70))
        for field, side, end in (("below", "left", 0), ("above", "right", "width"))
    ]
    text = (
        Plot(rows_data())
        .mark_text(align="left", dx=14, fontSize=13)
        .encode(x=alt.value("width"), y=alt.Y("label:N"), text=alt.Text("text:N"))
    )
    width = round(WIDE - 180 - max(0.0, _labels(labels) - USUAL_LABELS))
    chart = (
        alt.layer(band, one, interval, *beyond, point, text)
        .resolve_scale(size="independent")
        .properties(width=width, height=ROW_HEIGHT * len(labels))
    )
    return configured(chart)
