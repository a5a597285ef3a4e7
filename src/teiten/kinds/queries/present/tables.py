"""Blocks and partitions of each query's greatest table (2020 §6.5.5.2), and who shared a scan
(table 6.38); workers planned and launched, and what the planner's rules say (tables 6.27, 6.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from teiten.analysis.model.explain import (
    BLOCK,
    GatherWorkers,
    TableUse,
    WorkerRule,
    WorkerSource,
)
from teiten.kinds.queries.model import QUERY, queries_of
from teiten.kinds.queries.present.times import (
    MOST_NAMED,
    context_cells,
    context_columns,
    listed,
    varied_factors,
)
from teiten.kinds.queries.results import FewerWorkers, QueryResults, QueryWorkers
from teiten.model.plan import Context
from teiten.report.effects import plain_times_text
from teiten.report.numbers import NOTHING, bytes_text, significant
from teiten.report.plans.tables import count, duration
from teiten.report.tables import Column, Row, Table, TableCell, number_cell
from teiten.report.view.kit import Kit

PARTED = ("scanned", "skipped", "pruned")
"""Columns of the partitions, where one side has them."""
TELLING = 1.1
"""Blocks of the sides whose ratio never reaches it are not worth a table."""


Uses = Mapping[str, TableUse]
"""A query's use of its greatest table, by side."""
ColumnOfUses = tuple[Column, Callable[[Uses], TableCell]]


def blocks_table(kit: Kit, name: str, results: QueryResults) -> Table | None:
    """Blocks touched on each side, with the partitions; None where both say nothing."""
    by_query: dict[Context, dict[str, TableUse]] = {}
    for use in sorted(results.tables, key=lambda use: kit.names.order(use.context)):
        by_query.setdefault(use.context, {})[use.side] = use
    parted = {use.side for use in results.tables if use.partitions is not None}
    if not by_query or not (parted or _differ(by_query)):
        return None
    t = kit.t
    tables = list(dict.fromkeys(use.table for use in results.tables))
    factors = varied_factors(kit, by_query)
    columns = list(_columns(kit, results, kit.sides_of(parted)))
    return Table(
        name=name,
        caption=t(
            "table.use.caption" if len(tables) == 1 else "table.use.caption-several",
            table=tables[0],
            workload=kit.names.workload(results.workload),
        ),
        columns=(*context_columns(kit, factors), *(column for column, _ in columns)),
        rows=tuple(
            (*context_cells(kit, context, factors), *(cell(uses) for _, cell in columns))
            for context, uses in by_query.items()
        ),
        note=t("table.use.note") + (t("table.use.note-left-out") if len(parted) == 1 else ""),
    )


def _columns(kit: Kit, results: QueryResults, parted: Sequence[str]) -> Iterator[ColumnOfUses]:
    """``parted``: the sides with partitions."""
    t = kit.t
    groups = queries_of(kit.study.workload(results.workload)).groups
    titles = {query: t.of(group.title) for group in groups for query in group.queries}
    if titles:
        yield Column(t("table.query-group")), lambda uses: TableCell(_group(titles, uses))
    if len({use.table for use in results.tables}) > 1:
        yield Column(t("table.use.table")), lambda uses: TableCell(_any(uses).table)
    sides = kit.sides_of(use.side for use in results.tables)
    for side in sides:
        column = Column(t("table.use.blocks", side=kit.short(side)), numeric=True)
        yield column, partial(_blocks, side)
    if len(sides) == 2:
        yield Column(t("table.use.ratio"), numeric=True), partial(_ratio, sides[0], sides[1])
    for side in parted:
        for key in PARTED if len(parted) == 1 else ("scanned-of",):
            column = Column(t(f"table.use.{key}", side=kit.short(side)), numeric=True)
            yield column, partial(_partitions, side, key)


def _any(uses: Uses) -> TableUse:
    return next(iter(uses.values()))


def _group(titles: Mapping[str, str], uses: Uses) -> str:
    return titles.get(dict(_any(uses).context).get(QUERY, ""), NOTHING)


def _blocks(side: str, uses: Uses) -> TableCell:
    return number_cell(uses[side].blocks if side in uses else None, count)


