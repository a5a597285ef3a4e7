"""Which level of a factor a cell, a workload or a study has."""

from __future__ import annotations

from teiten.factors.registry import rule
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names as kinds
from teiten.model.study import Study, Workload


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
