"""Counted trials as pairs: new and old of one metric in the same block and context."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teiten.analysis.model.evidence import log_changes, means_of_starts, with_logarithm
from teiten.analysis.model.observations import Observation
from teiten.model.plan import Context, Plan
from teiten.model.progress import counting
from teiten.model.trial import Attempt


@dataclass(frozen=True)
class PairedValues:
    """One metric of one contrast at one context."""

    old_values: tuple[float, ...]
    """Every counted trial's, in block order, paired or not."""
    new_values: tuple[float, ...]
    log_ratios: dict[int, float]
    """ln(new/old) by block, where both sides have a positive finite value."""
    unusable: int
    """Pairs in which a value is zero, negative or infinite."""


def observe(plan: Plan, attempts: Iterable[Attempt]) -> tuple[Observation, ...]:
    """The planned trials that count, in the plan's order; of several attempts the last counted.

    Trials that count do so together with the other sides of their comparison, so that what is
    paired ran in the same attempt.
    """
    known = tuple(attempts)
    counts = counting(
        plan, ((attempt.number, attempt.attempt, attempt.outcome) for attempt in known)
    )
    counted: dict[int, Attempt] = {}
    for attempt in sorted(known, key=lambda attempt: attempt.attempt):
        if (attempt.number, attempt.attempt) in counts:
            counted[attempt.number] = attempt
    contrast = plan.study.contrast
    return tuple(
        Observation(
            workload=planned.cell.workload,
            context=planned.cell.context(contrast),
            side=planned.cell.level(contrast) or "",
            block=planned.block,
            metrics=counted[planned.number].metrics,
        )
        for planned in plan.trials
        if planned.number in counted
    )


def pair(
    observations: Iterable[Observation], *, context: Context, metric: str, old: str, new: str
) -> PairedValues:
    """Pair the observations of one workload at one context; NaN is a missing value."""
    sides: dict[str, dict[int, float]] = {old: {}, new: {}}
    for observation in observations:
        value = observation.metrics.get(metric, math.nan)
        if observation.context == context and observation.side in sides and not math.isnan(value):
            sides[observation.side][observation.block] = value
    changes = log_changes(sides[old], sides[new])
    usable = with_logarithm(changes)
    old_values, new_values = (
        tuple(value for _, value in sorted(sides[side].items())) for side in (old, new)
    )
    return PairedValues(old_values, new_values, usable, len(changes) - len(usable))


def by_start(plan: Plan, attempts: Iterable[Attempt], d: Mapping[int, float]) -> dict[int, float]:
    """d, or the logarithm of one side, of what stands for itself: the mean of the pairs that share
    a start of their servers (METHOD.md, One number per trial), by their first block."""
    return means_of_starts(d, starts_of(plan, attempts))


def starts_of(plan: Plan, attempts: Iterable[Attempt]) -> dict[int, int]:
    """The first block of those that share a start of their servers, by block.

    A start of which a pair is still to come is left out: a look inside it would be one more look.
    """
    if plan.pairs_of_a_start == 1:
        return {block: block for block in plan.blocks}
    tried = {attempt.number for attempt in attempts}
    blocks: dict[int, set[int]] = defaultdict(set)
    open_starts = {trial.restart for trial in plan.trials if trial.number not in tried}
    for trial in plan.trials:
        if trial.restart not in open_starts:
            blocks[trial.restart].add(trial.block)
    return {block: min(of_start) for of_start in blocks.values() for block in of_start}
