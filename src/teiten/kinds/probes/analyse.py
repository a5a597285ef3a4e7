"""From the trials of probes to their results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, median

from teiten.analysis.model.findings import Measured as Campaign
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import Context
from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.changes import arithmetic, geometric, half_width_of
from teiten.analysis.verdict.pairs import observe
from teiten.kinds.contract_analyse import (
    KindAnalysis,
    NumbersOf,
    Unlike,
    comparison_alpha,
    unlike_texts,
)
from teiten.kinds.probes.findings.effects import (
    Comparisons,
    comparisons_of,
    disk_read,
    effect_of,
    yardstick,
)
from teiten.kinds.probes.findings.recommendation import (
    Wanted,
    cliff_of,
    memories_of,
    recommendations,
)
from teiten.kinds.probes.findings.tried import Key, Sides, Tried, cost_line, tried_of, without_probe
from teiten.kinds.probes.findings.versions import settings_seen, version_pairs
from teiten.kinds.probes.measurement import (
    Checkpointed,
    MeasuredStep,
    PageOrigin,
    ProbeMeasurement,
    Timed,
    WithClients,
    measurement_of,
    share_of,
)
from teiten.kinds.probes.metrics import CLIENTS_TIME, COMMIT_TIME, PROBE_TIME, ProbeMeasure
from teiten.kinds.probes.model import BLOCK, PROBE, Do, Probe, Take, probes_of
from teiten.kinds.probes.numbers import numbers_for_claims, sweep_seconds, sweeps
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
from teiten.kinds.probes.thresholds import USUAL_WORK_MEM
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.plan import Plan
from teiten.model.quantities import parse_size
from teiten.model.study import GUC_PREFIX, Measure, Workload
from teiten.model.trial import Event
from teiten.model.units import GIB, Bytes, Seconds

STEPS = 100
"""The number of equal steps of rank between the quantiles of a distribution."""


class ProbesAnalysis(KindAnalysis):
    by_pgbench = True

    def results(self, measured: Campaign) -> ProbesFound:
        tried = tried_of(measured.plan, measured.views)
        observed = observe(measured.plan, measured.views)
        comparisons = {
            name: Comparisons(
                measured.plan,
                name,
                [known for known in observed if known.workload == name],
                comparison_alpha(measured.plan, name),
            )
            for name in dict.fromkeys(workload for workload, _ in tried)
        }
        results = tuple(_results(measured, tried, comparisons))
        contrast = measured.plan.study.contrast
        by_size = contrast == GUC_PREFIX + SHARED_BUFFERS
        return ProbesFound(
            results=results,
            memories=tuple(memories_of(measured.plan, measured.workloads, measured.events)),
            recommendations=tuple(recommendations(results, _wanted(measured, tried)))
            if by_size
            else (),
            versions=tuple(version_pairs(measured.plan, tried)),
            settings=tuple(settings_seen(measured.plan, tried)),
            comparisons=comparisons_of(measured.plan),
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


def _commits(sides: Sides) -> bool:
    """Whether sides are compared by the time of COMMIT too."""
    trials = (trial for side in sides.values() for trial in side.values())
    return any(COMMIT_TIME.name in trial.metrics for trial in trials)


def _results(
    measured: Campaign, tried: Mapping[Key, Sides], comparisons: Mapping[str, Comparisons]
) -> Iterator[ProbeResult]:
    disks = _disk_reads(tried)
    for (workload, context), sides in tried.items():
        options = probes_of(measured.plan.study.workload(workload))
        probe = _OneProbe(
            options.probe(dict(context).get(PROBE, "")),
            workload,
            context,
            sides,
            comparisons[workload],
        )
        yield probe.result(disks.get(without_probe(context)))


def _disk_reads(tried: Mapping[Key, Sides]) -> dict[Context, Seconds | None]:
    """The mean time of a page from the disk, over all probes of a context."""
    by_context: dict[Context, list[Tried]] = {}
    for (_, context), sides in tried.items():
        trials = [trial for side in sides.values() for trial in side.values()]
        by_context.setdefault(without_probe(context), []).extend(trials)
    return {context: disk_read(trials) for context, trials in by_context.items()}


def _wanted(measured: Campaign, tried: Mapping[Key, Sides]) -> dict[Context, Wanted]:
    """By context."""
    workloads: dict[Context, dict[str, None]] = {}
    for workload, context in tried:
        workloads.setdefault(without_probe(context), {})[workload] = None
    return {
        context: _wanted_of(measured.plan, context, [*names])
        for context, names in workloads.items()
    }


def _wanted_of(plan: Plan, context: Context, workloads: Sequence[str]) -> Wanted:
    """Take of each need the greatest that a workload states; of work_mem, where none does, what the
    servers' settings say."""
    options = [probes_of(plan.study.workload(name)) for name in workloads]
    settings = [_settings(plan, name, context) for name in workloads]
    return Wanted(
        max(option.working_set or Bytes(0) for option in options) or None,
        max(option.connections or 0 for option in options) or None,
        max(option.work_mem or Bytes(0) for option in options) or max(map(_work_mem, settings)),
        huge_pages=all(values.get("huge_pages") == "on" for values in settings),
    )


