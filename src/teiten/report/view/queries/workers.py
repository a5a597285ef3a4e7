"""Workers planned and launched, and what the planner's rules say (2020, tables 6.27, 6.36)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.model.query_results import (
    BLOCK,
    FewerWorkers,
    GatherWorkers,
    QueryResults,
    QueryWorkers,
    WorkerRule,
    WorkerSource,
)
from teiten.report.numbers import NOTHING, bytes_text
from teiten.report.speed import plain_times_text
from teiten.report.tables import Cell, Column, Row, Table
from teiten.report.view.kit import Kit

MOST_NAMED = 6


def workers_table(kit: Kit, name: str, found: QueryResults) -> Table | None:
    """A row for each query and side with a parallel plan; None where there is none."""
    parallel = [one for one in found.workers if one.gathers]
    if not parallel:
        return None
    t = kit.t
    columns = (
        Column(t("factor.query")),
        Column(kit.names.factor(kit.study.contrast)),
        Column(t("table.workers.source")),
        Column(t("table.workers.rule")),
        *(
            Column(t(f"table.workers.{key}"), numeric=True)
            for key in ("by-rule", "expected", "planned", "launched")
        ),
    )
    return Table(
        name=name,
        caption=t("table.workers.caption", workload=kit.names.workload(found.workload)),
        columns=columns,
        rows=tuple(
            _row(kit, one, at)
            for at, one in enumerate(sorted(parallel, key=lambda one: _order(kit, one)))
        ),
        note=t("table.workers.note"),
    )


def _order(kit: Kit, one: QueryWorkers) -> tuple[tuple[int, ...], int]:
    return kit.names.order(one.context), list(kit.names.sides).index(one.side)


def _row(kit: Kit, one: QueryWorkers, at: int) -> Row:
    main = one.gathers[0]
    source = main.source
    odd = main.follows is False
    return (
        Cell(kit.names.context(one.context), float(at), kind="left"),
        Cell(kit.short(one.side)),
        Cell(source_text(kit, source)),
        Cell(kit.t(f"worker-rule.{source.rule.value}") if source else NOTHING),
        _number(source.workers if source else None, at_most=bool(source and source.at_most)),
        _number(main.expected, at_most=bool(source and source.at_most)),
        Cell(
            "+".join(str(gather.planned) for gather in one.gathers),
            float(main.planned),
            kind="differs" if odd else "",
        ),
        Cell(
            "+".join(
                NOTHING if gather.launched is None else str(gather.launched)
                for gather in one.gathers
            ),
            float(main.launched or 0),
            kind="differs" if main.starved else "",
        ),
    )


def _number(value: int | None, *, at_most: bool) -> Cell:
    if value is None:
        return Cell(NOTHING)
    return Cell(f"≤ {value}" if at_most else str(value), float(value))


def source_text(kit: Kit, source: WorkerSource | None) -> str:
    """``lineorder, 59.2 GiB``; ``lineorder, 84 partitions``"""
    if source is None:
        return NOTHING
    if source.rule is WorkerRule.PARTITIONS:
        return kit.t("worker-source.partitions", relation=source.relation, count=source.members)
    if source.pages is None:
        return source.relation
    size = bytes_text(source.pages * BLOCK)
    return kit.t("worker-source.size", relation=source.relation, size=size)


def workers_findings(kit: Kit, found: QueryResults) -> tuple[str, ...]:
    """Where the rule differs from what was planned, where workers were missing, what is serial."""
    parallel = [one for one in found.workers if one.gathers]
    if not parallel:
        return ()
    return (
        *_rule_findings(kit, parallel),
        *_starved_findings(kit, parallel),
        *_serial_findings(kit, found.workers),
    )


def _rule_findings(kit: Kit, parallel: Sequence[QueryWorkers]) -> Iterator[str]:
    t = kit.t
    judged = [(one, gather) for one in parallel for gather in one.gathers[:1]]
    known = [(one, gather) for one, gather in judged if gather.follows is not None]
    if not known:
        yield t("workers.no-rule")
        return
    odd = [(one, gather) for one, gather in known if gather.follows is False]
    if not odd:
        yield t("workers.all-follow", count=len(known))
    for one, gather in odd[:MOST_NAMED]:
        yield t(
            "workers.differs",
            query=_named(kit, one),
            planned=gather.planned,
            expected=gather.expected,
            source=source_text(kit, gather.source),
        )
    if len(odd) > MOST_NAMED:
        yield t("workers.more-differ", count=len(odd) - MOST_NAMED, of=len(known))


def _starved_findings(kit: Kit, parallel: Sequence[QueryWorkers]) -> Iterator[str]:
    starved = [(one, gather) for one in parallel for gather in one.gathers if gather.starved]
    if not starved:
        yield kit.t("workers.all-launched")
    for one, gather in starved[:MOST_NAMED]:
        limited = one.limits is not None and one.limits.free < gather.planned
        yield kit.t(
            "workers.limited" if limited else "workers.starved",
            query=_named(kit, one),
            planned=gather.planned,
            launched=gather.launched,
            limit=one.limits.free if one.limits else NOTHING,
        )
    if len(starved) > MOST_NAMED:
        yield kit.t("workers.more-starved", count=len(starved) - MOST_NAMED)


def _serial_findings(kit: Kit, workers: Sequence[QueryWorkers]) -> Iterator[str]:
    serial = [
        one for one in workers if not one.gathers and one.limits and one.limits.per_gather > 0
    ]
    if serial:
        named = [_named(kit, one) for one in serial[:MOST_NAMED]]
        listed = kit.t("list.separator").join(named)
        more = len(serial) - MOST_NAMED
        if more > 0:
            listed = kit.t("query-group.more", queries=listed, count=more)
        yield kit.t("workers.serial", queries=listed)


def _named(kit: Kit, one: QueryWorkers) -> str:
    query = kit.names.context(one.context)
    return kit.t("workers.query-of-side", query=query, side=kit.short(one.side))


def fewer_workers(kit: Kit, reasons: Sequence[FewerWorkers], old: str, new: str) -> Iterator[str]:
    """Why a parallel query is slower where its plan begins with something smaller."""
    for one in reasons:
        yield kit.t(
            "workers.fewer",
            query=kit.names.context(one.context),
            factor=plain_times_text(one.slower),
            new=kit.short(new),
            old=kit.short(old),
            new_source=_begins(kit, one.new),
            old_source=_begins(kit, one.old),
            new_planned=one.new.planned,
            old_planned=one.old.planned,
        )


def _begins(kit: Kit, gather: GatherWorkers) -> str:
    return source_text(kit, gather.source)
