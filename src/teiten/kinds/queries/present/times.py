"""The times of the queries as bars, and their speed-ups as a forest."""

from __future__ import annotations

import math

from teiten.analysis.model.findings import ContrastResult, Verdict
from teiten.kinds.queries.model import QUERY
from teiten.kinds.queries.present.contexts import TimeUnit, unit_for
from teiten.kinds.queries.results import QueryResults, QueryTime
from teiten.report.charts.bars import QueryAxes, QueryBar, is_logarithmic, query_bars
from teiten.report.charts.base import Chart
from teiten.report.charts.forest import ForestRow, ForestWords, forest
from teiten.report.effects import confidence_percent, plain_percent, speed_interval_text, speed_text
from teiten.report.sentences import verdict_word
from teiten.report.view.kit import Kit

WIDEST = (1e-3, 1e3)
"""How far intervals of speed-ups are drawn."""
MOST_ROWS = 40
"""The most rows of a forest; a longer one tells nothing, and the table has the numbers."""


def time_bars(kit: Kit, prefix: str, found: QueryResults) -> Chart | None:
    """Every query's times, a bar for each side."""
    shown = [one for one in found.times if one.mean is not None or one.limit is not None]
    if not shown:
        return None
    unit = unit_for(_greatest(one) for one in shown)
    bars = [_bar(kit, one, unit) for one in shown]
    t = kit.t
    alone = kit.study.measure.alpha
    drawn = "dots" if is_logarithmic([bar.value for bar in bars]) else "bars"
    places = [
        kit.names.axis(context)
        for context in sorted({one.context for one in shown}, key=kit.names.order)
    ]
    queries = sorted({query for query, _ in places}, key=lambda query: _rank(kit, query))
    return query_bars(
        f"{prefix}-queries",
        t("chart.query-times.title"),
        t(f"chart.query-times.{drawn}", confidence=confidence_percent(t, 1 - alone)),
        bars,
        QueryAxes(
            x=t("unit.of", title=t("metric.query_seconds"), unit=unit.name),
            queries=tuple(queries),
            sides=kit.colours_of(one.side for one in shown),
            panels=tuple(dict.fromkeys(panel for _, panel in places)),
            side=kit.names.factor(kit.study.contrast),
            query=kit.names.factor(QUERY),
        ),
    )


def _greatest(one: QueryTime) -> float:
    return float(one.mean or one.limit or 0.0)


def _rank(kit: Kit, query: str) -> int:
    return kit.names.orders.get(QUERY, {}).get(query, 0)


def _bar(kit: Kit, one: QueryTime, unit: TimeUnit) -> QueryBar:
    query, panel = kit.names.axis(one.context)
    side = kit.short(one.side)
    if one.mean is None or one.over:
        limit = float(one.limit or 0.0)
        text = kit.t("level.over.all", limit=kit.seconds(limit))
        return QueryBar(panel, query, side, limit * unit.factor, None, None, text, over=True)
    half = (one.high - one.low) / 2 if one.high is not None and one.low is not None else math.nan
    text = f"{unit.text(one.mean, half)} {unit.name}"
    if one.low is not None and one.high is not None:
        ends = (unit.text(one.low, half), unit.text(one.high, half))
        text = kit.t.aside(text, kit.t("interval.plain", low=ends[0], high=ends[1]))
    return QueryBar(
        panel,
        query,
        side,
        one.mean * unit.factor,
        None if one.low is None else one.low * unit.factor,
        None if one.high is None else one.high * unit.factor,
        text,
    )


def speed_forest(kit: Kit, name: str, contrast: ContrastResult) -> Chart | None:
    """The speed-up of each query, with its interval; all queries together first."""
    several = len(contrast.levels) > 1
    rows = [speed_row(kit, kit.t("level.overall-queries"), contrast.overall, overall=True)]
    rows += [
        speed_row(kit, kit.names.context(level.context), level.verdict)
        for level in contrast.levels
        if several
    ]
    return speed_chart(kit, name, contrast, [row for row in rows if row is not None])


def speed_row(kit: Kit, label: str, verdict: Verdict, *, overall: bool = False) -> ForestRow | None:
    """A line of a forest of speed-ups; None where nothing can be said."""
    if verdict.effect is None:
        return None
    shown = verdict.effect.inverse
    text = kit.t.aside(speed_text(verdict.effect), speed_interval_text(kit.t, verdict.effect))
    return ForestRow(
        label, shown.ratio, shown.low, shown.high, text, verdict_word(kit.t, verdict), overall
    )


def speed_chart(
    kit: Kit, name: str, contrast: ContrastResult, rows: list[ForestRow], *, groups: bool = False
) -> Chart | None:
    """A forest of speed-ups of one contrast, of queries or of groups of them."""
    if not rows or len(rows) > MOST_ROWS:
        return None
    t = kit.t
    sides = {"old": kit.short(contrast.old), "new": kit.short(contrast.new)}
    words = ForestWords(
        axis=t("chart.speed-up.axis", **sides),
        title=t("chart.speed-up.title-groups" if groups else "chart.speed-up.title", **sides),
        note=t("chart.speed-up.note", delta=plain_percent(t, contrast.overall.delta)),
        ratio=t("table.speed-up"),
        verdict=t("table.verdict"),
        cut=t("chart.band-cut"),
    )
    return forest(name, rows, contrast.overall.delta, words, WIDEST)
