"""Starts of two servers that are loaded in paired transactions: how long the next one is to be.

METHOD.md, Paired transactions. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teiten.model.metrics import MEASURED_SECONDS
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import MOST_SECONDS
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Seconds

FIRST_STARTS = 6
"""Starts before their variances are known well enough to plan by (as many as an interval needs)."""
FIRST_SECONDS = Seconds(8.0)
"""Wall time of the load of each of the first starts."""
LEAST_SECONDS = Seconds(4.0)
"""Wall time of the shortest load of later starts: still shorter ones are mostly fixed cost and a
wrong estimate of the deviation between starts."""


@dataclass(frozen=True)
class PairedStart:
    """Result of a start for one of the numbers."""

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


def wall_seconds(fixed: float, known: Spread) -> Seconds:
    """How long the load of a start is to be, so that a campaign of given length says the most.

    ``fixed``: seconds that a start takes beside its load (F).

    In T seconds there are T/(F + W) starts of the variance 2b² + v/W each, so that the mean has
    (2b² + v/W)(F + W)/T; this is least where W = √(F·v/(2b²)). Clipped to 4 … 32 s.
    """
    if not known.within * fixed:
        return LEAST_SECONDS
    if not known.between:
        return MOST_SECONDS
    best = math.sqrt(fixed * known.within / 2) / known.between
    return Seconds(min(max(best, LEAST_SECONDS), MOST_SECONDS))


def next_seconds(starts: Sequence[PairedStart]) -> Seconds:
    """How long the load of the next start is to be, after these."""
    if len(starts) < FIRST_STARTS:
        return FIRST_SECONDS
    return wall_seconds(float(np.median([start.fixed for start in starts])), spread(starts))


def starts_of(
    plan: Plan, attempts: Sequence[Attempt], trial: PlannedTrial, number: str, within: str
) -> list[PairedStart]:
    """The counted starts of a trial's workload and context, by block.

    ``number`` and ``within``: the metrics whose ratio is the number, and that have its variance of
    a second; ``attempts`` have both, and ``MEASURED_SECONDS``.
    """
    factor = plan.study.factor(plan.study.contrast)
    old = factor.levels[0] if factor is not None else ""
    planned = {trial.number: trial for trial in plan.trials}
    context = trial.cell.context(plan.study.contrast)
    needed = {number, within, MEASURED_SECONDS.name}
    sides: dict[int, dict[bool, Attempt]] = {}
    for attempt in attempts:
        cell = planned[attempt.number].cell
        same = cell.workload == trial.cell.workload
        if (
            attempt.outcome is not Outcome.COUNTED
            or not same
            or not needed <= attempt.metrics.keys()
        ):
            continue
        if cell.context(plan.study.contrast) == context:
            is_old = cell.level(plan.study.contrast) == old
            sides.setdefault(planned[attempt.number].block, {})[is_old] = attempt
    return [
        _start(pair[True], pair[False], number, within)
        for _, pair in sorted(sides.items())
        if len(pair) == 2
    ]


def planned_seconds(plan: Plan, starts: Sequence[PairedStart]) -> Seconds:
    """How long the load of a plan's next start is to be, after these."""
    measure = plan.study.measure
    return next_seconds(starts) if measure.lengthens else measure.duration or FIRST_SECONDS


def _start(old: Attempt, new: Attempt, number: str, within: str) -> PairedStart:
    seconds = old.metrics[MEASURED_SECONDS.name]
    return PairedStart(
        math.log(new.metrics[number] / old.metrics[number]),
        old.metrics[within],
        seconds,
        max(0.0, old.finished_at - old.started_at - seconds),
    )