def _ratio(first: str, second: str, uses: Uses) -> TableCell:
    old, new = (uses[side].blocks if side in uses else None for side in (first, second))
    return number_cell(None if not old or new is None else new / old, significant)


def _partitions(side: str, key: str, uses: Uses) -> TableCell:
    use = uses[side].partitions if side in uses else None
    if use is None:
        return TableCell(NOTHING)
    if key in PARTED:
        return number_cell(getattr(use, key), count)
    total = NOTHING if use.partitions is None else str(use.partitions)
    return TableCell(f"{use.scanned} / {total}", float(use.scanned))


def _differ(by_query: Mapping[Context, Uses]) -> bool:
    for uses in by_query.values():
        blocks = [use.blocks for use in uses.values() if use.blocks]
        if blocks and max(blocks) > TELLING * min(blocks):
            return True
    return False


def shared_table(kit: Kit, name: str, tables: Sequence[TableUse], context: Context) -> Table | None:
    """Show how many scans of partitions of one query had how many workers, on each side."""
    uses = [table for table in tables if table.context == context and table.shared]
    if not uses:
        return None
    t = kit.t
    numbers = sorted({scan.workers for use in uses for scan in use.shared}, reverse=True)
    return Table(
        name=name,
        caption=t("table.shared.caption", query=kit.names.context(context), table=uses[0].table),
        columns=(
            Column(t("table.shared.workers"), numeric=True),
            *(
                Column(t(f"table.shared.{key}", side=kit.short(use.side)), numeric=True)
                for use in uses
                for key in ("scans", "mean")
            ),
        ),
        rows=tuple(
            (TableCell(str(workers), float(workers)), *_shared_cells(uses, workers))
            for workers in numbers
        ),
        note=t("table.shared.note"),
    )


def _shared_cells(uses: Sequence[TableUse], workers: int) -> Iterator[TableCell]:
    for use in uses:
        known = next((scan for scan in use.shared if scan.workers == workers), None)
        yield number_cell(known.scans if known else 0, count)
        yield number_cell(known.seconds if known else None, duration)


def workers_table(kit: Kit, name: str, results: QueryResults) -> Table | None:
    """A row for each query, two columns for each side; None where no plan is parallel."""
    sides = kit.sides_of(worker.side for worker in results.workers if worker.gathers)
    if not sides:
        return None
    t = kit.t
    rows: dict[Context, dict[str, QueryWorkers]] = {}
    parallel = {worker.context for worker in results.workers if worker.gathers}
    for worker in sorted(results.workers, key=lambda worker: kit.names.order(worker.context)):
        if worker.context in parallel:
            rows.setdefault(worker.context, {})[worker.side] = worker
    factors = varied_factors(kit, rows)
    return Table(
        name=name,
        caption=t("table.workers.caption", workload=kit.names.workload(results.workload)),
        columns=(
            *context_columns(kit, factors),
            *(
                Column(t(f"table.workers.{key}", side=kit.short(side)))
                for side in sides
                for key in ("source-of", "numbers-of")
            ),
        ),
        rows=tuple(
            (
                *context_cells(kit, context, factors),
                *(cell for side in sides for cell in _cells(kit, of_query.get(side))),
            )
            for context, of_query in rows.items()
        ),
        note=t("table.workers.note"),
    )


def _cells(kit: Kit, workers: QueryWorkers | None) -> Row:
    if workers is None:
        return TableCell(NOTHING), TableCell(NOTHING)
    main = workers.main
    if main is None:
        return TableCell(kit.t("workers.serial-plan"), kind="muted"), TableCell(NOTHING)
    numbers = (
        _expected(main),
        "+".join(str(gather.planned) for gather in workers.gathers),
        "+".join(
            NOTHING if gather.launched is None else str(gather.launched)
            for gather in workers.gathers
        ),
    )
    odd = main.follows is False or main.starved
    return (
        TableCell(source_text(kit, main.source)),
        TableCell(" / ".join(numbers), float(main.planned), kind="left differs" if odd else "left"),
    )


def _expected(main: GatherWorkers) -> str:
    """``9``; ``9 → 2`` where a parameter permits fewer than the rule gives."""
    if main.source is None or main.expected is None:
        return NOTHING
    sign = "≤ " if main.source.at_most else ""
    if main.expected < main.source.workers:
        return f"{sign}{main.source.workers} → {main.expected}"
    return f"{sign}{main.expected}"


