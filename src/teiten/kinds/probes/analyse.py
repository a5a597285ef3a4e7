"""From the trials of probes to their results."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from teiten.analysis.model.findings import Measured as Campaign
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import Observation, without
from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.changes import arithmetic, geometric, half_width_of
from teiten.analysis.verdict.contrasts import sides_of
from teiten.analysis.verdict.pairs import observe, pair
from teiten.analysis.verdict.sequential import decide_by_design
from teiten.analysis.verdict.verdict import Rule
from teiten.kinds.contract_analyse import (
    KindAnalysis,
    NumbersOf,
    Unlike,
    comparison_alpha,
    unlike_texts,
)
from teiten.kinds.probes.findings.effects import (
    Sides,
    Tried,
    all_known,
    comparisons_of,
    cost_line,
    disk_read,
    effect_of,
    trials_of,
    tried_of,
)
from teiten.kinds.probes.findings.recommendation import cliff_of, memories_of, recommendations
from teiten.kinds.probes.findings.versions import settings_seen, version_pairs
from teiten.kinds.probes.measurement import (
    Checkpointed,
    MeasuredStep,
    PageOrigin,
    ProbeMeasurement,
    Timed,
    WithClients,
    measurement_of,
    median_of,
    numbers_for_claims,
    share_of,
    sweep_seconds,
    sweeps,
)
from teiten.kinds.probes.metrics import CLIENTS_TIME, COMMIT_TIME, PROBE_TIME, ProbeMeasure
from teiten.kinds.probes.model import BLOCK, PROBE, Do, Probe, Take, probes_of
from teiten.kinds.probes.results import (
    CheckpointCost,
    ClientsPoint,
    PartTimes,
    ProbeResult,
    ProbesFound,
    ProbeSide,
    SidePair,
    SweepCost,
    Times,
)
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.metrics import Metric
from teiten.model.plan import Context, Level, Plan
from teiten.model.study import GUC_PREFIX, Measure, Workload
from teiten.model.trial import Event
from teiten.model.units import GIB, Bytes, Seconds, Share

STEPS = 100
"""The number of equal steps of rank between the quantiles of a distribution."""


class ProbesAnalysis(KindAnalysis):
    by_pgbench = True

    def results(self, measured: Campaign) -> ProbesFound:
        plan = measured.plan
        tried = tried_of(plan, measured.views)
        results = tuple(_results(measured, tried))
        by_size = plan.study.contrast == GUC_PREFIX + SHARED_BUFFERS
        return ProbesFound(
            results=results,
            memories=tuple(memories_of(plan, measured.workloads, measured.events)),
            recommendations=tuple(recommendations(plan, results)) if by_size else (),
            versions=tuple(version_pairs(plan, tried)),
            settings=settings_seen(plan, tried),
            comparisons=comparisons_of(plan),
        )

    def numbers(self, plan: Plan, events: Sequence[Event]) -> NumbersOf:
        return _numbers

    def comparisons(self, plan: Plan, workload: str) -> int:
        return comparisons_of(plan)

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        return unlike_texts(a, b, str)


def _numbers(view: TrialView, wanted: Collection[str]) -> dict[str, float]:
    quantities = {name.partition(":")[0] for name in wanted}
    if quantities.isdisjoint((*ProbeMeasure, CLIENTS_TIME)):
        return {}
    measurement = measurement_of(view.facts)
    numbers = () if measurement is None else numbers_for_claims(measurement)
    return {name: value for name, value in numbers if name.partition(":")[0] in quantities}


def _results(measured: Campaign, tried: Mapping[Level, Sides]) -> Iterator[ProbeResult]:
    plan = measured.plan
    observed = observe(plan, measured.views)
    shares = {name: comparison_alpha(plan, name) for name in {workload for workload, _ in tried}}
    by_context: dict[Context, list[Tried]] = {}
    for (_, context), sides in tried.items():
        by_context.setdefault(without(context, PROBE), []).extend(trials_of(sides))
    disks = {context: disk_read(trials) for context, trials in by_context.items()}
    for (workload, context), sides in tried.items():
        options = probes_of(plan.study.workload(workload))
        one_probe = _OneProbe(
            plan=plan,
            workload=workload,
            probe=options.probe(dict(context).get(PROBE, "")),
            context=context,
            sides=sides,
            observations=[known for known in observed if known.workload == workload],
            alpha=shares[workload],
        )
        yield one_probe.result(disks[without(context, PROBE)])


@dataclass(frozen=True)
class _OneProbe:
    """A probe of a workload in one context."""

    plan: Plan
    workload: str
    probe: Probe
    context: Context
    sides: Sides
    observations: Sequence[Observation]
    """All of the workload."""
    alpha: Share
    """The α of one comparison."""

    def result(self, disk: Seconds | None) -> ProbeResult:
        """``disk``: the mean time of a page from the disk, over all probes of the context."""
        pairs = tuple(self._pairs(PROBE_TIME))
        of_all_buffers = self.probe.take is Take.SWEEP or any(
            step.do is Do.CHECKPOINT and step.name == self.probe.number_of
            for step in self.probe.steps
        )
        commits = any(COMMIT_TIME.name in trial.metrics for trial in trials_of(self.sides))
        return ProbeResult(
            workload=self.workload,
            probe=self.probe.name,
            context=self.context,
            sides=tuple(self._side(side, by_block) for side, by_block in self.sides.items()),
            pairs=pairs,
            commits=tuple(self._pairs(COMMIT_TIME)) if commits else (),
            line=cost_line(self.sides, self._measure) if of_all_buffers else None,
            effect=effect_of(
                self.probe, self.sides, pairs, disk, measure=self._measure, alpha=self.alpha
            ),
        )

    @property
    def _measure(self) -> Measure:
        """The design; its α is that of an interval by itself, which describes and compares
        nothing."""
        return self.plan.study.measure

    def _pairs(self, metric: Metric) -> Iterator[SidePair]:
        """Every two sides, the earlier one old."""
        rule = Rule(self._measure.delta, self.alpha, metric.better)
        for old, new in itertools.combinations(sides_of(self.plan, self.workload), 2):
            paired = pair(
                self.observations, context=self.context, metric=metric.name, old=old, new=new
            )
            ratios = list(paired.log_ratios.values())
            verdict = decide_by_design(self._measure, ratios, rule, unusable=paired.unusable)
            yield SidePair(old, new, verdict)

    def _side(self, side: str, by_block: Mapping[int, Tried]) -> ProbeSide:
        trials = [by_block[block].measurement for block in sorted(by_block)]
        checkpoints = [checkpoint for trial in trials for checkpoint in trial.checkpoints]
        return ProbeSide(
            side=side,
            trials=len(trials),
            memory=trials[0].memory,
            shared_buffers=trials[0].shared_buffers,
            number=self._metric(by_block, PROBE_TIME.name),
            commit=self._metric(by_block, COMMIT_TIME.name),
            parts=tuple(self._parts(trials)),
            cliff=cliff_of(trials, self.probe.number_of),
            sweep=_sweep(trials),
            clients=tuple(self._clients(run for trial in trials for run in trial.with_clients)),
            checkpoints=tuple(_checkpoints(checkpoints)),
            executed=any(trial.executed for trial in trials),
        )

    def _metric(self, trials: Mapping[int, Tried], metric: str) -> Estimate | None:
        values = [trial.metrics[metric] for trial in trials.values() if metric in trial.metrics]
        return geometric(values, self._measure.alpha, half_width_of(self._measure))

    def _mean(self, values: Sequence[float]) -> Estimate:
        """The mean of one value or more that cannot be negative: its interval is cut off at 0."""
        estimate = arithmetic(values, self._measure.alpha, half_width_of(self._measure))
        assert estimate is not None
        return estimate if estimate.low is None else replace(estimate, low=max(0.0, estimate.low))

    def _parts(self, trials: Sequence[ProbeMeasurement]) -> Iterator[PartTimes]:
        by_part: dict[tuple[str, str], list[MeasuredStep]] = {}
        for timed in (timed for trial in trials for timed in trial.measured if timed.statements):
            by_part.setdefault((timed.step, timed.part), []).append(timed)
        for (step, part), measured in by_part.items():
            times = [[statement.seconds for statement in timed.statements] for timed in measured]
            statements = [statement for timed in measured for statement in timed.statements]
            from_disk = all_known(share_of(timed.statements, PageOrigin.DISK) for timed in measured)
            where = [
                seen.where
                for trial in trials
                for seen in trial.seen
                if (seen.moment, seen.step, seen.part) == ("before", step, part)
            ]
            cached = [place.os_cache_share for place in where if place.os_cache_share is not None]
            yield PartTimes(
                step=step,
                part=part,
                size=Bytes(measured[0].pages * BLOCK),
                times=times_of([seconds for of_trial in times for seconds in of_trial]),
                mean=self._mean([fmean(of_trial) for of_trial in times]),
                from_disk=self._mean(from_disk) if from_disk else None,
                origins=_by_origin(statements),
                in_buffers=fmean(place.buffers_share for place in where) if where else None,
                in_os_cache=fmean(cached) if cached else None,
            )

    def _clients(self, runs: Iterable[WithClients]) -> Iterator[ClientsPoint]:
        by_load: dict[tuple[str, str, int], list[WithClients]] = {}
        for run in runs:
            by_load.setdefault((run.step, run.part, run.clients), []).append(run)
        for (step, part, clients), alike in by_load.items():
            blocks = sum(run.hit + run.read for run in alike)
            yield ClientsPoint(
                step=step,
                part=part,
                clients=clients,
                tps=self._mean([run.tps for run in alike]),
                latency=self._mean([run.latency for run in alike]),
                from_buffers=sum(run.hit for run in alike) / blocks if blocks else 0.0,
            )


def _by_origin(statements: Sequence[Timed]) -> dict[PageOrigin, Times]:
    by_origin = {
        origin: [statement.seconds for statement in statements if statement.origin is origin]
        for origin in PageOrigin
    }
    return {origin: times_of(seconds) for origin, seconds in by_origin.items() if seconds}


def times_of(seconds: Sequence[float]) -> Times:
    """Summarise the times of one statement or more."""
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return Times(
        count=len(ordered),
        mean=Seconds(fmean(ordered)),
        median=median_of(ordered),
        quantiles=tuple(Seconds(ordered[round(at * last / STEPS)]) for at in range(STEPS + 1)),
    )


def _sweep(trials: Sequence[ProbeMeasurement]) -> SweepCost | None:
    costs = [sweep_seconds(trial.statements, trial.buffers) for trial in trials]
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    parts = [sweeps(trial.statements, trial.buffers) for trial in trials]
    swept = [statement.seconds for some, _ in parts for statement in some]
    around = median(known)
    return SweepCost(
        sweeps=len(swept),
        seconds=Seconds(around),
        seconds_per_gib=Seconds(around / (trials[0].shared_buffers / GIB)),
        with_sweep=median_of(swept),
        without=median_of([statement.seconds for _, rest in parts for statement in rest]),
    )


def _checkpoints(checkpoints: Sequence[Checkpointed]) -> Iterator[CheckpointCost]:
    for step in dict.fromkeys(checkpoint.step for checkpoint in checkpoints):
        mine = [checkpoint for checkpoint in checkpoints if checkpoint.step == step]
        written = fmean(run.written for run in mine)
        yield CheckpointCost(step, times_of([run.seconds for run in mine]), written)


ANALYSIS = ProbesAnalysis()