def _settings(plan: Plan, workload: str, context: Context) -> dict[str, str]:
    for trial in plan.trials:
        here = without_probe(trial.cell.context(plan.study.contrast))
        if trial.cell.workload == workload and here == context:
            return dict(trial.settings)
    return {}


def _work_mem(settings: Mapping[str, str]) -> Bytes:
    try:
        return parse_size(settings["work_mem"])
    except (KeyError, ValueError):  # not set; or a number of kB without a unit
        return Bytes(USUAL_WORK_MEM)


@dataclass(frozen=True)
class _OneProbe:
    """A probe of a workload in one context."""

    probe: Probe
    workload: str
    context: Context
    sides: Sides
    comparisons: Comparisons

    def result(self, disk: Seconds | None) -> ProbeResult:
        pairs = tuple(self.comparisons.pairs(self.context, PROBE_TIME))
        trials = [trial for side in self.sides.values() for trial in side.values()]
        of_all_buffers = self.probe.take is Take.SWEEP or any(
            step.do is Do.CHECKPOINT and step.name == self.probe.number_of
            for step in self.probe.steps
        )
        commits = (
            tuple(self.comparisons.pairs(self.context, COMMIT_TIME)) if _commits(self.sides) else ()
        )
        return ProbeResult(
            workload=self.workload,
            probe=self.probe.name,
            context=self.context,
            sides=tuple(self._side(side, by_block) for side, by_block in self.sides.items()),
            pairs=pairs,
            commits=commits,
            line=cost_line(self.sides, self._measure) if of_all_buffers else None,
            effect=effect_of(
                self.sides, pairs, yardstick(self.probe, trials, disk), self.comparisons
            ),
        )

    @property
    def _measure(self) -> Measure:
        """The design; its α is that of an interval by itself, which describes and compares
        nothing."""
        return self.comparisons.plan.study.measure

    def _side(self, side: str, by_block: Mapping[int, Tried]) -> ProbeSide:
        trials = [by_block[block].measurement for block in sorted(by_block)]
        executed: dict[str, list[float]] = {}
        for once in (once for trial in trials for once in trial.executed):
            executed.setdefault(once.step, []).append(once.seconds)
        return ProbeSide(
            context=self.context,
            side=side,
            trials=len(trials),
            memory=trials[0].memory,
            shared_buffers=trials[0].shared_buffers,
            number=self._metric(by_block, PROBE_TIME.name),
            commit=self._metric(by_block, COMMIT_TIME.name),
            parts=tuple(_parts(trials, self._measure)),
            cliff=cliff_of(trials, self.probe.number_of),
            sweep=_sweep(trials),
            clients=tuple(
                _clients([run for trial in trials for run in trial.with_clients], self._measure)
            ),
            checkpoints=tuple(
                _checkpoints([checkpoint for trial in trials for checkpoint in trial.checkpoints])
            ),
            executed=tuple((name, Seconds(median(seconds))) for name, seconds in executed.items()),
        )

    def _metric(self, trials: Mapping[int, Tried], metric: str) -> Estimate | None:
        values = [trial.metrics[metric] for trial in trials.values() if metric in trial.metrics]
        return geometric(values, self._measure.alpha, half_width_of(self._measure))


