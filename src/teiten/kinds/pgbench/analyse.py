"""From the trials of loads of pgbench to their results: how they scale, latency's tail, and what
limits plateaus.

Latency's tail is p99 less p50 of each trial, in seconds, compared between the sides. As a
difference of times it is the same where every transaction of a side costs a constant more; as a
ratio of them it would be shorter there, though no transaction has become faster.

The level of which limits are judged is the greatest load whose throughput is near the greatest one:
what limits it is what keeps more load from giving more. It is a plateau where throughput no longer
grew at the greatest load.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

from teiten.analysis.across.fingerprint import commands_of
from teiten.analysis.model.discussion import Tail, TailLevel
from teiten.analysis.model.findings import Measured, TrialView
from teiten.analysis.model.observations import without
from teiten.analysis.model.scaling import ScalingResult
from teiten.analysis.scaling.bottleneck import judge, read
from teiten.analysis.scaling.curve import scale
from teiten.analysis.scaling.usl import FEWEST_LEVELS
from teiten.analysis.verdict.carry_over import carry_overs
from teiten.analysis.verdict.changes import change, deciding_half_width_of, paired_views
from teiten.analysis.verdict.pairs import observe
from teiten.kinds.contract_analyse import KindAnalysis, Unlike, unlike_rows
from teiten.kinds.pgbench.metrics import TPS
from teiten.kinds.pgbench.model import PgbenchClients, clients_of, pgbench_of
from teiten.kinds.pgbench.placements import placements
from teiten.kinds.pgbench.results import PgbenchFound
from teiten.kinds.pgbench.scale_out import scale_outs
from teiten.model.bottleneck import BottleneckResult
from teiten.model.facts import HostFacts
from teiten.model.plan import Context, Plan, PlannedTrial
from teiten.model.study import SERVER, Workload
from teiten.model.trial import Attempt
from teiten.ways.registry import way_of


class PgbenchAnalysis(KindAnalysis):
    by_pgbench: ClassVar[bool] = True

    def results(self, measured: Measured) -> PgbenchFound:
        plan, facts = measured.plan, measured.facts
        scaling = scalings(plan, measured.views, measured.workloads, cores=facts.cpu.logical)
        observed = observe(plan, measured.views)
        left = tuple(
            (workload, carry_over)
            for workload in measured.workloads
            for carry_over in carry_overs(
                plan, workload, [o for o in observed if o.workload == workload]
            )
        )
        return PgbenchFound(
            scaling,
            bottlenecks(plan, facts, measured.views, scaling),
            placements(plan, measured.views, measured.workloads),
            left,
            scale_outs(plan, measured.views, measured.workloads),
            tuple(tails(plan, measured.views)),
        )

    def identity(self, workload: Workload) -> dict[str, Any]:
        load = pgbench_of(workload)
        levels = {level: commands_of(script) for level, script in load.statements}
        return {
            "script": commands_of(load.script),
            **({"statements": levels} if levels else {}),
            "mode": load.query_mode.value,
            "options": list(load.pgbench_options),
            **({"reconnect": True} if load.reconnect else {}),
            **({} if load.variables is None else {"variables": load.variables.digest}),
        }

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        here, there = pgbench_of(a), pgbench_of(b)
        if commands_of(here.script) != commands_of(there.script):
            yield Unlike("script", here.source, there.source)
        yield unlike_rows(here.variables, there.variables)
        yield Unlike("query-mode", here.query_mode.value, there.query_mode.value)
        yield Unlike("pgbench-options", here.pgbench_options, there.pgbench_options)
        yield Unlike("reconnect", here.reconnect, there.reconnect)
        yield Unlike("idle-connections", here.idle_connections, there.idle_connections)

    def unlike_trials(self, a: PlannedTrial, b: PlannedTrial) -> Iterator[Unlike]:
        yield Unlike("threads", clients_of(a).threads, clients_of(b).threads)


ANALYSIS = PgbenchAnalysis()


SLOW, MIDDLE = "latency_p99", "latency_p50"

Pair = tuple[float, float, int]
"""p99 less p50 (seconds) of old and new, and the start of the servers."""


def tails(plan: Plan, views: Iterable[TrialView]) -> Iterator[Tail]:
    """One for each contrast with percentiles; its intervals hold together at α over the levels."""
    by_contrast: dict[tuple[str, str, str], dict[Context, list[Pair]]] = defaultdict(dict)
    for sides in paired_views(plan, views):
        placed = zip(sides.blocks, sides.starts, strict=True)
        every = [(_tail(old), _tail(new), start) for (old, new), start in placed]
        known = [pair for pair in every if math.isfinite(pair[0]) and math.isfinite(pair[1])]
        if known:
            by_contrast[sides.key][sides.context] = known
    for key, levels in by_contrast.items():
        alpha = plan.study.measure.alpha / len(levels)
        compared = (_level(plan, context, pairs, alpha) for context, pairs in levels.items())
        yield Tail(*key, tuple(compared))


def _tail(view: TrialView) -> float:
    return view.metrics.get(SLOW, math.nan) - view.metrics.get(MIDDLE, math.nan)


def _level(plan: Plan, context: Context, pairs: Sequence[Pair], alpha: float) -> TailLevel:
    old, new, starts = zip(*pairs, strict=True)
    # A tail that is longer is said as a verdict is: from as many pairs on.
    width = deciding_half_width_of(plan.study.measure)
    difference = change(old, new, starts=starts, alpha=alpha, width=width)
    return TailLevel(context, fmean(old), fmean(new), difference)


NEAR_THE_GREATEST = 0.9
"""Throughput that still belongs to a plateau; below, more load has made it worse."""


def bottlenecks(
    plan: Plan, facts: HostFacts, trials: Sequence[TrialView], scaling: Sequence[ScalingResult]
) -> tuple[BottleneckResult, ...]:
    """A finding for each table of ``scaling`` that has a knee; none at all without ceilings."""
    if facts.ceilings is None:
        return ()
    threads = {
        trial.number: trial.load.threads
        for trial in plan.trials
        if isinstance(trial.load, PgbenchClients)
    }
    client = plan.client_machine
    client_cores = None if client is None else client.cpu.online
    axis = _Axis(CLIENTS, plan.study.contrast, FEWEST_LEVELS)
    counted = [trial for trial in trials if trial.counts]
    findings = []
    for result in scaling:
        knee, loads = result.scaling.knee, result.scaling.loads
        if knee is None or result.load != CLIENTS or _is_elsewhere(plan, result):
            continue
        points = result.scaling.points
        near = NEAR_THE_GREATEST * max(point.value for point in points)
        judged = max(point.load for point in points if point.value >= near)
        smaller = [load for load in loads if load < judged]
        key = (result.workload, result.context, result.side)
        mine = [trial for trial in counted if axis.key(trial.workload, trial.levels) == key]
        readings = read(
            _at(mine, judged),
            _at(mine, loads[0]),
            _at(mine, smaller[-1]) if smaller else [],
            clients=judged,
            plateau=not knee.at_end(loads),
            cores=facts.cpu.online,
            threads=threads,
            client_cores=client_cores,
        )
        findings.append(BottleneckResult(*key, judged, judge(readings, facts.ceilings)))
    return tuple(findings)


def _is_elsewhere(plan: Plan, result: ScalingResult) -> bool:
    """The ceilings are the campaign's machine's; of a server elsewhere it is not known."""
    elsewhere = plan.servers_elsewhere
    named = {result.side} if plan.study.contrast == SERVER else set()
    named |= {level for factor, level in result.context if factor == SERVER}
    return bool(elsewhere & named) or len(elsewhere) == len(plan.servers) > 0


def _at(trials: Sequence[TrialView], load: float) -> list[TrialView]:
    return [trial for trial in trials if float(dict(trial.levels)[CLIENTS]) == load]


CLIENTS = "clients"
CORES = "cores"
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
        return workload, without(levels, self.load, self.side), dict(levels).get(self.side, "")


def scalings(
    plan: Plan, attempts: Iterable[Attempt], workloads: Collection[str], *, cores: int | None
) -> tuple[ScalingResult, ...]:
    """The scaling of every context and side that was planned at four loads or more, in the study's
    order.

    The load is the clients; where the study contrasts the cores, they
    are, from two levels on, and the sides are the servers. Empty where the study's contrast is the
    clients: its levels are compared by their ratios then; and where the clients of a load are
    spread over two servers: neither has so many.
    """
    study, way = plan.study, way_of(plan.study.measure)
    if study.contrast == CLIENTS or (way.concurrent and not way.in_step):
        return ()
    by_cores = study.contrast == CORES
    axis = _Axis(CLIENTS, study.contrast, FEWEST_LEVELS)
    if by_cores:
        axis = _Axis(CORES, SERVER, FEWEST_CORES)
    planned = _planned(plan, axis, workloads)
    tables: dict[Key, dict[float, dict[int, float]]] = {key: {} for key in planned}
    for observation in observe(plan, attempts):
        levels = (*observation.context, (study.contrast, observation.side))
        load = dict(levels).get(axis.load)
        table = tables.get(axis.key(observation.workload, levels))
        if load is not None and table is not None:
            value = observation.metrics.get(TPS.name, math.nan)
            table.setdefault(float(load), {})[observation.block] = value
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
