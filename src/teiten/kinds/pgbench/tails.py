"""Latency's tail against its middle: p99 ÷ p50 of each trial, compared between the sides."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from teiten.analysis.model.discussion import Tail, TailLevel
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import Context
from teiten.analysis.verdict.changes import paired_views
from teiten.analysis.verdict.sequential import decide_sequentially
from teiten.analysis.verdict.verdict import Rule, decide
from teiten.model.metrics import Better
from teiten.model.plan import Plan
from teiten.model.units import Share

SLOW, MIDDLE = "latency_p99", "latency_p50"

Pair = tuple[float, float, int]
"""ln(p99 ÷ p50) of old and new, and the start of the servers."""


def tails(plan: Plan, views: Iterable[TrialView]) -> Iterator[Tail]:
    """One for each contrast of a workload with percentiles; its intervals hold together at α over
    the levels."""
    found: dict[tuple[str, str, str], dict[Context, list[Pair]]] = defaultdict(dict)
    for one in paired_views(plan, views):
        placed = zip(one.blocks, one.starts, strict=True)
        every = [(_tail(old), _tail(new), start) for (old, new), start in placed]
        known = [pair for pair in every if math.isfinite(pair[0]) and math.isfinite(pair[1])]
        if known:
            found[one.workload, one.old, one.new][one.context] = known
    for (workload, old, new), levels in found.items():
        alpha = Share(plan.study.measure.alpha / len(levels))
        compared = (_level(plan, context, pairs, alpha) for context, pairs in levels.items())
        yield Tail(workload, old, new, tuple(compared))


def _tail(view: TrialView) -> float:
    slow, middle = (view.metrics.get(name, math.nan) for name in (SLOW, MIDDLE))
    return math.log(slow / middle) if slow > 0 and middle > 0 else math.nan


def _level(plan: Plan, context: Context, pairs: Sequence[Pair], alpha: Share) -> TailLevel:
    by_start: dict[int, list[float]] = defaultdict(list)
    for old, new, start in pairs:
        by_start[start].append(new - old)
    differences = [math.fsum(one) / len(one) for one in by_start.values()]
    measure = plan.study.measure
    rule = Rule(measure.delta, alpha, Better.LOWER, worded=False)
    verdict = (decide if measure.sequential is None else decide_sequentially)(differences, rule)
    old, new = (math.exp(math.fsum(one[at] for one in pairs) / len(pairs)) for at in (0, 1))
    return TailLevel(context, old, new, verdict.effect)
