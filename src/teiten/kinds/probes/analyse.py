"""From the trials of probes to their results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, median

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.measured import Measured as Campaign
from teiten.kinds.contract import KindAnalysis, Unlike
from teiten.kinds.probes.measurement import (
    Checkpointed,
    Measured,
    Origin,
    ProbeMeasurement,
    Timed,
    WithClients,
    measurement_of,
)
from teiten.kinds.probes.model import BLOCK, PROBE, probes_of
from teiten.kinds.probes.numbers import sweep_seconds, sweeps
from teiten.kinds.probes.results import (
    CheckpointCost,
    ClientsPoint,
    FromOrigin,
    PartTimes,
    ProbeResult,
    ProbesFound,
    ProbeSide,
    SweepCost,
    Times,
)
from teiten.model.plan import Plan
from teiten.model.study import Workload
from teiten.model.trial import Outcome
from teiten.model.units import GIB, Bytes, Seconds

STEPS = 100
"""Of a distribution."""
Key = tuple[str, tuple[tuple[str, str], ...]]
"""Workload, and the levels of all factors but the contrasted one."""


class ProbesAnalysis(KindAnalysis):
    by_pgbench = True

    def results(self, measured: Campaign) -> ProbesFound:
        return ProbesFound(tuple(_results(measured.plan, measured.views)))

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        one, other = probes_of(a), probes_of(b)
        there = {each.name: each.text for each in other.probes}
        for each in one.probes:
            text = there.get(each.name, each.text)
            yield Unlike("query", _short(each.text), _short(text), each.name)


def _short(text: str) -> str:
    """To tell whether two are the same."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _results(plan: Plan, views: Iterable[TrialView]) -> Iterator[ProbeResult]:
    found: dict[Key, dict[str, list[ProbeMeasurement]]] = {}
    for view in sorted(views, key=lambda one: one.block):
        measurement = measurement_of(view.facts)
        if view.outcome is Outcome.COUNTED and measurement is not None:
            levels = dict(view.levels)
            side = levels.pop(plan.study.contrast, "")
            key = (view.workload, tuple(levels.items()))
            found.setdefault(key, {}).setdefault(side, []).append(measurement)
    factor = plan.study.factor(plan.study.contrast)
    sides = factor.levels if factor is not None else ("",)
    for workload, context in sorted(found, key=lambda key: _rank(plan, key)):
        trials = found[workload, context]
        yield ProbeResult(
            workload=workload,
            probe=dict(context).get(PROBE, ""),
            context=context,
            sides=tuple(_side(context, one, trials[one]) for one in sides if one in trials),
        )


def _rank(plan: Plan, key: Key) -> tuple[int, list[int]]:
    """The study's order of workloads and levels."""
    ranks = {
        (factor.name, level): rank
        for factor in plan.study.factors
        for rank, level in enumerate(factor.levels)
    }
    names = [one.name for one in plan.study.workloads]
    return names.index(key[0]), [ranks.get(pair, 0) for pair in key[1]]


def _side(
    context: tuple[tuple[str, str], ...], side: str, trials: Sequence[ProbeMeasurement]
) -> ProbeSide:
    executed: dict[str, list[float]] = {}
    for one in (each for trial in trials for each in trial.executed):
        executed.setdefault(one.step, []).append(one.seconds)
    return ProbeSide(
        context=context,
        side=side,
        trials=len(trials),
        memory=trials[0].memory,
        shared_buffers=trials[0].shared_buffers,
        parts=tuple(_parts(trials)),
        sweep=_sweep(trials),
        clients=tuple(_clients([one for trial in trials for one in trial.with_clients])),
        checkpoints=tuple(_checkpoints([one for trial in trials for one in trial.checkpoints])),
        executed=tuple((name, Seconds(median(each))) for name, each in executed.items()),
    )


def _parts(trials: Sequence[ProbeMeasurement]) -> Iterator[PartTimes]:
    found: dict[tuple[str, str], list[Measured]] = {}
    for one in (each for trial in trials for each in trial.measured):
        found.setdefault((one.step, one.part), []).append(one)
    for (step, part), measured in found.items():
        statements = [one for each in measured for one in each.statements]
        if not statements:
            continue
        where = [
            one.where
            for trial in trials
            for one in trial.seen
            if (one.moment, one.step, one.part) == ("before", step, part)
        ]
        cached = [one.os_cache_share for one in where if one.os_cache_share is not None]
        yield PartTimes(
            step=step,
            part=part,
            size=Bytes(measured[0].pages * BLOCK),
            times=times_of([one.seconds for one in statements]),
            origins=tuple(_origins(statements)),
            in_buffers=fmean(one.buffers_share for one in where) if where else None,
            in_os_cache=fmean(cached) if cached else None,
        )


def _origins(statements: Sequence[Timed]) -> Iterator[FromOrigin]:
    for origin in Origin:
        seconds = [one.seconds for one in statements if one.origin is origin]
        if seconds:
            yield FromOrigin(origin, len(seconds) / len(statements), times_of(seconds))


def times_of(seconds: Sequence[float]) -> Times:
    """Of one statement or more."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return Times(
        count=len(ordered),
        mean=Seconds(fmean(ordered)),
        median=Seconds(median(ordered)),
        quantiles=tuple(Seconds(ordered[round(at * last / STEPS)]) for at in range(STEPS + 1)),
    )


def _sweep(trials: Sequence[ProbeMeasurement]) -> SweepCost | None:
    swept: list[float] = []
    others: list[float] = []
    costs: list[float] = []
    for trial in trials:
        statements = [one for each in trial.measured for one in each.statements]
        if all(one.swept is None for one in statements):
            continue
        once = sweep_seconds(statements, trial.buffers)
        if once is not None:
            costs.append(once)
        some, rest = sweeps(statements, trial.buffers)
        swept += [one.seconds for one in some]
        others += [one.seconds for one in rest]
    if not costs:
        return None
    once = median(costs)
    return SweepCost(
        sweeps=len(swept),
        seconds=Seconds(once),
        seconds_per_gib=Seconds(once / (trials[0].shared_buffers / GIB)),
        with_sweep=Seconds(median(swept)),
        without=Seconds(median(others)),
    )


def _clients(runs: Sequence[WithClients]) -> Iterator[ClientsPoint]:
    for count in sorted({one.clients for one in runs}):
        mine = [one for one in runs if one.clients == count]
        blocks = sum(one.hit + one.read for one in mine)
        yield ClientsPoint(
            clients=count,
            tps=fmean(one.tps for one in mine),
            latency=Seconds(fmean(one.latency for one in mine)),
            from_buffers=sum(one.hit for one in mine) / blocks if blocks else 0.0,
        )


def _checkpoints(found: Sequence[Checkpointed]) -> Iterator[CheckpointCost]:
    for step in dict.fromkeys(one.step for one in found):
        mine = [one for one in found if one.step == step]
        written = fmean(one.written for one in mine)
        yield CheckpointCost(step, times_of([one.seconds for one in mine]), written)


ANALYSIS = ProbesAnalysis()
