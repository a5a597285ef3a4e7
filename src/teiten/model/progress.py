"""Which planned trials have ended: the one rule for the scheduler, the ledger and the analysis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from teiten.model.plan import PlannedTrial
from teiten.model.trial import Outcome

Finished = tuple[int, int, Outcome]
"""Number, attempt and outcome of a trial in the ledger."""


class Ending(StrEnum):
    """Why a sequential campaign runs no further trial; the kind of its event, too."""

    DECIDED = "decided"
    BUDGET_SPENT = "budget-spent"
    BLOCKS_SPENT = "blocks-spent"
    LEFT_BEHIND = "left-behind"
    """What each side leaves behind for the other is part of the difference."""


@dataclass(frozen=True)
class Standing:
    """What a campaign still needs, as its ledger stands."""

    unneeded: frozenset[int] = frozenset()
    """Numbers of planned trials that a sequential campaign does without."""
    ending: Ending | None = None
    """None while it goes on, and for a fixed design, which ends with its last trial."""


def open_trials(
    planned: Iterable[PlannedTrial],
    finished: Iterable[Finished],
    *,
    repeats: int,
    unneeded: Collection[int] = frozenset(),
) -> tuple[PlannedTrial, ...]:
    """The planned trials that still have to run, in the plan's order.

    A trial has ended when an attempt counted, or when it was repeated ``repeats`` times in vain
    (METHOD.md, A trial, 7). ``unneeded``: numbers that need not run, because a verdict is decided.
    """
    outcomes: dict[int, list[Outcome]] = defaultdict(list)
    for number, _, outcome in finished:
        outcomes[number].append(outcome)
    return tuple(
        trial
        for trial in planned
        if trial.number not in unneeded
        and Outcome.COUNTED not in outcomes[trial.number]
        and len(outcomes[trial.number]) <= repeats
    )
