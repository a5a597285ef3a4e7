"""Workers planned and launched, and what the planner's rules say (2020, tables 6.27, 6.36)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.explain import BLOCK, GatherWorkers, WorkerRule, WorkerSource
from teiten.analysis.model.observations import Context
from teiten.kinds.queries.present.times import (
    MOST_NAMED,
    context_cells,
    context_columns,
    listed,
    varied_factors,
)
from teiten.kinds.queries.results import FewerWorkers, QueryResults, QueryWorkers
from teiten.report.effects import plain_times_text
from teiten.report.numbers import NOTHING, bytes_text
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.view.kit import Kit


def workers_table(kit: Kit, name: str, results: QueryResults) -> Table | None:
    """A row for each query, with two columns for each side that has a parallel plan; None where no
    side has one."""
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
            new_source=_begins(kit, reason.new),
            old_source=_begins(kit, reason.old),
            old_planned=reason.old.planned,
        )


def _begins(kit: Kit, gather: GatherWorkers) -> str:
    return source_text(kit, gather.source)
