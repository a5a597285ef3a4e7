"""The processors' time by state, compared between the sides of every contrast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from teiten.analysis.model.discussion import ProcessorUse, StateLevel
from teiten.analysis.model.findings import TrialView
from teiten.analysis.verdict.changes import PairedViews, change, half_width_of, paired_views
from teiten.model.plan import Plan
from teiten.ways.registry import way_of

STATES = ("user", "system", "iowait", "steal", "idle")


def processors(plan: Plan, views: Iterable[TrialView]) -> Iterator[ProcessorUse]:
    """Shares of the whole machine's time; none where transactions of both sides alternate, which
    then have the same seconds. Servers that are up together and loaded in turn have each their own:
    a trial's slices are sampled by themselves. A contrast's intervals are at α by their number,
    over states and levels."""
    measure = plan.study.measure
    if way_of(measure).concurrent:
        return
    found: dict[tuple[str, str, str], list[PairedViews]] = {}
    for one in paired_views(plan, views):
        found.setdefault((one.workload, one.old, one.new), []).append(one)
    for (workload, old, new), levels in found.items():
        counted = [
            (pairs, state, values)
            for pairs in levels
            for state in STATES
            if (values := _values(pairs, f"cpu_{state}_share"))
        ]
        if counted:
            alpha = measure.alpha / len(counted)
            compared = tuple(_compared(plan, *each, alpha) for each in counted)
            yield ProcessorUse(workload, old, new, compared)


Values = list[tuple[float, float, int]]
"""Old, new, and the start of the servers, of each block."""


def _values(pairs: PairedViews, metric: str) -> Values:
    """List a metric's values in blocks where both sides have it; empty if all of them are 0."""
    placed = zip(pairs.blocks, pairs.starts, strict=True)
    every = [(_of(old, metric), _of(new, metric), start) for (old, new), start in placed]
    known = [one for one in every if math.isfinite(one[0]) and math.isfinite(one[1])]
    return known if any(old or new for old, new, _ in known) else []


def _of(view: TrialView, metric: str) -> float:
    return view.metrics.get(metric, math.nan)


def _compared(
    plan: Plan, pairs: PairedViews, state: str, values: Values, alpha: float
) -> StateLevel:
    old, new, starts = (_column(values, at) for at in range(3))
    return StateLevel(
        state,
        pairs.context,
        fmean(old),
        fmean(new),
        change(
            old,
            new,
            starts=[int(start) for start in starts],
            alpha=alpha,
            width=half_width_of(plan.study.measure),
        ),
    )


def _column(values: Values, at: int) -> Sequence[float]:
    return [value[at] for value in values]
