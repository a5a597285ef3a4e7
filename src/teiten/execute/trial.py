"""One trial: METHOD.md's steps in order; whatever happens, a record and no process left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from teiten.errors import ServerError, WorkloadError
from teiten.execute.executor import Executor, Facts, Observer, TrialSteps
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Outcome, Problem, Step, Trial

DISTURBANCES = frozenset({"steal", "other-load"})
"""Problems that come from the machine's record, not from what was measured."""

StepRecorder = Callable[[Step, Facts], None]


@dataclass(frozen=True)
class TrialRun:
    """What it takes to run a trial."""

    executor: Executor
    observer: Observer
    record: StepRecorder
    check_interruption: Callable[[], None] = lambda: None
    """Raises KeyboardInterrupt where someone asked for the end; called before every step."""
    clock: Callable[[], float] = time.time


def run_trial(run: TrialRun, planned: PlannedTrial, attempt: int) -> Trial:
    """Run one trial and say how it ended.

    A server or a load generator that fails makes a failed trial; anything else that is raised
    (an interruption, a full disk, a defect) ends the trial without a record, so that it is run
    again, and is raised on.
    """
    started_at = run.clock()
    steps = run.executor.begin(planned, attempt)
    try:
        problems = _all_steps(run, steps)
    finally:
        steps.abandon()
    collected = steps.collected()
    return Trial(
        number=planned.number,
        attempt=attempt,
        outcome=outcome_of(problems),
        problems=problems,
        started_at=started_at,
        finished_at=run.clock(),
        metrics=collected.metrics,
        series=collected.series,
        histogram=collected.histogram,
        facts=collected.facts,
        evidence=collected.evidence,
        profile=collected.profile,
    )


def outcome_of(problems: tuple[Problem, ...]) -> Outcome:
    """Counted without problems; disturbed where all of them are the machine's."""
    if not problems:
        return Outcome.COUNTED
    if all(problem.code in DISTURBANCES for problem in problems):
        return Outcome.DISTURBED
    return Outcome.FAILED


def _all_steps(run: TrialRun, steps: TrialSteps) -> tuple[Problem, ...]:
    before_measuring = (
        (Step.RESTORE, steps.restore),
        (Step.CACHES, steps.caches),
        (Step.START, steps.start),
        (Step.PREWARM, steps.prewarm),
        (Step.SETTLE, steps.settle),
        (Step.WARM_UP, steps.warm_up),
        (Step.MEASURE, steps.measure),
        (Step.COLLECT, steps.collect),
    )
    problems: tuple[Problem, ...] = ()
    step = Step.RESTORE
    try:
        for step, action in before_measuring:
            _step(run, step, action)
    except (ServerError, WorkloadError) as error:
        problems = (Problem(code=f"{step.value}-failed", detail=error.message),)
    run.observer.step_started(Step.CHECK)
    problems = _without_repetition((*problems, *steps.check()))
    run.record(Step.CHECK, {"problems": [problem.code for problem in problems]})
    if not problems and steps.profiles:
        _step(run, Step.PROFILE, steps.profile)
    _step(run, Step.STOP, steps.stop)
    return problems


def _step(run: TrialRun, step: Step, action: Callable[[], Facts]) -> None:
    run.check_interruption()
    run.observer.step_started(step)
    begun = time.monotonic()
    facts = action()
    run.record(step, {"seconds": time.monotonic() - begun, **facts})


def _without_repetition(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return tuple(dict.fromkeys(problems))
