"""The cells of a study, every combination of levels of each workload, and the levels they have."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from teiten.factors.registry import rule
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names as kinds
from teiten.model.plan import Cell
from teiten.model.setup import PlannedCell
from teiten.model.study import DataSet, Study, Workload
from teiten.plan.setup import setup_of


def cell_groups(study: Study) -> tuple[tuple[Cell, ...], ...]:
    """Cells by context: each group differs in the contrasted factor alone, the old level first."""
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for workload in study.workloads:
        for cell in _cells(study, workload):
            key = (workload.name, cell.context(study.contrast))
            groups.setdefault(key, []).append(cell)
    return tuple(tuple(group) for group in groups.values())


def data_sets(study: Study, workload: Workload) -> tuple[DataSet, ...]:
    """All data sets of a workload, whatever the levels of the factors that change its data."""
    names = [factor.name for factor in study.factors if rule(factor.name).of_data]
    cells = _of_factors(study, workload, names)
    return tuple(dict.fromkeys(setup_of(PlannedCell(study, cell)).data for cell in cells))


def _cells(study: Study, workload: Workload) -> Iterator[Cell]:
    return _of_factors(study, workload, [factor.name for factor in study.factors])


def _of_factors(study: Study, workload: Workload, factors: list[str]) -> Iterator[Cell]:
    names = [name for name in factors if applies(name, workload)]
    for combination in itertools.product(*(levels_of(study, workload, name) for name in names)):
        yield Cell(workload=workload.name, levels=tuple(zip(names, combination, strict=True)))


def applies(factor: str, workload: Workload) -> bool:
    """Whether a factor says anything of a workload. What a kind brings is of that kind alone."""
    known = factor in plan_of(workload.kind).brings or not any(
        factor in plan_of(kind).brings for kind in kinds()
    )
    return known and rule(factor).applies(workload)


def levels_of(study: Study, workload: Workload, factor: str) -> tuple[str, ...]:
    """The levels of a factor in one workload; none where it says nothing of it."""
    if not applies(factor, workload):
        return ()
    limited = workload.own_levels(factor)
    found = study.factor(factor)
    levels = limited if limited is not None else found.levels if found is not None else ()
    own = plan_of(workload.kind).own_levels(workload.options, factor)
    return levels if own is None else tuple(level for level in levels if level in own)


def most_clients(study: Study) -> int:
    """The largest number of clients of any trial."""
    levels = (levels_of(study, workload, "clients") for workload in study.workloads)
    return max((int(level) for found in levels for level in found), default=1)
