"""Which planned trials have ended, and which of their attempts count: the one rule for the
scheduler, the ledger and the analysis.

The trials of a comparison (all sides of one block, workload and context) count together or not at
all, and are run again together, next to one another. A trial that was repeated alone would stand
beside a partner of another hour, and the side that is disturbed more often would have more of the
later hours: with drift, 20 % of such comparisons of equal servers were wrong (METHOD.md, A trial).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import count, islice
from typing import Any

from teiten.model.plan import Level, Plan, PlannedTrial
from teiten.model.trial import Event, Outcome

CAMPAIGN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""A campaign's name, which is that of its folder."""
Finished = tuple[int, int, Outcome]
"""Number, attempt and outcome of a trial in the ledger."""


class Ending(StrEnum):
    """Why a sequential campaign runs no further trial; the kind of its event, too."""

    DECIDED = "decided"
    """Every verdict that there can be: none of a query that exceeded its time limit."""
    BUDGET_SPENT = "budget-spent"
    BLOCKS_SPENT = "blocks-spent"
    LEFT_BEHIND = "left-behind"
    """The difference includes what each side leaves behind for the other."""
    ALLOTTED_SPENT = "allotted-spent"
    """The blocks that a collection has given it have run; it may give more."""


RESUMED = "resumed"
"""The event with which a campaign goes on; its detail has the fingerprint of the ``machine``, and
the version of ``teiten``, which older ones lack."""
ALLOTTED = "allotted"
"""The kind of the event with which a collection gives a campaign blocks, as ``MoreBlocks``."""
PUBLISHED = "published"
"""The kind of the event that a published copy of a ledger has."""


@dataclass(frozen=True)
class Standing:
    """Progress of a campaign, as its ledger stands."""

    unneeded: frozenset[int] = frozenset()
    """Numbers of planned trials that a sequential campaign does without."""
    ending: Ending | None = None
    """None while it goes on, and for a fixed design, which ends with its last trial."""


@dataclass(frozen=True)
class MoreBlocks:
    """Blocks that a collection gives a campaign at one time."""

    more: int
    """For each of the levels."""
    levels: frozenset[Level] | None = None
    """None for all."""

    @property
    def detail(self) -> dict[str, Any]:
        """The event's detail, from which ``given_blocks`` reads it."""
        if self.levels is None:
            return {"more": self.more}
        return {"more": self.more, "levels": sorted(self.levels)}


GivenBlocks = Mapping[Level, Mapping[int, int]]
"""The blocks that a collection has given each level of a campaign: their numbers in the plan, each
with the time, from 1, at which it was given. Blocks of several levels that were given at one time
run among one another; with the same number, but of different times, they have nothing in common."""


@dataclass(frozen=True)
class OpenTrial:
    """A trial that still has to run. ``attempt`` is from 1."""

    trial: PlannedTrial
    attempt: int


def is_published(events: Iterable[Event]) -> bool:
    """Whether a ledger with these events is a published copy, which is never continued."""
    return any(event.kind == PUBLISHED for event in events)


def given_blocks(plan: Plan, events: Iterable[Event]) -> GivenBlocks:
    """Find the blocks that a collection has given a campaign; empty for a campaign of its own."""
    given: GivenBlocks = {}
    for event in events:
        if event.kind != ALLOTTED:
            continue
        listed = allotted_levels(event)
        levels = levels_of(plan) if listed is None else listed
        if "more" in event.detail:
            given = with_more(given, levels, int(event.detail["more"]))
            continue
        # Teiten before 2026-11-28: each time's blocks came after all before, with gaps at the rest
        before = max(taken_blocks(given, given), default=0)
        given = _with_numbers(given, levels, range(before + 1, int(event.detail["blocks"]) + 1))
    return given


def with_more(given: GivenBlocks, levels: Collection[Level], more: int) -> GivenBlocks:
    """Give levels so many more blocks: the first of the plan that none of them has, so that they
    run together."""
    taken = taken_blocks(given, levels)
    free = (number for number in count(1) if number not in taken)
    return _with_numbers(given, levels, tuple(islice(free, more)))


def taken_blocks(given: GivenBlocks, levels: Iterable[Level]) -> frozenset[int]:
    """The numbers of the blocks that any of the levels has."""
    return frozenset(number for level in levels for number in given.get(level, ()))


def _with_numbers(
    given: GivenBlocks, levels: Collection[Level], numbers: Iterable[int]
) -> GivenBlocks:
    added = dict.fromkeys(numbers, max(times_of(given), default=0) + 1)
    return {**given, **{level: {**given.get(level, {}), **added} for level in levels}}


