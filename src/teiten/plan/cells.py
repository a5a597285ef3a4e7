"""The cells of a study: every combination of levels of each workload."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from teiten.kinds.pgbench.model import NAME as PGBENCH
from teiten.kinds.queries.model import NAME as QUERIES
from teiten.kinds.queries.model import queries_of
from teiten.model.plan import Cell
from teiten.model.study import DataSet, Study, Workload

LAYOUT = "layout"
_OF_OTHER_KINDS = {
    PGBENCH: frozenset({"query"}),
    QUERIES: frozenset({"clients", "query_mode"}),
}
"""Factors that say nothing of a workload of this kind."""


def cell_groups(study: Study) -> tuple[tuple[Cell, ...], ...]:
    """Cells by context: each group differs in the contrasted factor alone, the old level first."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for workload in study.workloads:
        for cell in _cells(study, workload):
            key = (workload.name, cell.context(study.contrast))
            groups.setdefault(key, []).append(cell)
    return tuple(tuple(group) for group in groups.values())


def levels_of(study: Study, workload: Workload, factor: str) -> tuple[str, ...]:
    """The levels of a factor in one workload."""
    if factor == "clients" and workload.clients:
        return workload.clients
    if factor in _OF_OTHER_KINDS[workload.kind]:
        return ()
    if factor == "query":
        names = {query.name for query in queries_of(workload).queries}
        named = study.factor(factor)
        return tuple(level for level in named.levels if level in names) if named else ()
    own = dict(workload.levels).get(factor)
    if own is not None:
        return own
    found = study.factor(factor)
    return found.levels if found is not None else ()


def data_of(workload: Workload, cell: Cell) -> DataSet:
    """The tables of a cell: the workload's, in the layout of the cell."""
    name = cell.level(LAYOUT)
    return workload.data if name is None else replace(workload.data, layout=workload.layout(name))


def data_sets(study: Study, workload: Workload) -> tuple[DataSet, ...]:
    """All data sets of a workload: one for each of its layouts that is a level."""
    names = levels_of(study, workload, LAYOUT) if workload.layouts else ()
    return tuple(replace(workload.data, layout=workload.layout(name)) for name in names) or (
        workload.data,
    )


def level_of(study: Study, cell: Cell, factor: str) -> str | None:
    """The level of a factor in a cell: its own, or the one that belongs to its server's alias."""
    own = cell.level(factor)
    if own is not None:
        return own
    alias = dict(study.server_levels).get(cell.level("server") or "", ())
    return dict(alias).get(factor)


def every_level(study: Study, factor: str) -> tuple[str, ...]:
    """The levels of a factor in all cells, those of servers' aliases among them."""
    found = study.factor(factor)
    of_aliases = (dict(levels).get(factor) for _, levels in study.server_levels)
    return (*(found.levels if found else ()), *(level for level in of_aliases if level))


def most_clients(study: Study) -> int:
    """The largest number of clients of any trial."""
    return max(
        (
            int(level)
            for workload in study.workloads
            for level in levels_of(study, workload, "clients")
        ),
        default=1,
    )


def _cells(study: Study, workload: Workload) -> Iterator[Cell]:
    other = _OF_OTHER_KINDS[workload.kind] | (set() if workload.layouts else {LAYOUT})
    names = [factor.name for factor in study.factors if factor.name not in other]
    for combination in itertools.product(*(levels_of(study, workload, name) for name in names)):
        yield Cell(workload=workload.name, levels=tuple(zip(names, combination, strict=True)))
