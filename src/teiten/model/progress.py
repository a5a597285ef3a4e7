"""Which planned trials have ended: the one rule for the scheduler, the ledger and the analysis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from teiten.model.plan import PlannedTrial
from teiten.model.trial import Outcome

Finished = tuple[int, int, Outcome]
"""Number, attempt and outcome of a trial in the ledger."""


def open_trials(
    planned: Iterable[PlannedTrial], finished: Iterable[Finished], *, repeats: int
) -> tuple[PlannedTrial, ...]:
    """The planned trials that still have to run, in the plan's order.

    A trial has ended when an attempt counted, or when it was repeated ``repeats`` times in vain
    (METHOD.md, A trial, 7).
    """
    outcomes: dict[int, list[Outcome]] = defaultdict(list)
    for number, _, outcome in finished:
        outcomes[number].append(outcome)
    return tuple(
        trial
        for trial in planned
        if Outcome.COUNTED not in outcomes[trial.number] and len(outcomes[trial.number]) <= repeats
    )
