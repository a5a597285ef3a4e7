"""How long the trials of ``teiten ab`` are: from the noise that is known here, or from a pilot.

A few short pairs before the campaign, which do not count, tell how much starts of the servers
differ, and how much the slices of one start; from that the length of trials follows. What
``teiten null`` has measured for this workload on this machine takes the pilot's place.
"""

from __future__ import annotations

import math
import shutil
import statistics
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from teiten.analysis.model.replication import NoiseSource, Replication
from teiten.analysis.verdict.replication import (
    LONGEST,
    SLICE_COST,
    Components,
    choose_length,
    pilot_components,
    slices_by_start,
)
from teiten.analysis.verdict.stopping import own_seconds
from teiten.cli.campaign.carry_out import (
    create_ledger,
    measuring,
    run_trials,
    sweep_leftovers,
)
from teiten.cli.campaign.uses import PILOT
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned, plan_study
from teiten.cli.text.noise import replication_lines
from teiten.errors import InterruptedCampaignError, MachineError
from teiten.kinds.contract import all_last, plan_of
from teiten.model.plan import Plan
from teiten.model.quantities import rough_duration
from teiten.model.study import Measure, Study
from teiten.model.trial import Trial
from teiten.model.units import Seconds
from teiten.plan.durations import block_seconds, target
from teiten.plan.sites.of import all_here
from teiten.ways.registry import way_of

SIZES = ((6, 10), (5, 8), (4, 6), (3, 5), (2, 4))
"""Starts of the servers and slices of one second after each, the best first."""
USUAL_SHARE, LARGEST_SHARE = 0.1, 0.2
"""Shares of the budget: the most that a pilot may take, and that the smallest one may."""
FEWEST_TURNS = 20
"""Transactions of a client in a slice: one that begins in a slice may end well after it."""


def plan_worthwhile(
    session: Session, study: Study, *, seed: int | None, fixed: bool = False
) -> Planned:
    """The plan of two sides whose trials are as long as the noise here makes worthwhile.

    ``fixed``: nothing is to be chosen, as where the study has a duration or slices of its own, or
    where a server is attached, or queries are timed, which are as long as they are.
    """
    planned = plan_study(session, study, seed=seed)
    fixed = fixed or study.measure.duration is not None or way_of(study.measure).side_by_side
    # a pilot runs servers side by side, and asks nobody
    if fixed or not all_last(study) or not all_here(planned.plan):
        return planned
    floors = (floor for floor in planned.noise if floor.between is not None and floor.within)
    known = next(floors, None)
    if known is None:
        return _by_pilot(session, study, planned)
    sized = planned.plan.study
    trials = sum(trial.block == 1 for trial in planned.plan.trials)
    # a trial's seconds besides the measured ones, from the plan
    fixed_seconds = block_seconds(sized) / trials - (sized.measure.duration or 0.0)
    parts = Components(known.between or 0.0, known.within or 0.0, Seconds(max(0.0, fixed_seconds)))
    chosen = _replication(planned, parts, NoiseSource.NULL)
    chosen = replace(chosen, campaign=known.campaign)
    return _planned_with(session, study, planned, chosen)


def _by_pilot(session: Session, study: Study, planned: Planned) -> Planned:
    pilot = _pilot_study(planned)
    if pilot is None:
        session.console.say("no pilot: it would take more than a fifth of the budget")
        return planned
    try:
        pilot_plan = plan_study(session, pilot, seed=None)
    except MachineError as error:
        session.console.say(f"no pilot, for which both servers run at once: {error.message}")
        return planned
    begun = time.time()
    trials = _carry_out(session, pilot_plan)
    parts = _parts(pilot_plan.plan, trials)
    took = Seconds(time.time() - begun)
    if parts is None:
        session.console.say("the pilot has too few valid pairs to choose the length of a trial")
        return _plan_anew(session, planned, _remaining(study, planned, took))
    slice_of = _slice_of(pilot_plan.plan, trials)
    chosen = _replication(planned, parts, NoiseSource.PILOT, spent=took, slice_of=slice_of)
    seen = pilot.measure
    chosen = replace(chosen, starts=seen.blocks, seen=seen.slices, took=took)
    return _planned_with(session, study, planned, chosen)


def _plan_anew(session: Session, planned: Planned, measure: Measure) -> Planned:
    """The plan in other trials, on the same data, in the same order."""
    study = replace(planned.plan.study, measure=measure)
    return plan_study(session, study, seed=planned.plan.seed)


