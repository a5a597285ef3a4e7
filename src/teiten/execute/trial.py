"""Trials: METHOD.md's steps in order; whatever happens, a record and no process left.

The trials of a pair whose servers run side by side take every step one after the other; their
slices are measured in the plan's turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from teiten.errors import ServerError, WorkloadError
from teiten.execute.executor import Executor, Facts, Observer, TrialSteps
from teiten.model.plan import PlannedTrial
from teiten.model.trial import PARTNER, Outcome, Problem, Step, Trial

DISTURBANCES = frozenset({"steal", "other-load", PARTNER})
"""Problems that come from the machine's record, not from what was measured."""

StepRecorder = Callable[[PlannedTrial, Step, Facts], None]


@dataclass(frozen=True)
class TrialRun:
    """Everything that it takes to run trials."""

    executor: Executor
    observer: Observer
    record: StepRecorder
    check_interruption: Callable[[], None] = lambda: None
    """Raises KeyboardInterrupt where someone asked for the end; called before every step."""
    clock: Callable[[], float] = time.time
    keep: Callable[[Sequence[Trial]], None] = lambda _: None
    """Records the trials of a pair, all of them or none."""
    holding: Callable[[], AbstractContextManager[None]] = nullcontext
    """Has an interruption wait while trials that were measured are ended and kept."""


@dataclass
class _Member:
    """One trial of those that run together."""

    planned: PlannedTrial
    steps: TrialSteps
    problems: tuple[Problem, ...] = field(default=())


class Rehearsed(TrialSteps, Protocol):
    """The steps of a trial that can be tried."""

    def rehearse(self) -> None:
        """Try what the load will do. Raises WorkloadError, with a hint, where it is wrong."""


def rehearse(steps: Rehearsed) -> None:
    """The first steps of a trial, to find what is wrong before any is measured; whatever is, is
    raised, and no process is left."""
    try:
        steps.restore()
        steps.start()
        steps.rehearse()
        steps.stop(sound=True)
    finally:
        steps.abandon()


def run_trial(run: TrialRun, planned: PlannedTrial, attempt: int) -> Trial:
    """Run one trial by itself and say how it ended (see ``run_pair``)."""
    (trial,) = run_pair(run, (planned,), attempt)
    return trial


def run_pair(run: TrialRun, pair: Sequence[PlannedTrial], attempt: int) -> tuple[Trial, ...]:
    """Run the trials of a pair side by side, or one by itself, keep them, and say how each ended.

    A server or a load generator that fails makes a failed trial. Anything else that is raised up to
    the check (an interruption, a full disk, a defect) ends the trials without a record, so that
    they are run again, and is raised on; what is raised after it is raised once they are kept. A
    trial whose partner does not count does not count either: what disturbed the one ran through
    the turns of both.
    """
    started_at = run.clock()
    members: list[_Member] = []
    try:
        members.extend(_Member(planned, run.executor.begin(planned, attempt)) for planned in pair)
        _measure(run, members)
        with run.holding():
            _check(run, members)
            return _kept(run, members, attempt, started_at)
    except BaseException:
        _abandon(members)
        raise


def _kept(
    run: TrialRun, members: Sequence[_Member], attempt: int, started_at: float
) -> tuple[Trial, ...]:
    """Take the steps that follow the check, leave no process, and keep the trials whatever these
    steps come to."""
    try:
        try:
            _end(run, members)
        finally:
            _abandon(members)
    finally:
        finished_at = run.clock()
        trials = tuple(_ended(member, attempt, started_at, finished_at) for member in members)
        run.keep(trials)
    return trials


def _abandon(members: Sequence[_Member]) -> None:
    with ExitStack() as ending:  # each, whatever happens at another
        for member in reversed(members):
            ending.callback(member.steps.abandon)


def outcome_of(problems: tuple[Problem, ...]) -> Outcome:
    """Counted without problems; disturbed where all of them are the machine's."""
    if not problems:
        return Outcome.COUNTED
    if all(problem.code in DISTURBANCES for problem in problems):
        return Outcome.DISTURBED
    return Outcome.FAILED


def _ended(member: _Member, attempt: int, started_at: float, finished_at: float) -> Trial:
    collected = member.steps.collected()
    return Trial(
        number=member.planned.number,
        attempt=attempt,
        outcome=outcome_of(member.problems),
        problems=member.problems,
        started_at=started_at,
        finished_at=finished_at,
        metrics=collected.metrics,
        series=collected.series,
        histogram=collected.histogram,
        facts=collected.facts,
        evidence=collected.evidence,
        stack_samples=collected.stack_samples,
    )


def _measure(run: TrialRun, members: Sequence[_Member]) -> None:
    step, current = Step.RESTORE, members[0]
    try:
        for current, step, action in _until_collected(members):
            _step(run, current, step, action)
    except (ServerError, WorkloadError) as error:
        current.problems = (Problem(code=f"{step.value}-failed", detail=error.message),)


def _check(run: TrialRun, members: Sequence[_Member]) -> None:
    for member in members:
        run.observer.step_started(member.planned, Step.CHECK)
        member.problems = tuple(dict.fromkeys((*member.problems, *member.steps.check())))
    _blame_partners(members)
    for member in members:
        codes = [problem.code for problem in member.problems]
        run.record(member.planned, Step.CHECK, {"problems": codes})


def _end(run: TrialRun, members: Sequence[_Member]) -> None:
    sound = not any(member.problems for member in members)
    for member in members if sound else ():
        if member.steps.samples_stacks:
            _step(run, member, Step.STACKS, member.steps.sample_stacks)
    for member in members:
        _step(run, member, Step.STOP, partial(member.steps.stop, sound=sound))


def _until_collected(
    members: Sequence[_Member],
) -> Iterator[tuple[_Member, Step, Callable[[], Facts]]]:
    """Every step up to the collecting: each of all members, before the next one begins."""
    for member in members:
        yield member, Step.RESTORE, member.steps.restore
    for member in members:
        yield member, Step.CACHES, member.steps.caches
    for member in members:
        yield member, Step.START, member.steps.start
    for member in members:
        yield member, Step.PREWARM, member.steps.prewarm
    for member in members:
        yield member, Step.SETTLE, member.steps.settle
    for member in members:
        yield member, Step.WARM_UP, member.steps.warm_up
    for member, number in _turns(members):
        yield member, Step.MEASURE, partial(member.steps.measure, number)
    for member in members:
        yield member, Step.COLLECT, member.steps.collect


def _turns(members: Sequence[_Member]) -> list[tuple[_Member, int]]:
    """Whose slice is measured when, and which of its slices that is, from 1."""
    turns = [
        (place, at, number)
        for at, member in enumerate(members)
        for number, place in enumerate(member.planned.turns or (1,), start=1)
    ]
    return [(members[at], number) for _, at, number in sorted(turns)]


def _blame_partners(members: Sequence[_Member]) -> None:
    """A pair counts as a whole or not at all."""
    blamed = next((member for member in members if member.problems), None)
    if blamed is None:
        return
    detail = f"trial {blamed.planned.number}: {blamed.problems[0].code}"
    for member in members:
        member.problems = member.problems or (Problem(PARTNER, detail),)


def _step(run: TrialRun, member: _Member, step: Step, action: Callable[[], Facts]) -> None:
    run.check_interruption()
    run.observer.step_started(member.planned, step)
    begun = time.monotonic()
    facts = action()
    run.record(member.planned, step, {"seconds": time.monotonic() - begun, **facts})
