"""Starts of servers: which trials of a plan find their server running, which leave it running for
the next, and what of a trial's slices counts; and how long the next start is to be where servers
are loaded in paired transactions (METHOD.md, Paired transactions). Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teiten.model.metrics import MEASURED_SECONDS
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import MOST_SECONDS
from teiten.model.trial import Attempt
from teiten.model.units import Seconds

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
    numbers: set[int] = set()
    for trial in plan.trials:
        if trial.restart and start_of(trial) in seen:
            numbers.add(trial.number)
        seen.add(start_of(trial))
    return frozenset(numbers)


def last_of_their_start(plan: Plan) -> frozenset[int]:
    """Numbers of the trials after which their server is stopped, if all goes well."""
    last = {
        start_of(trial) if trial.restart else trial.number: plan.starter_of(trial)
        for trial in plan.trials
    }
    return frozenset(trial.number for trial in last.values())


def start_of(trial: PlannedTrial) -> Start:
    """Find the start that a trial's servers belong to."""
    return trial.restart, trial.fingerprints, trial.copy


def trimmed_at_each_end(slices: int) -> int:
    """How many of a trial's slices its trimmed mean leaves out at each end."""
    return int(TRIM * slices)


def slice_seed(seed: int, number: int) -> int:
    """pgbench's --random-seed of a trial's slice, from 1; the same on both sides of a pair."""
    return seed + SLICE_SEED * (number - 1)


FIRST_STARTS = 6
"""Starts before their variances are known well enough to plan by (as many as an interval needs)."""
FIRST_SECONDS = Seconds(8.0)
"""Wall time of the load of two sides in each of the first starts."""
LEAST_SECONDS = Seconds(4.0)
"""Wall time of the shortest load of two sides in later starts: still shorter ones are mostly fixed
cost and a wrong estimate of the deviation between starts."""


def of_sides(of_two: Seconds, sides: int) -> Seconds:
    """How long a load is in which each of several sides has what it has in one of two."""
    return Seconds(of_two * sides / 2)


@dataclass(frozen=True)
class PairedStart:
    """Result of a start for one of the numbers, of one side against the base."""

    number: float
    """A logarithm of B's speed over A's."""
    within: float
    """The variance that it would have if it were one second long."""
    seconds: float
    """Wall time of its load."""
    fixed: float = 0.0
    """Seconds that the start took besides its load."""


@dataclass(frozen=True)
class Spread:
    """Scatter by which a start's length is planned, for one of the numbers."""

    within: float
    """Variance of the number of a start of one second."""
    between: float
    """Deviation between starts of one server, what is due to ``within`` taken out."""


def variance_of_a_second(inside: Sequence[float], seconds: float) -> float:
    """Estimate the variance of the number of a start of one second, from a start's parts.

    ``inside``: the number of each of its parts of equal time; ``seconds``: its length.

    The mean of P parts of a start of W seconds has the variance s²/P, so that of one second is
    W·s²/P. Parts that follow each other are taken for independent; where they are not, this is too
    small, the deviation between starts too large, and starts are planned shorter and more of them,
    which costs time and no truth. 0 of fewer than two parts.
    """
    if len(inside) < 2:
        return 0.0
    return float(np.var(inside, ddof=1)) / len(inside) * seconds


def spread(starts: Sequence[PairedStart]) -> Spread:
    """The variances, from two starts or more. Two servers start anew each time, so that the
    variance between starts is 2b² + within/W."""
    within = float(np.mean([start.within for start in starts]))
    explained = float(np.mean([within / start.seconds for start in starts]))
    excess = float(np.var([start.number for start in starts], ddof=1)) - explained
    return Spread(within, math.sqrt(max(excess, 0.0) / 2))


def wall_seconds(fixed: float, known: Spread, sides: int = 2) -> Seconds:
    """How long the load of a start is to be, so that a campaign of given length says the most.

    ``fixed``: seconds that a start takes beside its load (F). ``sides``: how many share it.

    In T seconds there are T/(F + W) starts of the variance 2b² + v/W each, so that the mean has
    (2b² + v/W)(F + W)/T; this is least where W = √(F·v/(2b²)). Clipped to 4 … 32 s of two sides.
    """
    least, most = of_sides(LEAST_SECONDS, sides), of_sides(MOST_SECONDS, sides)
    if not known.within * fixed:
        return least
    if not known.between:
        return most
    best = math.sqrt(fixed * known.within / 2) / known.between
    return Seconds(min(max(best, least), most))


def next_seconds(starts: Sequence[PairedStart], sides: int = 2) -> Seconds:
    """How long the load of the next start is to be, after these."""
    if len(starts) < FIRST_STARTS:
        return of_sides(FIRST_SECONDS, sides)
    fixed = float(np.median([start.fixed for start in starts]))
    return wall_seconds(fixed, spread(starts), sides)


def starts_of(
    plan: Plan, attempts: Sequence[Attempt], trial: PlannedTrial, number: str, within: str
) -> tuple[list[PairedStart], ...]:
    """The counted starts of a trial's workload and context, by block, of each side against the
    base.

    ``number`` and ``within``: the metrics whose ratio is the number, and that have its variance of
    a second; ``attempts`` have both, and ``MEASURED_SECONDS``.
    """
    old, *new = plan.study.contrasted_levels
    planned = {trial.number: trial for trial in plan.trials}
    context = trial.cell.context(plan.study.contrast)
    needed = {number, within, MEASURED_SECONDS.name}
    sides: dict[int, dict[str | None, Attempt]] = {}
    for attempt in attempts:
        cell = planned[attempt.number].cell
        same = cell.workload == trial.cell.workload
        if not attempt.counts or not same or not needed <= attempt.metrics.keys():
            continue
        if cell.context(plan.study.contrast) == context:
            level = cell.level(plan.study.contrast)
            sides.setdefault(planned[attempt.number].block, {})[level] = attempt
    return tuple(
        [
            _start(of_level[old], of_level[level], number, within)
            for _, of_level in sorted(sides.items())
            if {old, level} <= of_level.keys()
        ]
        for level in new
    )


def planned_seconds(plan: Plan, comparisons: Sequence[Sequence[PairedStart]]) -> Seconds:
    """How long the load of a plan's next start is to be, after these starts of each comparison: as
    long as the one is best served that asks for most."""
    measure, sides = plan.study.measure, plan.study.sides_of_a_start
    if not measure.lengthens:
        return measure.duration or of_sides(FIRST_SECONDS, sides)
    return max(next_seconds(starts, sides) for starts in comparisons)


def _start(old: Attempt, new: Attempt, number: str, within: str) -> PairedStart:
    seconds = old.metrics[MEASURED_SECONDS.name]
    return PairedStart(
        math.log(new.metrics[number] / old.metrics[number]),
        new.metrics[within],
        seconds,
        max(0.0, old.finished_at - old.started_at - seconds),
    )