def _parts(trials: Sequence[ProbeMeasurement], measure: Measure) -> Iterator[PartTimes]:
    by_part: dict[tuple[str, str], list[MeasuredStep]] = {}
    for measured_step in (timed for trial in trials for timed in trial.measured):
        by_part.setdefault((measured_step.step, measured_step.part), []).append(measured_step)
    for (step, part), measured in by_part.items():
        statements = [statement for timed in measured for statement in timed.statements]
        if not statements:
            continue
        where = [
            seen.where
            for trial in trials
            for seen in trial.seen
            if (seen.moment, seen.step, seen.part) == ("before", step, part)
        ]
        cached = [place.os_cache_share for place in where if place.os_cache_share is not None]
        means = [
            fmean(statement.seconds for statement in timed.statements)
            for timed in measured
            if timed.statements
        ]
        mean = arithmetic(means, measure.alpha, half_width_of(measure))
        if mean is None:
            continue
        yield PartTimes(
            step=step,
            part=part,
            size=Bytes(measured[0].pages * BLOCK),
            times=times_of([statement.seconds for statement in statements]),
            mean=_not_below_nothing(mean),
            from_disk=_from_disk(measured, measure),
            origins=tuple(_origins(statements)),
            in_buffers=fmean(place.buffers_share for place in where) if where else None,
            in_os_cache=fmean(cached) if cached else None,
        )


def _from_disk(measured: Sequence[MeasuredStep], measure: Measure) -> Estimate | None:
    """None where it is not known of one statement where its page was."""
    by_trial = [timed.statements for timed in measured if timed.statements]
    if any(share_of(statements, PageOrigin.OUTSIDE) for statements in by_trial):
        return None
    shares = [share_of(statements, PageOrigin.DISK) or 0.0 for statements in by_trial]
    estimate = arithmetic(shares, measure.alpha, half_width_of(measure))
    return None if estimate is None else _not_below_nothing(estimate)


def _not_below_nothing(estimate: Estimate) -> Estimate:
    """Cut the interval of what cannot be negative off at 0."""
    return estimate if estimate.low is None else replace(estimate, low=max(0.0, estimate.low))


def _origins(statements: Sequence[Timed]) -> Iterator[FromOrigin]:
    for origin in PageOrigin:
        seconds = [statement.seconds for statement in statements if statement.origin is origin]
        if seconds:
            yield FromOrigin(origin, len(seconds) / len(statements), times_of(seconds))


def times_of(seconds: Sequence[float]) -> Times:
    """Summarise the times of one statement or more."""
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
        statements = [statement for timed in trial.measured for statement in timed.statements]
        if all(statement.swept is None for statement in statements):
            continue
        once = sweep_seconds(statements, trial.buffers)
        if once is not None:
            costs.append(once)
        some, rest = sweeps(statements, trial.buffers)
        swept += [swept_statement.seconds for swept_statement in some]
        others += [further.seconds for further in rest]
    if not costs:
        return None
    around = median(costs)
    return SweepCost(
        sweeps=len(swept),
        seconds=Seconds(around),
        seconds_per_gib=Seconds(around / (trials[0].shared_buffers / GIB)),
        with_sweep=Seconds(median(swept)),
        without=Seconds(median(others)),
    )


def _clients(runs: Sequence[WithClients], measure: Measure) -> Iterator[ClientsPoint]:
    mean = partial(arithmetic, alpha=measure.alpha, width=half_width_of(measure))
    by_load: dict[tuple[str, str, int], list[WithClients]] = {}
    for run in runs:
        by_load.setdefault((run.step, run.part, run.clients), []).append(run)
    for (step, part, clients), alike in by_load.items():
        blocks = sum(run.hit + run.read for run in alike)
        tps = mean([run.tps for run in alike])
        latency = mean([run.latency for run in alike])
        if tps is None or latency is None:
            continue
        yield ClientsPoint(
            step=step,
            part=part,
            clients=clients,
            tps=_not_below_nothing(tps),
            latency=_not_below_nothing(latency),
            from_buffers=sum(run.hit for run in alike) / blocks if blocks else 0.0,
        )


def _checkpoints(checkpoints: Sequence[Checkpointed]) -> Iterator[CheckpointCost]:
    for step in dict.fromkeys(checkpoint.step for checkpoint in checkpoints):
        mine = [checkpoint for checkpoint in checkpoints if checkpoint.step == step]
        written = fmean(run.written for run in mine)
        yield CheckpointCost(step, times_of([run.seconds for run in mine]), written)


ANALYSIS = ProbesAnalysis()