def _pilot_study(planned: Planned) -> Study | None:
    """The study of the pilot: short slices of both sides after a few starts; None where even that
    would take too much of the budget."""
    sized = planned.plan.study
    for starts, slices in SIZES:
        share = LARGEST_SHARE if (starts, slices) == SIZES[-1] else USUAL_SHARE
        measure = replace(
            sized.measure,
            duration=Seconds(float(slices)),
            warmup=Seconds(1.0) if sized.measure.warmup else sized.measure.warmup,
            slices=slices,
            restart_every=1,
            blocks=starts,
            repeats=0,
            sequential=None,
        )
        pilot = replace(sized, measure=measure)
        if block_seconds(pilot) * starts <= share * target(sized):
            return pilot
    return None


def _carry_out(session: Session, planned: Planned) -> list[Trial]:
    """Run the pilot; its record replaces that of the last one among the caches."""
    folder: Path = session.workdir.caches / PILOT
    pairs = planned.plan.study.measure.blocks
    seconds = block_seconds(planned.plan.study) * pairs
    session.console.say(
        f"pilot: {pairs} pairs that do not count tell how long a trial should be, about"
        f" {rough_duration(seconds)}"
    )
    with measuring(session):
        sweep_leftovers(session)
        shutil.rmtree(folder, ignore_errors=True)
        with create_ledger(session, planned, folder, "") as ledger:
            try:
                run_trials(session, ledger, folder)
                return list(ledger.trials(series=False))
            except InterruptedCampaignError as error:
                raise InterruptedCampaignError(
                    "interrupted in the pilot, before the first pair that counts",
                    "nothing is kept of it: run the command again",
                ) from error


def _slice_of(plan: Plan, trials: Iterable[Trial]) -> int:
    """Whole seconds in which a client has turns enough."""
    kinds = {workload.name: plan_of(workload.kind) for workload in plan.study.workloads}
    workloads = {trial.number: trial.cell.workload for trial in plan.trials}
    waited = [
        trial.metrics.get(turnaround.name, 0.0)
        for trial in trials
        if (turnaround := kinds[workloads[trial.number]].turnaround) is not None
    ]
    return max(1, math.ceil(FEWEST_TURNS * statistics.median(waited or [0.0])))


def _parts(plan: Plan, trials: Iterable[Trial]) -> Components | None:
    counted = [trial for trial in trials if trial.counts]
    if not counted:
        return None
    measured = plan.study.measure.duration or Seconds(0.0)
    took = statistics.median(own_seconds(plan, counted))
    fixed = Seconds(max(0.0, took - SLICE_COST * measured))
    return pilot_components(
        slices_by_start(plan, counted), plan.study.measure.slice_duration, fixed
    )


def _replication(
    planned: Planned,
    parts: Components,
    source: NoiseSource,
    *,
    spent: float = 0.0,
    slice_of: int = 1,
) -> Replication:
    """Choose the length of trials, slices and restarts; ``slice_of``: seconds of a slice."""
    study = planned.plan.study
    measure = study.measure
    restores = study.writes
    pairs = max(1, sum(trial.block == 1 for trial in planned.plan.trials) // 2)
    length = choose_length(
        parts,
        effect=measure.delta,
        alpha=measure.alpha,
        seconds=Seconds((target(study) - spent) / pairs),
        longest=LONGEST if restores else None,
    )
    slices = 1 if restores else max(1, math.floor(length.duration / slice_of))
    return Replication(
        source=source,
        between=parts.between,
        within=parts.within,
        fixed=parts.fixed,
        duration=length.duration if slices == 1 else Seconds(float(slices * slice_of)),
        slices=slices,
        restart_every=length.pairs_of_a_start,
        pairs=length.expected,
    )


def _planned_with(session: Session, study: Study, planned: Planned, chosen: Replication) -> Planned:
    """The plan with trials of the chosen length, on the data for which it was chosen."""
    measure = replace(
        _remaining(study, planned, chosen.took),
        duration=chosen.duration,
        slices=chosen.slices,
        restart_every=chosen.restart_every,
    )
    try:
        made = _plan_anew(session, planned, measure)
    except MachineError as error:
        session.console.say(f"the servers cannot run side by side: {error.message}")
        chosen = replace(chosen, slices=1, restart_every=1)
        made = _plan_anew(session, planned, replace(measure, slices=1, restart_every=1))
    session.console.say(*replication_lines(chosen))
    return replace(made, replication=chosen)


def _remaining(study: Study, planned: Planned, took: Seconds) -> Measure:
    """The study's own measure, with the budget that the pilot has left."""
    sequential = study.measure.sequential
    if sequential is None:
        return study.measure
    left = Seconds(max(1.0, target(planned.plan.study) - took))
    return replace(study.measure, sequential=replace(sequential, budget=left))
