"""Published and measured numbers of queries beside one another: speed-ups, workers, a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median

from teiten.analysis.model.claims import (
    Check,
    Claim,
    ClaimOutcome,
    PublishedColumn,
    PublishedCurves,
    PublishedQueries,
)
from teiten.kinds.queries.claims.of_queries import QUERIES
from teiten.kinds.queries.claims.of_workers import WORKERS, WorkerCurve
from teiten.kinds.queries.model import QUERY, QUERY_TIME
from teiten.report.charts.bars import QueryAxes, QueryBar, query_bars
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import SweepPoint, SweepWords, sweep_chart
from teiten.report.claim_words import place_text, source_text
from teiten.report.effects import confidence_percent, speed_interval_text, speed_text
from teiten.report.numbers import NOTHING, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells, number_cell
from teiten.report.view.kit import Kit

BEYOND = 1.5
"""How far beyond the greatest and the smallest value intervals are drawn."""


@dataclass(frozen=True)
class _ComparedQueries:
    """Two columns of a published table, and what was measured of the same on one server."""

    panel: str
    """A short name."""
    caption: str
    old: PublishedColumn
    new: PublishedColumn
    checks: dict[str, Check]
    """By query; without those of which nothing can be said."""


def query_charts(kit: Kit) -> tuple[Chart, ...]:
    """Speed-ups by query, and by permitted workers, where there are any of both."""
    charts = (_speed_ups(kit, list(_compared(kit))), _sweep(kit))
    return tuple(chart for chart in charts if chart is not None)


def query_tables(kit: Kit) -> tuple[Table, ...]:
    """A table for each compared pair of columns, and one of workers."""
    tables = [_table(kit, at, compared) for at, compared in enumerate(_compared(kit))]
    workers = _workers(kit)
    return (*tables, workers) if workers is not None else tuple(tables)


def _compared(kit: Kit) -> Iterator[_ComparedQueries]:
    """Collect compared columns; checks of findings about the same ones are taken together."""
    found: dict[tuple[object, ...], _ComparedQueries] = {}
    for outcome in kit.analysis.claims:
        claim, table = outcome.claim, outcome.claim.published
        times = isinstance(table, PublishedQueries) and claim.metric == QUERY_TIME.name
        if not isinstance(table, PublishedQueries) or not times or len(table.columns) != 2:
            continue
        for check in outcome.checks:
            single = len(check.classes) == 1 and len(check.classes[0]) == 1
            if check.kind is not QUERIES or not single or check.ratio is None:
                continue
            old, new = table.columns
            key = (claim.workload, claim.contrast, table.table, old.label, new.label, check.server)
            panel = _on_server(kit, check, place_text(kit.t, claim.source))
            caption = _on_server(kit, check, _caption(kit, claim, check))
            compared = found.setdefault(key, _ComparedQueries(panel, caption, old, new, {}))
            compared.checks.setdefault(check.classes[0][0], check)
    yield from found.values()


def _on_server(kit: Kit, check: Check, what: str) -> str:
    if not check.server:
        return what
    return kit.t("claim.on-server", server=kit.names.server(check.server).short, what=what)


def _caption(kit: Kit, claim: Claim, check: Check) -> str:
    t = kit.t
    sides = t("claim.sides", old=kit.short(check.sides[0]), new=kit.short(check.sides[-1]))
    return t("claim.compared", source=source_text(t, claim.source), sides=sides)


def _speed_ups(kit: Kit, compared: list[_ComparedQueries]) -> Chart | None:
    if not compared:
        return None
    t = kit.t
    bars = _within_reach([bar for pair in compared for bar in _bars(kit, pair)])
    axes = QueryAxes(
        x=t("axis.published-speed-up"),
        queries=tuple(dict.fromkeys(bar.query for bar in bars)),
        sides=coloured([t("word.published"), t("word.measured")]),
        panels=tuple(dict.fromkeys(bar.panel for bar in bars)),
        side=" ",
        query=kit.names.factor(QUERY),
    )
    title, note = t("chart.published-queries.title"), t("chart.published-queries.note")
    return query_bars("published-queries", title, note, bars, axes)


def _bars(kit: Kit, pair: _ComparedQueries) -> Iterator[QueryBar]:
    old, new = dict(pair.old.values), dict(pair.new.values)
    for query in (each for each in old if each in new and each in pair.checks):
        printed = old[query] / new[query]
        word = kit.t("word.published")
        yield QueryBar(pair.panel, query, word, printed, None, None, significant(printed, 3))
        effect = pair.checks[query].effect
        if effect is not None:
            shown = effect.inverse
            text = kit.t.aside(speed_text(effect), speed_interval_text(kit.t, effect))
            word = kit.t("word.measured")
            yield QueryBar(pair.panel, query, word, shown.ratio, shown.low, shown.high, text)


def _within_reach(bars: list[QueryBar]) -> list[QueryBar]:
    """Intervals are drawn only so far beyond the values: two or three trials exclude nothing."""
    least = min(bar.value for bar in bars) / BEYOND
    most = max(bar.value for bar in bars) * BEYOND
    return [
        bar
        if bar.low is None or bar.high is None
        else replace(bar, low=max(bar.low, least), high=min(bar.high, most))
        for bar in bars
    ]


def _table(kit: Kit, at: int, pair: _ComparedQueries) -> Table:
    t = kit.t
    titles = ("published-old", "published-new", "published-speed-up", "measured-here", "interval")
    new = dict(pair.new.values)
    return Table(
        f"published-queries-{at + 1}",
        t("table.published-queries.caption", what=pair.caption),
        (
            Column(kit.names.factor(QUERY)),
            *(Column(t(f"table.{name}"), numeric=True) for name in titles),
        ),
        tuple(
            _row(kit, query, (before, new[query]), pair.checks.get(query))
            for query, before in pair.old.values
            if query in new
        ),
        note=t(
            "table.published-queries.note",
            old=pair.old.label,
            new=pair.new.label,
            confidence=_confidence(kit, pair),
        ),
    )


def _confidence(kit: Kit, pair: _ComparedQueries) -> str:
    """Say that of the intervals: one, as each is of a single query."""
    known = (check.confidence for check in pair.checks.values() if check.confidence is not None)
    said = dict.fromkeys(confidence_percent(kit.t, confidence) for confidence in known)
    return kit.t("list.separator").join(said) or NOTHING


def _row(kit: Kit, query: str, printed: tuple[float, float], check: Check | None) -> Row:
    old, new = printed
    effect = None if check is None else check.effect
    return cells(
        query,
        number_cell(old),
        number_cell(new),
        number_cell(old / new, lambda ratio: fixed(ratio, 2)),
        TableCell(speed_text(effect), sort=None if effect is None else 1 / effect.ratio),
        speed_interval_text(kit.t, effect),
    )


def _workers(kit: Kit) -> Table | None:
    """Printed beside launched and what the rule gives; None where no rule was checked."""
    t = kit.t
    rows = [
        row
        for outcome in kit.analysis.claims
        for check in outcome.checks
        if check.kind is WORKERS
        for row in _workers_row(kit, outcome, check)
    ]
    if not rows:
        return None
    columns = tuple(
        Column(t(f"table.{name}"), numeric=True)
        for name in ("workers-printed", "workers-by-size", "workers-here")
    )
    return Table(
        "published-workers",
        t("table.published-workers.caption"),
        (Column(t("table.finding")), Column(kit.names.factor(QUERY)), *columns),
        tuple(rows),
        note=t("table.published-workers.note"),
    )


def _workers_row(kit: Kit, outcome: ClaimOutcome, check: Check) -> Iterator[Row]:
    table = outcome.claim.published
    columns = table.columns if isinstance(table, PublishedQueries) else ()
    (query,) = check.classes[0]
    printed = dict(columns[0].values).get(query) if columns else None
    yield cells(
        _on_server(kit, check, place_text(kit.t, outcome.claim.source)),
        query,
        number_cell(printed),
        *map(number_cell, reversed(check.at)),
    )


def _sweep(kit: Kit) -> Chart | None:
    """The printed and the measured speed-up by permitted workers."""
    t = kit.t
    curves = {
        (claim.workload, claim.predicate.factor): claim.published
        for outcome in kit.analysis.claims
        if isinstance((claim := outcome.claim).predicate, WorkerCurve)
        and isinstance(claim.published, PublishedCurves)
    }
    points: list[SweepPoint] = []
    for (workload, factor), published in curves.items():
        measured = list(_measured(kit, workload, factor))
        if measured:
            word = t("word.published")
            points += [
                *_points(word, published.curves[0].points),
                *(point for curve in measured for point in curve),
            ]
    if not points:
        return None
    words = SweepWords(
        title=t("chart.published-workers.title"),
        note=t("chart.published-workers.note"),
        x=t("axis.permitted-workers"),
        y=t("axis.published-speed-up"),
        query=" ",
        workers=" ",
        cut=t("chart.band-cut"),
    )
    return sweep_chart("published-workers", points, words)


def _points(label: str, curve: Iterable[tuple[float, float]]) -> Iterator[SweepPoint]:
    found = sorted(curve)
    first = found[0][1]
    for level, seconds in found:
        speed_up = first / seconds
        yield SweepPoint(label, level, speed_up, None, None, significant(speed_up, 3), NOTHING)


def _measured(kit: Kit, workload: str, factor: str) -> Iterator[Iterator[SweepPoint]]:
    """A curve of medians for each server and query."""
    curves: dict[tuple[tuple[str, str], ...], dict[float, float]] = {}
    for group in kit.of_workload(workload):
        levels = {**dict(group.context), kit.study.contrast: group.side}
        level = levels.pop(factor, "")
        values = group.values(QUERY_TIME.name)
        if level.isdecimal() and values:
            fixed_levels = tuple(pair for pair in levels.items() if pair[0] not in kit.names.single)
            curves.setdefault(fixed_levels, {})[float(level)] = median(values)
    for context, curve in curves.items():
        told = tuple(pair for pair in context if pair[0] != QUERY)
        word = kit.t("word.measured")
        label = f"{word}, {kit.names.context(told)}" if told else word
        yield _points(label, curve.items())