def times_of(given: GivenBlocks) -> frozenset[int]:
    """The times at which blocks were given."""
    return frozenset(time for blocks in given.values() for time in blocks.values())


def allotted_levels(event: Event) -> frozenset[Level] | None:
    """The levels that a collection gave blocks in this event; None for all."""
    listed = event.detail.get("levels")
    if listed is None:
        return None
    return frozenset(
        (workload, tuple((factor, level) for factor, level in levels))
        for workload, levels in listed
    )


def is_given(plan: Plan, trial: PlannedTrial, given: GivenBlocks) -> bool:
    """Whether a planned trial is among the blocks that a collection has given its campaign."""
    return trial.block in given.get(level_of(plan, trial), ())


def levels_of(plan: Plan) -> frozenset[Level]:
    """The levels at which a plan compares trials."""
    contrast = plan.study.contrast
    return frozenset((cell.workload, cell.context(contrast)) for cell in plan.cells)


def level_of(plan: Plan, trial: PlannedTrial) -> Level:
    """The level at which a trial is compared."""
    return trial.cell.workload, trial.cell.context(plan.study.contrast)


def compared_together(plan: Plan) -> Iterator[tuple[PlannedTrial, ...]]:
    """The trials of each comparison, in the plan's order; a trial alone where nothing is compared
    with it."""
    comparisons: dict[tuple[int, Level], list[PlannedTrial]] = defaultdict(list)
    for trial in plan.trials:
        comparisons[trial.block, level_of(plan, trial)].append(trial)
    yield from map(tuple, comparisons.values())


def counting(plan: Plan, finished: Iterable[Finished]) -> frozenset[tuple[int, int]]:
    """Number and attempt of the trials that count: those of which no other side failed, or was
    disturbed, in the same attempt."""
    outcomes = {(number, attempt): outcome for number, attempt, outcome in finished}
    rounds = {attempt for _, attempt in outcomes}
    counted: set[tuple[int, int]] = set()
    for together in compared_together(plan):
        for attempt in rounds:
            ran = {trial.number: outcomes.get((trial.number, attempt)) for trial in together}
            if all(outcome in (None, Outcome.COUNTED) for outcome in ran.values()):
                counted.update((number, attempt) for number, outcome in ran.items() if outcome)
    return frozenset(counted)


def open_trials(
    plan: Plan, finished: Iterable[Finished], *, unneeded: Collection[int] = frozenset()
) -> tuple[OpenTrial, ...]:
    """The planned trials that still have to run, in the plan's order, each with its next attempt.

    A comparison has ended when all of its trials counted in the same attempt, or when it was
    repeated in vain as often as is of use (``most_attempts``). ``unneeded``: numbers that need not
    run, because a verdict is decided.
    """
    ended = tuple(finished)
    outcomes: dict[int, dict[int, Outcome]] = defaultdict(dict)
    for number, attempt, outcome in ended:
        outcomes[number][attempt] = outcome
    left: dict[int, int] = {}
    for together in compared_together(plan):
        left.update(_next_attempts({trial.number: outcomes[trial.number] for trial in together}))
    attempts = most_attempts(plan, ended)
    return tuple(
        OpenTrial(trial, left[trial.number])
        for trial in plan.trials
        if trial.number not in unneeded and left.get(trial.number, attempts + 1) <= attempts
    )


def most_attempts(plan: Plan, finished: Iterable[Finished]) -> int:
    """How often a trial may run: once, and ``measure.repeats`` times again (METHOD.md, A trial, 7).

    An attempt in which a whole block or more ran and every trial was disturbed is the last: the
    machine is busy throughout, and to repeat everything would double the time for nothing.
    """
    block = sum(trial.block == plan.trials[0].block for trial in plan.trials)
    outcomes: dict[int, list[Outcome]] = defaultdict(list)
    for _, attempt, outcome in finished:
        outcomes[attempt].append(outcome)
    attempts = 1 + plan.study.measure.repeats
    in_vain = (
        attempt
        for attempt, ended in outcomes.items()
        if len(ended) >= block and set(ended) == {Outcome.DISTURBED}
    )
    return min((attempts, *in_vain))


def _next_attempts(together: Mapping[int, Mapping[int, Outcome]]) -> dict[int, int]:
    """Find the next attempt of each trial of a comparison; empty where all of them counted.

    An attempt that some of them have not had yet is ended first, or else one side would have more
    attempts than another.
    """
    last = max((attempt for outcomes in together.values() for attempt in outcomes), default=1)
    lacking = {number: last for number, outcomes in together.items() if last not in outcomes}
    if lacking:
        return lacking
    if all(outcomes[last] is Outcome.COUNTED for outcomes in together.values()):
        return {}
    return dict.fromkeys(together, last + 1)
