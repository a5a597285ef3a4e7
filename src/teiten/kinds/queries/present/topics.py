"""The results of a workload of queries in the report, beside verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from teiten.analysis.model.findings import ContrastResult
from teiten.kinds.queries.model import QUERY_TIME
from teiten.kinds.queries.present import sweep
from teiten.kinds.queries.present.groups import contrast_of, group_table
from teiten.kinds.queries.present.plans import node_tables
from teiten.kinds.queries.present.tables import blocks_table, shared_table
from teiten.kinds.queries.present.times import speed_forest, time_bars
from teiten.kinds.queries.present.workers import fewer_workers, workers_findings, workers_table
from teiten.kinds.queries.results import QueryContrast, QueryResults, queries_found
from teiten.report.blocks import Block, Heading, Items
from teiten.report.charts.base import Chart
from teiten.report.tables import Table
from teiten.report.view.kit import Kit


def results_of(kit: Kit, workload: str) -> QueryResults | None:
    """Find the results of a workload of queries; None for others."""
    found = queries_found(kit.analysis).workloads
    return next((one for one in found if one.workload == workload), None)


def charts(kit: Kit, prefix: str, found: QueryResults) -> tuple[Chart, ...]:
    """Times and speed-ups."""
    if found.sweeps:
        drawn = sweep.chart(kit, f"{prefix}-sweep", found)
        return (drawn,) if drawn else ()
    compared = _contrasts(kit, found)
    forests = (
        speed_forest(kit, f"{prefix}-speed-{at + 1}", one) for at, (one, _) in enumerate(compared)
    )
    shown = (time_bars(kit, prefix, found), *forests)
    return tuple(one for one in shown if one is not None)


def topics(kit: Kit, prefix: str, found: QueryResults) -> Iterator[Block]:
    """Groups, sweeps, workers, blocks and partitions, node statistics: those that say anything."""
    for part in (_sweeps, _groups, _workers, _tables, _nodes):
        yield from part(kit, prefix, found)


def _contrasts(kit: Kit, found: QueryResults) -> list[tuple[ContrastResult, QueryContrast]]:
    compared = []
    for contrast in kit.analysis.contrasts:
        if contrast.workload == found.workload and contrast.metric is QUERY_TIME:
            own = contrast_of(kit, contrast)
            if own is not None:
                compared.append((contrast, own))
    return compared


def _topic(
    kit: Kit, key: str, findings: tuple[str, ...], tables: Sequence[Table]
) -> Iterator[Block]:
    """A heading with what is said and shown below it; nothing of nothing."""
    if findings or tables:
        yield Heading(4, kit.t(f"query-topic.{key}"))
    if findings:
        yield Items(findings, "findings")
    yield from tables


def _sweeps(kit: Kit, prefix: str, found: QueryResults) -> Iterable[Block]:
    tables = [
        sweep.table(kit, f"{prefix}-sweep-{at + 1}", one) for at, one in enumerate(found.sweeps)
    ]
    return _topic(kit, "sweep", sweep.findings(kit, found), tables)


def _groups(kit: Kit, prefix: str, found: QueryResults) -> Iterable[Block]:
    if found.sweeps:
        return ()
    tables = [
        group_table(kit, f"{prefix}-groups-{at + 1}", own, one)
        for at, (one, own) in enumerate(_contrasts(kit, found))
    ]
    return _topic(kit, "groups", (), [table for table in tables if table is not None])


def _workers(kit: Kit, prefix: str, found: QueryResults) -> Iterable[Block]:
    findings = workers_findings(kit, found)
    reasons = tuple(
        line
        for one, own in _contrasts(kit, found)
        for line in fewer_workers(kit, own.fewer_workers, one.old, one.new)
    )
    shown = None if found.sweeps else workers_table(kit, f"{prefix}-workers", found)
    return _topic(kit, "workers", (*reasons, *findings), [shown] if shown else [])


def _tables(kit: Kit, prefix: str, found: QueryResults) -> Iterable[Block]:
    if found.sweeps:
        return ()
    tables = [blocks_table(kit, f"{prefix}-blocks", found)]
    shown = dict.fromkeys(
        context
        for _, own in _contrasts(kit, found)
        for context in (own.loss, own.gain)
        if context is not None
    )
    tables += [
        shared_table(kit, f"{prefix}-shared-{at + 1}", found.tables, context)
        for at, context in enumerate(list(shown)[:2])
    ]
    return _topic(kit, "tables", (), [table for table in tables if table is not None])


def _nodes(kit: Kit, prefix: str, found: QueryResults) -> Iterable[Block]:
    if found.sweeps:
        return ()
    tables = [
        table
        for at, (_, own) in enumerate(_contrasts(kit, found))
        for table in node_tables(kit, f"{prefix}-nodes-{at + 1}", found.workload, own)
    ]
    return _topic(kit, "nodes", (), tables)
