"""Published and measured numbers of queries beside one another: speed-ups, workers, a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from teiten.analysis.model.claims import (
    Check,
    Claim,
    ClaimOutcome,
    PublishedColumn,
    PublishedCurves,
    PublishedQueries,
)
from teiten.analysis.model.observations import without
from teiten.kinds.queries.claims.of_plans import WORKERS, WorkerCurve
from teiten.kinds.queries.claims.of_queries import QUERIES
from teiten.kinds.queries.model import QUERY, QUERY_TIME
from teiten.model.plan import Context
from teiten.report.charts.bars import QueryAxes, QueryBar, query_bars
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import SweepPoint, SweepWords, sweep_chart
from teiten.report.claim_words import place_text, source_text
from teiten.report.effects import confidence_percent, effect_cells, ratio_with_interval
from teiten.report.numbers import NOTHING, fixed, significant
from teiten.report.tables import Column, Row, Table, cells, number_cell, without_unknown
from teiten.report.view.kit import Kit


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

    @property
    def rows(self) -> Iterator[tuple[str, float, float]]:
        """Query, old and new, as printed."""
        new = dict(self.new.values)
        return ((query, old, new[query]) for query, old in self.old.values if query in new)


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
    pairs: dict[tuple[object, ...], _ComparedQueries] = {}
    for outcome in kit.analysis.claims:
        claim, table = outcome.claim, outcome.claim.published
        if not isinstance(table, PublishedQueries) or claim.metric != QUERY_TIME.name:
            continue
        for check in outcome.checks if len(table.columns) == 2 else ():
            single = len(check.classes) == 1 and len(check.classes[0]) == 1
            if check.kind is not QUERIES or not single or check.ratio is None:
                continue
            old, new = table.columns
            key = (claim.workload, claim.contrast, table.table, old.label, new.label, check.server)
            panel = _on_server(kit, check, place_text(kit.t, claim.source))
            caption = _on_server(kit, check, _caption(kit, claim, check))
            pair = pairs.setdefault(key, _ComparedQueries(panel, caption, old, new, {}))
            pair.checks.setdefault(check.classes[0][0], check)
    yield from pairs.values()


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
    bars = [bar for pair in compared for bar in _bars(kit, pair)]
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
    t = kit.t
    for query, old, new in pair.rows:
        check = pair.checks.get(query)
        if check is None:
            continue
        text = significant(old / new, 3)
        yield QueryBar(pair.panel, query, t("word.published"), old / new, None, None, text)
        if check.effect is not None:
            shown = check.effect.inverse
            text = ratio_with_interval(t, check.effect, speed=True)
            span = (shown.ratio, shown.low, shown.high)
            yield QueryBar(pair.panel, query, t("word.measured"), *span, text)


def _table(kit: Kit, at: int, pair: _ComparedQueries) -> Table:
    t = kit.t
    titles = ("published-old", "published-new", "published-speed-up", "measured-here", "interval")
    return Table(
        f"published-queries-{at + 1}",
        t("table.published-queries.caption", what=pair.caption),
        (
            Column(kit.names.factor(QUERY)),
            *(Column(t(f"table.{name}"), numeric=True) for name in titles),
        ),
        tuple(_row(kit, pair.checks.get(query), query, old, new) for query, old, new in pair.rows),
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
    levels = dict.fromkeys(confidence_percent(kit.t, confidence) for confidence in known)
    return kit.t("list.separator").join(levels) or NOTHING


def _row(kit: Kit, check: Check | None, query: str, old: float, new: float) -> Row:
    effect = None if check is None else check.effect
    return cells(
        query,
        number_cell(old),
        number_cell(new),
        number_cell(old / new, lambda ratio: fixed(ratio, 2)),
        *effect_cells(kit.t, effect, speed=True),
    )


def _workers(kit: Kit) -> Table | None:
    """Printed beside launched and what the rule gives; None where no rule was checked."""
    t = kit.t
    rows = [
        _workers_row(kit, outcome, check)
        for outcome in kit.analysis.claims
        for check in outcome.checks
        if check.kind is WORKERS
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
        *without_unknown(
            (Column(t("table.finding")), Column(kit.names.factor(QUERY)), *columns), rows
        ),
        note=t("table.published-workers.note"),
    )


def _workers_row(kit: Kit, outcome: ClaimOutcome, check: Check) -> Row:
    table = outcome.claim.published
    columns = table.columns if isinstance(table, PublishedQueries) else ()
    (query,) = check.classes[0]
    printed = dict(columns[0].values).get(query) if columns else None
    return cells(
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
        measured = kit.medians(workload, QUERY_TIME.name, factor)
        if measured:
            points += _points(t("word.published"), dict(published.curves[0].points))
        for levels, curve in measured.items():
            points += _points(_label(kit, levels), curve)
    if not points:
        return None
    words = SweepWords(
        title=t("chart.published-workers.title"),
        note=t("chart.published-workers.note"),
        x=t("axis.permitted-workers"),
        y=t("axis.published-speed-up"),
        query=" ",
        workers=" ",
    )
    return sweep_chart(t, "published-workers", points, words)


def _points(label: str, curve: Mapping[float, float]) -> Iterator[SweepPoint]:
    """The speed-up at each level against the first."""
    seconds = curve[min(curve)]
    for level in sorted(curve):
        speed_up = seconds / curve[level]
        yield SweepPoint(label, level, speed_up, None, None, significant(speed_up, 3), NOTHING)


def _label(kit: Kit, levels: Context) -> str:
    """That it was measured, and at which levels of what is varied besides the query."""
    varied = without(levels, QUERY, *kit.names.single)
    word = kit.t("word.measured")
    return f"{word}, {kit.names.context(varied)}" if varied else word
