"""A campaign: its trials in the planned order, then the repeats; every finished trial is kept.

What is left to do is always derived from the ledger, so that a campaign that was cut off anywhere
is continued by the same function. In a sequential design a rule, asked before every trial, says
what is not needed any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext

from teiten.errors import TrialsFailedError
from teiten.execute.bench import CampaignRecord
from teiten.execute.executor import Executor, Facts, Observer
from teiten.execute.trial import StepRecorder, TrialRun, run_pair
from teiten.model.plan import Plan, PlannedTrial, of_each_kind
from teiten.model.progress import Finished, OpenTrial, Standing, open_trials
from teiten.model.trial import Outcome, Step, Trial

REHEARSED = "rehearsed"
HOPELESS_AFTER = 4
"""Failures in a row of one kind, at least; always more than a trial's attempts."""


StoppingRule = Callable[[], Standing]
"""From the ledger as it is now."""


def next_trial(
    plan: Plan, finished: Sequence[Finished], unneeded: Collection[int] = frozenset()
) -> OpenTrial | None:
    """The next trial of a campaign: the first that has not ended, then repeats; None at the end.

    Repeats come at the end, the comparisons with the fewest attempts first. ``unneeded``: numbers
    of trials that a decision has made needless.
    """
    candidates = open_trials(plan, finished, unneeded=unneeded)
    return min(
        candidates, key=lambda candidate: (candidate.attempt, candidate.trial.number), default=None
    )


def rehearsals(plan: Plan) -> tuple[PlannedTrial, ...]:
    """One trial for each kind of server and script: what is wrong with them shows at once."""
    return of_each_kind(plan.study.measure, plan.trials)


def prepare_campaign(
    record: CampaignRecord,
    executor: Executor,
    observer: Observer,
    check_interruption: Callable[[], None] = lambda: None,
) -> None:
    """Make the templates ready and, once in a campaign, try each kind of server and script."""
    for template in record.plan.templates:
        check_interruption()
        observer.preparing(f"PostgreSQL {template.installation.version}, {template.data}")
        record.record_event(
            "template-ready", fingerprint=template.fingerprint, **executor.prepare(template)
        )
    if any(event.kind == REHEARSED for event in record.events()):
        return
    for trial in rehearsals(record.plan):
        check_interruption()
        observer.preparing(f"{trial.cell}: trying the server and the script")
        executor.rehearse(trial)
    record.record_event(REHEARSED)


class FailureStreaks:
    """Gives up when one kind of trial fails again and again: hours of failures help nobody."""

    def __init__(self, plan: Plan, limit: int | None = None) -> None:
        """``limit``: failures in a row; None for as many as the plan's repeats allow."""
        attempts = plan.study.measure.repeats + 1
        self._contrast = plan.study.contrast
        self._limit = max(HOPELESS_AFTER, attempts + 1) if limit is None else limit
        self._streaks: Counter[tuple[str, str | None]] = Counter()

    def ended(self, planned: PlannedTrial, trial: Trial) -> None:
        """Take note of a trial; raises TrialsFailedError after ``limit`` failures in a row of one
        workload on one side. A disturbed trial is no failure."""
        kind = (planned.cell.workload, planned.cell.level(self._contrast))
        if trial.outcome is not Outcome.FAILED:
            self._streaks[kind] = 0
            return
        self._streaks[kind] += 1
        if self._streaks[kind] >= self._limit:
            problem = trial.problems[0]
            raise TrialsFailedError(
                f"{self._limit} trials in a row of {planned.cell.workload}"
                f" {self._contrast}={kind[1]} failed, the last with {problem.code}:"
                f" {problem.detail}",
                "see the trials' logs in the campaign's folder evidence; when the cause is gone,"
                " teiten resume continues",
            )


def run_campaign(
    record: CampaignRecord,
    executor: Executor,
    observer: Observer,
    check_interruption: Callable[[], None] = lambda: None,
    rule: StoppingRule = Standing,
    *,
    holding: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Run every trial that the ledger does not hold yet, and its repeats, as far as ``rule`` needs
    them; without one, all. ``holding``: see ``TrialRun``."""
    streaks = FailureStreaks(record.plan)
    standing = rule()
    while remaining := next_trial(record.plan, record.finished(), standing.unneeded):
        pair, attempt = record.plan.pair_of(remaining.trial), remaining.attempt
        _announce(record, observer, pair, attempt)
        run = TrialRun(
            executor,
            observer,
            _noting(record, attempt),
            check_interruption,
            keep=record.record_trials,
            holding=holding,
        )
        trials = run_pair(run, pair, attempt)
        for planned, trial in zip(pair, trials, strict=True):
            observer.trial_finished(trial)
            streaks.ended(planned, trial)
        standing = rule()
    if standing.ending is not None:
        record.record_event(standing.ending.value)
    record.record_event("campaign-finished")


def _announce(
    record: CampaignRecord, observer: Observer, pair: Sequence[PlannedTrial], attempt: int
) -> None:
    ended = len({number for number, _, _ in record.finished()})
    for planned in pair:
        observer.trial_started(planned, attempt, ended, len(record.plan.trials))
        record.record_event("trial-started", trial=planned.number, attempt=attempt)


def _noting(record: CampaignRecord, attempt: int) -> StepRecorder:
    def note(planned: PlannedTrial, step: Step, facts: Facts) -> None:
        record.record_event("step", trial=planned.number, attempt=attempt, step=step.value, **facts)

    return note
