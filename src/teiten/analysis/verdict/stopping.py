"""When a sequential campaign has enough: a pure function of its plan and its recorded trials.

Whole blocks run until the primary verdict of a workload (the mean over its levels) is decided;
further blocks hold only those levels that are still undecided, each at its own share of α. A block
is judged by the blocks before it alone, so that a campaign that was cut off inside a block goes on
as if it had not been. Once a campaign needs nothing more, or the time left is too short for what
comes next, all that was not run is unneeded, repeats too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean, median
from types import MappingProxyType

from teiten.analysis.model.findings import ContrastResult, Verdict
from teiten.analysis.model.verdict import BY_SIGN
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.sequential import is_decided
from teiten.analysis.verdict.verdict import NOT_AVERAGED
from teiten.kinds.contract import plan_of
from teiten.model.plan import Level, Plan, PlannedTrial
from teiten.model.progress import (
    Ending,
    GivenBlocks,
    OpenTrial,
    Standing,
    is_given,
    level_of,
    open_trials,
)
from teiten.model.starts import planned_seconds, starts_of
from teiten.model.study import Sequential
from teiten.model.trial import Attempt, Trial
from teiten.model.units import Seconds


def standing(
    plan: Plan,
    attempts: Sequence[Attempt],
    spent: Seconds,
    given: GivenBlocks = MappingProxyType({}),
) -> Standing:
    """Find the trials that are not needed any more; none where the design is fixed.

    ``attempts``: as recorded, in any order; ``spent``: what the campaign has taken so far;
    ``given``: the blocks that its levels have from a collection, which decides by findings; none
    for a campaign of its own.
    """
    sequential = plan.study.measure.sequential
    if sequential is None:
        return Standing()
    if given:
        beyond = frozenset(
            trial.number for trial in plan.trials if not is_given(plan, trial, given)
        )
        left = open_after(plan, attempts, beyond)
        return Standing(beyond, None if left else Ending.ALLOTTED_SPENT)
    tried = {attempt.number for attempt in attempts}
    last = max(tried, default=0)
    passed = {
        trial.number for trial in plan.trials if trial.number < last and trial.number not in tried
    }
    block = next((trial.block for trial in plan.trials if trial.number == last), 1)
    blocks = {trial.number: trial.block for trial in plan.trials}
    before = [attempt for attempt in attempts if blocks[attempt.number] < block]
    begun = undecided(contrasts(plan, before, judged_only=True), sequential)
    rest = [trial for trial in plan.trials if trial.block == block and trial.number > last]
    if any(level_of(plan, trial) in begun for trial in rest):
        return Standing(
            frozenset(
                passed | {trial.number for trial in rest if level_of(plan, trial) not in begun}
            )
        )
    return _next_block(plan, sequential, attempts, spent, passed)


def open_after(
    plan: Plan, attempts: Iterable[Attempt], unneeded: Collection[int]
) -> tuple[OpenTrial, ...]:
    """The needed trials that still have to run after some attempts."""
    finished = [(attempt.number, attempt.attempt, attempt.outcome) for attempt in attempts]
    return open_trials(plan, finished, unneeded=unneeded)


def undecided(results: Sequence[ContrastResult], sequential: Sequential) -> frozenset[Level]:
    """The levels for which a campaign goes on: all of a workload until its primary verdict is
    decided, then those without a decided verdict of their own. A verdict that is given up is waited
    for no longer.
    """

    def ended(verdict: Verdict) -> bool:
        """Whether it is decided, or given up."""
        crosses = verdict.kind in BY_SIGN and not verdict.at_least_delta
        is_enough = is_decided(verdict) and not (sequential.beyond_delta and crosses)
        return is_enough or verdict.given_up

    def has_mean(contrast: ContrastResult) -> bool:
        """Without one there is nothing to decide but the levels."""
        return ended(contrast.overall) or contrast.overall.reason == NOT_AVERAGED

    return frozenset(
        (result.workload, level.context)
        for result in results
        if result.new not in sequential.controls
        for level in result.levels
        if level.limit is None  # over the time limit: more blocks would not give it a number
        and not (has_mean(result) and ended(level.verdict))
    )


def _next_block(
    plan: Plan,
    sequential: Sequential,
    attempts: Sequence[Attempt],
    spent: Seconds,
    passed: set[int],
) -> Standing:
    """A block has ended, or nothing has begun: which levels need another one, and may have it."""
    results = contrasts(plan, attempts, judged_only=True)
    still = undecided(results, sequential)
    unneeded = passed | {
        trial.number for trial in plan.trials if level_of(plan, trial) not in still
    }
    left = open_after(plan, attempts, unneeded)
    ending = None
    if not still:
        gave_up = any(
            verdict.given_up
            for result in results
            if result.new not in sequential.controls
            for verdict in (result.overall, *(level.verdict for level in result.levels))
        )
        ending = Ending.LEFT_BEHIND if gave_up else Ending.DECIDED
    elif not left:
        ending = Ending.BLOCKS_SPENT
    elif attempts and sequential.budget is not None:  # None: not sized, and so without an attempt
        beyond = spent + _time_of_next(plan, left, attempts) > sequential.budget
        ending = Ending.BUDGET_SPENT if beyond else None
    if ending is None:
        return Standing(frozenset(unneeded))
    return Standing(frozenset(trial.number for trial in plan.trials), ending)


def _time_of_next(plan: Plan, left: Sequence[OpenTrial], attempts: Sequence[Attempt]) -> float:
    """Predict the seconds that the next step takes: the rest of a block, or of a start of the
    servers, whose pairs count together; or, at the end, the repeat of a comparison."""
    tried = {attempt.number for attempt in attempts}
    waiting = [open_trial.trial for open_trial in left]
    fresh = [trial for trial in waiting if trial.number not in tried]
    again = [trial for trial in waiting if trial.block == waiting[0].block]
    same = sum(level_of(plan, trial) == level_of(plan, waiting[0]) for trial in again)
    together = len(plan.pair_of(waiting[0]))
    trials = max(together, same)
    if fresh:
        of_start = sum(trial.restart == fresh[0].restart for trial in fresh if trial.restart)
        trials = max(of_start, sum(trial.block == fresh[0].block for trial in fresh))
    if plan.study.measure.lengthens:
        return trials * _time_of_start(plan, attempts, waiting[0]) / together
    return trials * trial_seconds(plan, attempts)


def trial_seconds(plan: Plan, attempts: Sequence[Attempt | Trial]) -> float:
    """Average what a trial took: its own seconds."""
    return fmean(own_seconds(plan, attempts))


def own_seconds(plan: Plan, attempts: Iterable[Attempt | Trial]) -> list[float]:
    """Compute what each trial took; of the time that the sides of its pair shared, its part."""
    planned = {trial.number: trial for trial in plan.trials}
    return [
        (attempt.finished_at - attempt.started_at) / len(plan.pair_of(planned[attempt.number]))
        for attempt in attempts
    ]


def _time_of_start(plan: Plan, attempts: Sequence[Attempt], trial: PlannedTrial) -> float:
    """Predict the seconds of the next start of paired transactions from its planned length."""
    kind = plan_of(plan.study.workload(trial.cell.workload).kind)
    comparisons = starts_of(plan, attempts, trial, kind.metrics[0].name, kind.paired_within)
    times = [attempt.finished_at - attempt.started_at for attempt in attempts]
    seconds = planned_seconds(plan, comparisons)
    if not any(comparisons):
        return sum(times) / len(times)
    return float(median(start.fixed for starts in comparisons for start in starts)) + seconds
