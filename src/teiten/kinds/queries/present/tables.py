"""Blocks and partitions of each query's greatest table (2020 §6.5.5.2), and who shared a scan
(table 6.38)."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.analysis.model.explain import PartitionUse, TableUse
from teiten.analysis.model.observations import Context
from teiten.kinds.queries.model import QUERY, queries_of
from teiten.kinds.queries.present.times import context_cells, context_columns, varied_factors
from teiten.kinds.queries.results import QueryResults
from teiten.report.numbers import NOTHING, significant
from teiten.report.plans.tables import count, duration
from teiten.report.tables import Column, Row, Table, TableCell, number_cell
from teiten.report.view.kit import Kit

PARTED = ("scanned", "skipped", "pruned")
"""Columns of the partitions, where one side has them."""
TELLING = 1.1
"""Blocks of the sides whose ratio never reaches it are not worth a table."""


def blocks_table(kit: Kit, name: str, results: QueryResults) -> Table | None:
    """Blocks touched on each side, with the partitions; None where both say nothing."""
    by_query = _by_query(kit, results.tables)
    sides = kit.sides_of(table.side for table in results.tables)
    parted = [
        side
        for side in sides
        if any(table.partitions is not None for table in results.tables if table.side == side)
    ]
    if not by_query or not (parted or _differ(by_query)):
        return None
    t = kit.t
    tables = list(dict.fromkeys(table.table for table in results.tables))
    groups = _group_titles(kit, results.workload)
    factors = varied_factors(kit, by_query)
    columns = (
        *context_columns(kit, factors),
        *([Column(t("table.query-group"))] if groups else []),
        *([Column(t("table.use.table"))] if len(tables) > 1 else []),
        *(Column(t("table.use.blocks", side=kit.short(side)), numeric=True) for side in sides),
        *([Column(t("table.use.ratio"), numeric=True)] if len(sides) == 2 else []),
        *(
            Column(t(f"table.use.{key}", side=kit.short(side)), numeric=True)
            for side in parted
            for key in (PARTED if len(parted) == 1 else ("scanned-of",))
        ),
    )
    return Table(
        name=name,
        caption=t(
            "table.use.caption" if len(tables) == 1 else "table.use.caption-several",
            table=tables[0],
            workload=kit.names.workload(results.workload),
        ),
        columns=columns,
        rows=tuple(
            (
                *context_cells(kit, context, factors),
                *_row(dict(context).get(QUERY, ""), uses, (sides, parted, groups, len(tables) > 1)),
            )
            for context, uses in by_query.items()
        ),
        note=t("table.use.note") + (t("table.use.note-left-out") if len(parted) == 1 else ""),
    )


Shape = tuple[Sequence[str], Sequence[str], dict[str, str], bool]
"""All sides, those with partitions, the titles of the groups by query, whether tables differ."""


def _row(query: str, uses: dict[str, TableUse], shape: Shape) -> Row:
    sides, parted, groups, several = shape
    blocks = [uses[side].blocks if side in uses else None for side in sides]
    parts = [uses[side].partitions if side in uses else None for side in parted]
    return (
        *([TableCell(groups.get(query, NOTHING))] if groups else []),
        *([TableCell(next(iter(uses.values())).table)] if several else []),
        *(number_cell(block, count) for block in blocks),
        *([_ratio(*blocks)] if len(blocks) == 2 else []),
        *(cell for part in parts for cell in _parts(part, alone=len(parts) == 1)),
    )


def _parts(use: PartitionUse | None, *, alone: bool) -> tuple[TableCell, ...]:
    if use is None:
        return (TableCell(NOTHING),) * (len(PARTED) if alone else 1)
    if alone:
        return tuple(number_cell(parts, count) for parts in (use.scanned, use.skipped, use.pruned))
    total = NOTHING if use.partitions is None else str(use.partitions)
    return (TableCell(f"{use.scanned} / {total}", float(use.scanned)),)


def _ratio(old: int | None, new: int | None) -> TableCell:
    return number_cell(None if not old or new is None else new / old, significant)


def _differ(by_query: dict[Context, dict[str, TableUse]]) -> bool:
    for uses in by_query.values():
        blocks = [use.blocks for use in uses.values() if use.blocks]
        if blocks and max(blocks) > TELLING * min(blocks):
            return True
    return False


def _by_query(kit: Kit, tables: Sequence[TableUse]) -> dict[Context, dict[str, TableUse]]:
    by_query: dict[Context, dict[str, TableUse]] = {}
    for table in sorted(tables, key=lambda table: kit.names.order(table.context)):
        by_query.setdefault(table.context, {})[table.side] = table
    return by_query


def _group_titles(kit: Kit, workload: str) -> dict[str, str]:
    groups = queries_of(kit.study.workload(workload)).groups
    return {query: kit.t.of(group.title) for group in groups for query in group.queries}


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


def _shared_cells(uses: Sequence[TableUse], workers: int) -> list[TableCell]:
    cells: list[TableCell] = []
    for use in uses:
        known = next((scan for scan in use.shared if scan.workers == workers), None)
        cells.append(
            TableCell(count(known.scans), float(known.scans)) if known else TableCell("0", 0.0)
        )
        cells.append(
            TableCell(duration(known.seconds), float(known.seconds))
            if known
            else TableCell(NOTHING)
        )
    return cells