def source_text(kit: Kit, source: WorkerSource | None) -> str:
    """``lineorder, 59.2 GiB``; ``lineorder, 84 partitions``"""
    if source is None:
        return NOTHING
    if source.rule is WorkerRule.PARTITIONS:
        return kit.t("worker-source.partitions", relation=source.relation, count=source.members)
    if source.rule is WorkerRule.SET:
        return kit.t("worker-source.set", relation=source.relation, count=source.workers)
    if source.pages is None:
        return source.relation
    size = bytes_text(source.pages * BLOCK)
    return kit.t("worker-source.size", relation=source.relation, size=size)


def workers_findings(kit: Kit, results: QueryResults) -> tuple[str, ...]:
    """Where the rule differs from what was planned, where workers were missing, what is serial."""
    parallel = [worker for worker in results.workers if worker.gathers]
    if not parallel:
        return ()
    return (
        *_rule_findings(kit, parallel),
        *_starved_findings(kit, parallel),
        *_serial_findings(kit, results.workers),
    )


def _rule_findings(kit: Kit, parallel: Sequence[QueryWorkers]) -> Iterator[str]:
    t = kit.t
    judged = [(worker, gather) for worker in parallel for gather in worker.gathers[:1]]
    known = [(worker, gather) for worker, gather in judged if gather.follows is not None]
    if not known:
        yield t("workers.no-rule")
        return
    odd = [(worker, gather) for worker, gather in known if gather.follows is False]
    if not odd and len(known) < len(judged):
        yield t("workers.some-follow", count=len(known), of=len(judged))
    elif not odd:
        yield t.plural("workers.all-follow", len(known))
    for worker, gather in odd[:MOST_NAMED]:
        yield t(
            "workers.differs",
            query=_named(kit, worker),
            planned=gather.planned,
            expected=gather.expected,
            source=source_text(kit, gather.source),
        )
    if len(odd) > MOST_NAMED:
        yield t("workers.more-differ", count=len(odd) - MOST_NAMED, of=len(known))


def _starved_findings(kit: Kit, parallel: Sequence[QueryWorkers]) -> Iterator[str]:
    starved = [
        (worker, gather) for worker in parallel for gather in worker.gathers if gather.starved
    ]
    seen = [gather.launched is not None for worker in parallel for gather in worker.gathers]
    if not starved and any(seen):
        yield kit.t("workers.all-launched" if all(seen) else "workers.executed-launched")
    for worker, gather in starved[:MOST_NAMED]:
        limited = worker.limits is not None and worker.limits.free < gather.planned
        yield kit.t(
            "workers.limited" if limited else "workers.starved",
            query=_named(kit, worker),
            planned=gather.planned,
            launched=gather.launched,
            limit=worker.limits.free if worker.limits else NOTHING,
        )
    if len(starved) > MOST_NAMED:
        yield kit.t("workers.more-starved", count=len(starved) - MOST_NAMED)


def _serial_findings(kit: Kit, workers: Sequence[QueryWorkers]) -> Iterator[str]:
    serial = [
        worker
        for worker in workers
        if not worker.gathers and worker.limits and worker.limits.per_gather > 0
    ]
    if serial:
        named = [_named(kit, worker) for worker in serial]
        yield kit.t("workers.serial", queries=listed(kit, named))


def _named(kit: Kit, workers: QueryWorkers) -> str:
    query = kit.names.context(workers.context)
    return kit.t("workers.query-of-side", query=query, side=kit.names.titled(workers.side))


def fewer_workers(kit: Kit, reasons: Sequence[FewerWorkers], old: str, new: str) -> Iterator[str]:
    """Why a parallel query is slower where its plan begins with something smaller."""
    for reason in reasons:
        yield kit.t.plural(
            "workers.fewer",
            reason.new.planned,
            query=kit.names.context(reason.context),
            factor=plain_times_text(reason.slower),
            new=kit.names.titled(new),
            old=kit.names.titled(old),
            new_source=source_text(kit, reason.new.source),
            old_source=source_text(kit, reason.old.source),
            old_planned=reason.old.planned,
        )
