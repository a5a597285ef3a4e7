"""A campaign: its trials in the planned order, then the repeats; every finished trial is kept.

What is left to do is always derived from the ledger, so that a campaign that was cut off anywhere
is continued by the same function.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from teiten.execute.executor import Executor, Facts, Observer
from teiten.execute.trial import TrialRun, run_trial
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.trial import Outcome, Step

FinishedTrial = tuple[int, int, Outcome]
"""Number, attempt, outcome."""


@dataclass(frozen=True)
class Remaining:
    """The next trial to run. ``attempt`` is from 1."""

    trial: PlannedTrial
    attempt: int


def next_trial(plan: Plan, finished: Iterable[FinishedTrial]) -> Remaining | None:
    """The next trial of a campaign: the first that has not ended, then repeats; None at the end.

    Repeats come at the end, the trials with the fewest attempts first, each at most
    ``study.measure.repeats`` times.
    """
    attempts: dict[int, int] = {}
    counted: set[int] = set()
    for number, attempt, outcome in finished:
        attempts[number] = max(attempt, attempts.get(number, 0))
        if outcome is Outcome.COUNTED:
            counted.add(number)
    limit = 1 + plan.study.measure.repeats
    open_trials = [
        (attempts.get(trial.number, 0), trial)
        for trial in plan.trials
        if trial.number not in counted and attempts.get(trial.number, 0) < limit
    ]
    if not open_trials:
        return None
    done, trial = min(open_trials, key=lambda pair: (pair[0], pair[1].number))
    return Remaining(trial=trial, attempt=done + 1)


def rehearsals(plan: Plan) -> tuple[PlannedTrial, ...]:
    """One trial for each kind of server and script: what is wrong with them shows at once."""
    kinds: dict[tuple[object, ...], PlannedTrial] = {}
    for trial in plan.trials:
        kind = (trial.template.fingerprint, trial.settings, trial.cell.workload, trial.query_mode)
        kinds.setdefault(kind, trial)
    return tuple(kinds.values())


def prepare_campaign(ledger: Ledger, executor: Executor, observer: Observer) -> None:
    """Make the templates ready and try each kind of server and script once."""
    for template in ledger.plan.templates:
        observer.preparing(
            f"PostgreSQL {template.installation.version}, scale factor {template.data.scale}"
        )
        ledger.record_event(
            "template-ready", fingerprint=template.fingerprint, **executor.prepare(template)
        )
    for trial in rehearsals(ledger.plan):
        observer.preparing(f"{trial.cell}: trying the server and the script")
        ledger.record_event("rehearsed", cell=str(trial.cell), **executor.rehearse(trial))


def run_campaign(
    ledger: Ledger,
    executor: Executor,
    observer: Observer,
    clock: Callable[[], float] = time.time,
) -> None:
    """Run every trial that the ledger does not hold yet, and its repeats."""
    total = len(ledger.plan.trials)
    while (remaining := next_trial(ledger.plan, ledger.finished())) is not None:
        number, attempt = remaining.trial.number, remaining.attempt

        def record(step: Step, facts: Facts, number: int = number, attempt: int = attempt) -> None:
            ledger.record_event("step", trial=number, attempt=attempt, step=step.value, **facts)

        ended = len({finished[0] for finished in ledger.finished()})
        observer.trial_started(remaining.trial, attempt, ended, total)
        ledger.record_event("trial-started", trial=number, attempt=attempt)
        trial = run_trial(TrialRun(executor, observer, record, clock), remaining.trial, attempt)
        ledger.record_trial(trial)
        observer.trial_finished(trial)
    ledger.record_event("campaign-finished")
