"""The tables of a campaign by load: one for each workload, side and combination of other levels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from teiten.analysis.lack_of_fit import FEWEST_LEVELS
from teiten.analysis.pairs import Context, observe
from teiten.analysis.scaling import scale
from teiten.model.metrics import TPS
from teiten.model.plan import Plan
from teiten.model.progress import Attempt
from teiten.model.scaling import ScalingResult

LOAD = "clients"
"""The factor whose levels are the load."""

Key = tuple[str, Context, str]
"""Workload, the levels of the other factors, the side."""


def scalings(
    plan: Plan, attempts: Iterable[Attempt], *, cores: int | None
) -> tuple[ScalingResult, ...]:
    """The scaling of every workload, context and side that was planned at four loads or more.

    In the order of the study. Empty where the study's contrast is the load itself: its levels are
    compared by their ratios then.
    """
    study = plan.study
    if study.contrast == LOAD:
        return ()
    tables: dict[Key, dict[float, dict[int, float]]] = {key: {} for key in _planned(plan)}
    for one in observe(plan, attempts):
        load = dict(one.context).get(LOAD)
        table = tables.get((one.workload, _others(one.context), one.side))
        if load is not None and table is not None:
            value = one.metrics.get(TPS.name, math.nan)
            table.setdefault(float(load), {})[one.block] = value
    measure = study.measure
    return tuple(
        ScalingResult(*key, scale(table, delta=measure.delta, alpha=measure.alpha, cores=cores))
        for key, table in tables.items()
    )


def _planned(plan: Plan) -> list[Key]:
    loads: dict[Key, set[str]] = defaultdict(set)
    contrast = plan.study.contrast
    for trial in plan.trials:
        load = trial.cell.level(LOAD)
        if load is not None:
            key = (
                trial.cell.workload,
                _others(trial.cell.context(contrast)),
                trial.cell.level(contrast) or "",
            )
            loads[key].add(load)
    workloads = [one.name for one in plan.study.workloads]
    ranks = {
        (factor.name, level): rank
        for factor in plan.study.factors
        for rank, level in enumerate(factor.levels)
    }

    def in_order(key: Key) -> tuple[int, list[int], int]:
        workload, others, side = key
        place = [ranks.get(pair, 0) for pair in others]
        return workloads.index(workload), place, ranks.get((contrast, side), 0)

    return sorted(
        (key for key, levels in loads.items() if len(levels) >= FEWEST_LEVELS), key=in_order
    )


def _others(context: Context) -> Context:
    return tuple(pair for pair in context if pair[0] != LOAD)
