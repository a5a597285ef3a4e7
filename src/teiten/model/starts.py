"""Trials in slices, and servers that stay up: which trials of a plan find their server running,
which leave it running for the next, and what of a trial's slices counts."""

from __future__ import annotations

from teiten.model.plan import Plan, PlannedTrial

SLICE_SEED = 30_000_001
"""Added to a trial's seed for each further slice, so that no slice touches the same rows first."""

TRIM = 0.2
"""The share of the slices that is left out at each end (Wilcox, Introduction to Robust Estimation
and Hypothesis Testing, 2012, ch. 3): of five slices the least and the greatest."""

Start = tuple[int, tuple[str, ...], int]
"""Start of a trial's servers: the number of the pairs' start, their templates, and which copies."""


def started_before(plan: Plan) -> frozenset[int]:
    """Numbers of the trials whose server an earlier pair has started."""
    seen: set[Start] = set()
    found: set[int] = set()
    for trial in plan.trials:
        if trial.restart and start_of(trial) in seen:
            found.add(trial.number)
        seen.add(start_of(trial))
    return frozenset(found)


def last_of_their_start(plan: Plan) -> frozenset[int]:
    """Numbers of the trials after which their server is stopped, if all goes well."""
    last = {start_of(trial) if trial.restart else trial.number: trial for trial in plan.trials}
    return frozenset(trial.number for trial in last.values())


def pairs_of_a_start(plan: Plan) -> int:
    """How many pairs share a start of their servers, at the most; they count as one pair."""
    blocks: dict[int, set[int]] = {}
    for trial in plan.trials:
        if trial.restart:
            blocks.setdefault(trial.restart, set()).add(trial.block)
    return max(map(len, blocks.values()), default=1)


def start_of(trial: PlannedTrial) -> Start:
    """Find the start that a trial's servers belong to."""
    return trial.restart, trial.fingerprints, trial.copy


def trimmed_at_each_end(slices: int) -> int:
    """How many of a trial's slices its trimmed mean leaves out at each end."""
    return int(TRIM * slices)


def slice_seed(seed: int, number: int) -> int:
    """pgbench's --random-seed of a trial's slice, from 1; the same on both sides of a pair."""
    return seed + SLICE_SEED * (number - 1)
