"""Latency's tail, in seconds: p99 less p50 of each trial, compared between the sides.

As a difference of times it is the same where every transaction of a side costs a constant more; as
a ratio of them it would be shorter there, though no transaction has become faster.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from teiten.analysis.model.discussion import Tail, TailLevel
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import Context
from teiten.analysis.verdict.changes import change, half_width_of, paired_views
from teiten.analysis.verdict.sequential import patient_half_width
from teiten.model.plan import Plan

SLOW, MIDDLE = "latency_p99", "latency_p50"

Pair = tuple[float, float, int]
"""p99 less p50 (seconds) of old and new, and the start of the servers."""


def tails(plan: Plan, views: Iterable[TrialView]) -> Iterator[Tail]:
    """One for each contrast of a workload with percentiles; its intervals hold together at α over
    the levels."""
    by_contrast: dict[tuple[str, str, str], dict[Context, list[Pair]]] = defaultdict(dict)
    for sides in paired_views(plan, views):
        placed = zip(sides.blocks, sides.starts, strict=True)
        every = [(_tail(old), _tail(new), start) for (old, new), start in placed]
        known = [pair for pair in every if math.isfinite(pair[0]) and math.isfinite(pair[1])]
        if known:
            by_contrast[sides.workload, sides.old, sides.new][sides.context] = known
    for (workload, old, new), levels in by_contrast.items():
        alpha = plan.study.measure.alpha / len(levels)
        compared = (_level(plan, context, pairs, alpha) for context, pairs in levels.items())
        yield Tail(workload, old, new, tuple(compared))


def _tail(view: TrialView) -> float:
    return view.metrics.get(SLOW, math.nan) - view.metrics.get(MIDDLE, math.nan)


def _level(plan: Plan, context: Context, pairs: Sequence[Pair], alpha: float) -> TailLevel:
    old, new, starts = zip(*pairs, strict=True)
    measure = plan.study.measure
    # A tail that is longer is said as a verdict is: from as many pairs on.
    width = half_width_of(measure) if measure.sequential is None else patient_half_width
    difference = change(old, new, starts=starts, alpha=alpha, width=width)
    return TailLevel(context, fmean(old), fmean(new), difference)
