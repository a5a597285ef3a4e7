"""The noise that a campaign of a server against itself has measured, kept for this machine."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from pathlib import Path

from teiten.analysis.verdict.noise import Noise, noise
from teiten.analysis.verdict.replication import (
    Components,
    components,
    pilot_components,
    slices_by_start,
)
from teiten.analysis.verdict.stopping import own_seconds
from teiten.host.facts.kept import keep_noise, noise_key
from teiten.kinds.contract import plan_of
from teiten.kinds.metrics import deciding
from teiten.ledger.store import Ledger
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import level_of
from teiten.model.starts import spread, starts_of
from teiten.model.units import Seconds
from teiten.ways.registry import way_of, way_of_clients


def keep_measured_noise(ledger: Ledger, caches: Path) -> tuple[NoiseFloor, ...]:
    """Keep the noise of a campaign that compared a server with itself; of others there is none.

    ``caches``: ``Workdir.caches``. Returns what was kept, one for each workload and context.
    """
    if not against_itself(ledger.plan):
        return ()
    attempts = ledger.attempts(*deciding(ledger.plan))
    ended = max((attempt.finished_at for attempt in attempts), default=ledger.created_at)
    floors = tuple(_floor(ledger, measured, ended) for measured in noise(ledger.plan, attempts))
    for floor in floors:
        keep_noise(caches, floor)
    return floors


def against_itself(plan: Plan) -> bool:
    """Two sides that are the same in everything, each on a copy of its own."""
    sides: dict[object, set[object]] = defaultdict(set)
    for trial in plan.trials:
        same = (trial.fingerprints, trial.settings, trial.load)
        sides[level_of(plan, trial)].add(same)
    copies = {trial.copy for trial in plan.trials}
    return len(plan.servers) == len(copies) == 2 and all(len(side) == 1 for side in sides.values())


def _floor(ledger: Ledger, measured: Noise, ended: float) -> NoiseFloor:
    plan = ledger.plan
    parts = _components(ledger, measured)
    trial = _trials_of(plan, measured)[0]
    way = way_of_clients(plan.study.measure, trial.load.connections)
    return NoiseFloor(
        key=noise_key(ledger.facts, plan, trial),
        campaign=ledger.name,
        measured_at=ended,
        workload=measured.workload,
        clients=trial.load.connections,
        duration=plan.study.measure.duration or Seconds(0.0),
        version=str(trial.template.installation.version),
        pairs=measured.pairs,
        deviation=measured.deviation,
        robust_deviation=measured.robust_deviation,
        lag_one=measured.lag_one,
        false_alarms=measured.false_alarms,
        alpha=plan.study.measure.alpha,
        bias=measured.bias,
        between=parts.between if parts else None,
        within=parts.within if parts else None,
        best_duration=parts.best_duration if parts else None,
        way=way.recorded,
    )


def _trials_of(plan: Plan, measured: Noise) -> list[PlannedTrial]:
    """The trials in which the noise of a workload was measured."""
    return [
        trial
        for trial in plan.trials
        if level_of(plan, trial) == (measured.workload, measured.context)
    ]


def _components(ledger: Ledger, measured: Noise) -> Components | None:
    """Find where the variance of this workload's trials arises."""
    plan = ledger.plan
    if way_of(plan.study.measure).concurrent:
        return _components_of_starts(ledger, measured)
    duration = plan.study.measure.duration or Seconds(0.0)
    numbers = {trial.number for trial in _trials_of(plan, measured)}
    trials = [trial for trial in ledger.trials() if trial.number in numbers and trial.counts]
    fixed = Seconds(max(0.0, statistics.median(own_seconds(plan, trials)) - duration))
    if way_of(plan.study.measure).parts(plan.study.measure):
        return pilot_components(
            slices_by_start(plan, trials), plan.study.measure.slice_duration, fixed
        )
    source, column = plan_of(plan.study.workload(measured.workload).kind).rate_series or ("", "")
    series = [
        recorded.columns[column]
        for trial in trials
        for recorded in trial.series
        if recorded.source == source
    ]
    return components(measured.deviation, duration, fixed, series)


def _components_of_starts(ledger: Ledger, measured: Noise) -> Components | None:
    """Find components of paired starts: within a side, a second has half the ratio's variance."""
    plan = ledger.plan
    kind = plan_of(plan.study.workload(measured.workload).kind)
    trial = _trials_of(plan, measured)[0]
    attempts = ledger.attempts(*deciding(plan))
    (starts,) = starts_of(plan, attempts, trial, kind.metrics[0].name, kind.paired_within)
    if len(starts) < 2:
        return None
    known = spread(starts)
    fixed = Seconds(statistics.median(start.fixed for start in starts))
    return Components(known.between, math.sqrt(known.within / 2), fixed)
