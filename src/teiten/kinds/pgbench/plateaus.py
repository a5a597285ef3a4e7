"""Findings about the plateaus of a campaign.

The level that is judged is the greatest load whose throughput is near the greatest one: what limits
it is what keeps more load from giving more. It is a plateau where throughput no longer grew at the
greatest load.
"""

from __future__ import annotations

from collections.abc import Sequence

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.scaling import Scaling, ScalingResult
from teiten.analysis.scaling.bottleneck import judge
from teiten.analysis.scaling.readings import read
from teiten.kinds.pgbench.loads import CLIENTS
from teiten.kinds.pgbench.model import PgbenchClients
from teiten.model.bottleneck import BottleneckResult
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.trial import Outcome

SERVER = "server"
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
    found = []
    for one in scaling:
        knee, loads = one.scaling.knee, one.scaling.loads
        if knee is None or one.load != CLIENTS or _is_elsewhere(plan, one):
            continue
        judged = _judged(one.scaling)
        smaller = [load for load in loads if load < judged]
        mine = [trial for trial in trials if _belongs(trial, one, plan.study.contrast)]
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
        finding = judge(readings, facts.ceilings)
        key = (one.workload, one.context, one.side)
        found.append(BottleneckResult(*key, judged, finding))
    return tuple(found)


def _judged(scaling: Scaling) -> float:
    greatest = max(point.value for point in scaling.points)
    near = NEAR_THE_GREATEST * greatest
    return max(point.load for point in scaling.points if point.value >= near)


def _is_elsewhere(plan: Plan, one: ScalingResult) -> bool:
    """The ceilings are the campaign's machine's; of a server elsewhere it is not known."""
    elsewhere = plan.servers_elsewhere
    named = {one.side} if plan.study.contrast == SERVER else set()
    named |= {level for factor, level in one.context if factor == SERVER}
    return bool(elsewhere & named) or len(elsewhere) == len(plan.servers) > 0


def _belongs(trial: TrialView, one: ScalingResult, contrast: str) -> bool:
    others = tuple(pair for pair in trial.levels if pair[0] not in (contrast, CLIENTS))
    key = (trial.workload, others, dict(trial.levels).get(contrast, ""))
    return trial.outcome is Outcome.COUNTED and key == (one.workload, one.context, one.side)


def _at(trials: Sequence[TrialView], load: float) -> list[TrialView]:
    return [trial for trial in trials if float(dict(trial.levels)[CLIENTS]) == load]
