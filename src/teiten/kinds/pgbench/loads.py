"""The tables of a campaign by load: one for each workload, side and combination of other levels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from teiten.analysis.model.observations import Context
from teiten.analysis.model.scaling import ScalingResult
from teiten.analysis.scaling.curve import scale
from teiten.analysis.scaling.usl import FEWEST_LEVELS
from teiten.analysis.verdict.pairs import observe
from teiten.kinds.pgbench.metrics import TPS
from teiten.model.plan import Plan
from teiten.model.trial import Attempt
from teiten.ways.registry import way_of

CLIENTS = "clients"
CORES = "cores"
SERVER = "server"
FEWEST_CORES = 2
"""Numbers of cores from which there is an efficiency; a curve needs more."""

Key = tuple[str, Context, str]
"""Workload, the levels of the other factors, the side."""


@dataclass(frozen=True)
class _Axis:
    """The factor that is the load, and the one that tells the curves apart."""

    load: str
    side: str
    fewest: int

    def key(self, workload: str, levels: Context) -> Key:
        others = tuple(pair for pair in levels if pair[0] not in (self.load, self.side))
        return workload, others, dict(levels).get(self.side, "")


def scalings(
    plan: Plan, attempts: Iterable[Attempt], workloads: Collection[str], *, cores: int | None
) -> tuple[ScalingResult, ...]:
    """The scaling of every context and side of these workloads that was planned at four loads or
    more.

    In the order of the study. The load is the clients; where the study contrasts the cores, they
    are, from two levels on, and the sides are the servers. Empty where the study's contrast is the
    clients: its levels are compared by their ratios then; and where the clients of a load are
    spread over two servers: neither has so many.
    """
    study, way = plan.study, way_of(plan.study.measure)
    if study.contrast == CLIENTS or (way.concurrent and not way.in_step):
        return ()
    by_cores = study.contrast == CORES
    axis = (
        _Axis(CORES, SERVER, FEWEST_CORES)
        if by_cores
        else _Axis(CLIENTS, study.contrast, FEWEST_LEVELS)
    )
    planned = _planned(plan, axis, workloads)
    tables: dict[Key, dict[float, dict[int, float]]] = {key: {} for key in planned}
    for one in observe(plan, attempts):
        levels = (*one.context, (study.contrast, one.side))
        load = dict(levels).get(axis.load)
        table = tables.get(axis.key(one.workload, levels))
        if load is not None and table is not None:
            value = one.metrics.get(TPS.name, math.nan)
            table.setdefault(float(load), {})[one.block] = value
    measure = study.measure
    return tuple(
        ScalingResult(
            *key,
            scale(
                table,
                delta=measure.delta,
                alpha=measure.alpha,
                cores=None if by_cores else cores,
            ),
            axis.load,
        )
        for key, table in tables.items()
    )


def _planned(plan: Plan, axis: _Axis, only: Collection[str]) -> list[Key]:
    loads: dict[Key, set[str]] = defaultdict(set)
    for trial in plan.trials:
        load = trial.cell.level(axis.load)
        if load is not None and trial.cell.workload in only:
            loads[axis.key(trial.cell.workload, trial.cell.levels)].add(load)

    def in_order(key: Key) -> tuple[int, list[int]]:
        workload, others, side = key
        return plan.study.place(workload, (*others, (axis.side, side)))

    return sorted(
        (key for key, levels in loads.items() if len(levels) >= axis.fewest), key=in_order
    )
