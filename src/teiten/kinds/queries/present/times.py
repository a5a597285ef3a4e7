"""The times of the queries as bars, their speed-ups as a forest, and the levels of a query's row: a
column for each factor that varies beside the contrast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from teiten.analysis.model.findings import ContrastResult
from teiten.kinds.queries.model import QUERY
from teiten.kinds.queries.results import QueryResults, QueryTime
from teiten.model.plan import Context
from teiten.report.charts.bars import QueryAxes, QueryBar, is_logarithmic, query_bars
from teiten.report.charts.base import Chart
from teiten.report.charts.forest import ForestRow, ForestWords, forest
from teiten.report.effects import plain_percent
from teiten.report.numbers import MOST_DIGITS, NOTHING, decimals_for, decimals_of, fixed
from teiten.report.tables import Column, Row, TableCell
from teiten.report.view.contrasts import forest_rows
from teiten.report.view.kit import Kit

WIDEST = (1e-3, 1e3)
"""How far intervals of speed-ups are drawn."""
MOST_NAMED = 6
MOST_ROWS = 40
"""The most rows of a forest; a longer one tells nothing, and the table has the numbers."""


def time_bars(kit: Kit, prefix: str, results: QueryResults) -> Chart | None:
    """Every query's times, a bar for each side."""
    shown = [time for time in results.times if time.within or time.over]
    if not shown:
        return None
    unit = unit_for(time.mean or time.limit or 0.0 for time in shown)
    bars = [_bar(kit, time, unit) for time in shown]
    t = kit.t
    drawn = "dots" if is_logarithmic([bar.value for bar in bars]) else "bars"
    contexts = sorted({time.context for time in shown}, key=kit.names.order)
    panels = (kit.names.axis(context)[1] for context in contexts)
    rank = kit.names.orders.get(QUERY, {})
    by_query = sorted(contexts, key=lambda context: rank.get(dict(context).get(QUERY, ""), 0))
    queries = (kit.names.axis(context)[0] for context in by_query)
    return query_bars(
        f"{prefix}-queries",
        t("chart.query-times.title"),
        t(f"chart.query-times.{drawn}", confidence=kit.confidence),
        bars,
        QueryAxes(
            x=t("unit.of", title=t("metric.query_seconds"), unit=unit.name),
            queries=tuple(dict.fromkeys(queries)),
            sides=kit.colours_of(time.side for time in shown),
            panels=tuple(dict.fromkeys(panels)),
            side=kit.names.factor(kit.study.contrast),
            query=kit.names.factor(QUERY),
        ),
    )


def _bar(kit: Kit, time: QueryTime, unit: TimeUnit) -> QueryBar:
    query, panel = kit.names.axis(time.context)
    place = (panel, query, kit.short(time.side))
    estimate = time.estimate
    if estimate is None or time.over:
        limit = time.limit or 0.0
        text = over_text(kit, limit, time.over, time.within)
        return QueryBar(*place, limit * unit.factor, None, None, text, over=True)
    half, drawn = estimate.half_width, estimate.scaled(unit.factor)
    text = f"{unit.text(estimate.mean, half)} {unit.name}"
    if estimate.low is not None:
        ends = (unit.text(estimate.low, half), unit.text(estimate.high, half))
        text = kit.t.aside(text, kit.t("interval.plain", low=ends[0], high=ends[1]))
    return QueryBar(*place, drawn.mean, drawn.low, drawn.high, text)


def over_text(kit: Kit, limit: float, over: int, within: int) -> str:
    """The limit, with how many trials exceeded it where others stayed within it."""
    key = "some" if within else "all"
    return kit.t(f"level.over.{key}", limit=kit.seconds(limit), count=over, of=over + within)


def speed_rows(kit: Kit, contrast: ContrastResult) -> list[ForestRow]:
    """All queries together, then each."""
    together = kit.t("level.overall-queries")
    return forest_rows(kit.t, contrast, kit.names.context, together, speed=True)


def speed_chart(
    kit: Kit, name: str, contrast: ContrastResult, rows: list[ForestRow], *, groups: bool = False
) -> Chart | None:
    """A forest of speed-ups of one contrast, of queries or of groups of them."""
    if not rows or len(rows) > MOST_ROWS:
        return None
    t = kit.t
    sides = {"old": kit.names.titled(contrast.old), "new": kit.names.titled(contrast.new)}
    words = ForestWords(
        axis=t("chart.speed-up.axis", old=kit.short(contrast.old), new=kit.short(contrast.new)),
        title=t("chart.speed-up.title-groups" if groups else "chart.speed-up.title", **sides),
        note=t("chart.speed-up.note", delta=plain_percent(t, contrast.overall.delta)),
        overall=t("chart.speed-up.overall"),
        ratio=t("table.speed-up"),
    )
    return forest(t, name, rows, contrast.overall.delta, words, widest=WIDEST)


def varied_factors(kit: Kit, contexts: Iterable[Context]) -> tuple[str, ...]:
    """Those that tell the rows of a table apart, the query first."""
    factors = dict.fromkeys(
        name
        for context in contexts
        for name, _ in kit.names.told.get(context, context)
        if name == QUERY or name not in kit.names.single
    )
    return tuple(sorted(factors, key=lambda name: name != QUERY))


def listed(kit: Kit, queries: Sequence[str]) -> str:
    """The names of the first queries, and how many more there are."""
    shown = kit.t.listed(queries[:MOST_NAMED])
    more = len(queries) - MOST_NAMED
    return kit.t("query-group.more", queries=shown, count=more) if more > 0 else shown or NOTHING


def context_columns(kit: Kit, factors: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(kit.names.factor(name)) for name in factors)


def context_cells(kit: Kit, context: Context, factors: Iterable[str]) -> Row:
    """The levels, as the study orders them."""
    levels = dict(context)
    return tuple(
        TableCell(
            kit.names.level(name, levels.get(name, "")),
            float(kit.names.orders.get(name, {}).get(levels.get(name, ""), 0)),
            kind="left",
        )
        for name in factors
    )


IN_SECONDS = 10.0
"""From this greatest time on, in seconds."""
SHORT = 100.0
"""Milliseconds below which a time has a decimal at least; the clock tells microseconds."""


@dataclass(frozen=True)
class TimeUnit:
    name: str
    factor: float
    """The number of such units in a second."""

    def text(self, seconds: float | None, half_width: float) -> str:
        """A time with the digits that its interval allows: one at least, and of a short time three.

        ``half_width``: in seconds; not finite where there is none.
        """
        if seconds is None or not math.isfinite(seconds):
            return NOTHING
        value, half = seconds * self.factor, half_width * self.factor
        known = math.isfinite(half) and half > 0
        decimals = min(decimals_of(value, MOST_DIGITS), decimals_for(half)) if known else 0
        least = decimals_of(value, 3 if not known or seconds * 1000 < SHORT else 1)
        return fixed(value, max(decimals, least))


SECONDS = TimeUnit("s", 1.0)
MILLISECONDS = TimeUnit("ms", 1000.0)


def unit_for(times: Iterable[float]) -> TimeUnit:
    """Seconds where the greatest is long."""
    greatest = max((time for time in times if math.isfinite(time)), default=0.0)
    return SECONDS if greatest >= IN_SECONDS else MILLISECONDS
