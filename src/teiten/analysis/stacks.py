"""Stacks of a campaign: costs of functions by side, and what explains their difference.

The unit is CPU seconds per transaction. Self costs add up to the whole, so that each function's
part of the whole difference can be told. A window of one block is one observation, as a trial is;
its thousands of samples are not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from teiten.analysis.model.findings import TrialView
from teiten.analysis.verdict.changes import PairedViews, change, half_width_of, paired_views
from teiten.analysis.verdict.verdict import HalfWidth
from teiten.model.plan import Plan
from teiten.model.stacks import (
    FRAMES,
    CostChange,
    Explained,
    FunctionCost,
    LevelStacks,
    StackSamples,
    StacksContrast,
    StacksFound,
    Unexplained,
    innermost,
    is_unresolved,
)
from teiten.model.trial import Outcome
from teiten.model.units import Share

VISIBLE = 0.01
"""A function is compared where it has this share of a side's cost, with what it calls."""
NEARLY_ALL = 0.95
"""A function that holds this share of both sides (main, the executor's loop) explains nothing."""
HALF = 0.5
"""The share of the difference that a function must hold to be named."""

Costs = Mapping[str, float]
"""Function to CPU seconds per transaction."""


@dataclass(frozen=True)
class WindowCosts:
    """Costs in one window, per transaction: of each function, and the whole."""

    itself: Costs
    total: Costs
    whole: float


def stacks_found(plan: Plan, views: Sequence[TrialView]) -> StacksFound:
    """Summarise the windows of the counted trials; empty without any."""
    sampled = [view for view in views if view.stack_samples is not None]
    if not sampled:
        return StacksFound()
    costs = {
        id(one): costs_of(one.stack_samples) for one in sampled if one.stack_samples is not None
    }
    pairs = paired_views(plan, views, lambda one: one.stack_samples is not None)
    return StacksFound(
        levels=tuple(_levels(plan, sampled)),
        contrasts=tuple(_contrast(plan, pair, costs) for pair in pairs),
    )


def costs_of(window: StackSamples) -> WindowCosts:
    """Self and total cost of every function of a window. A function that calls itself counts once
    in a stack's total."""
    itself: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    for stack, count in window.stacks.items():
        frames = stack.split(FRAMES)
        itself[frames[-1]] += count
        for frame in set(frames):
            total[frame] += count
    each = window.sample_seconds / window.transactions
    return WindowCosts(
        {name: count * each for name, count in itself.items()},
        {name: count * each for name, count in total.items()},
        window.samples * each,
    )


def stack_costs(found: Sequence[StackSamples]) -> dict[str, float]:
    """Folded stack to CPU seconds per transaction, the mean over windows."""
    merged: dict[str, float] = defaultdict(float)
    for one in found:
        each = one.sample_seconds / one.transactions / len(found)
        for stack, count in one.stacks.items():
            merged[stack] += count * each
    return dict(merged)


def share_of(window: StackSamples, function: str) -> float:
    """The share of the samples that lie in a function or what it calls."""
    inside = sum(count for stack, count in window.stacks.items() if function in stack.split(FRAMES))
    return inside / window.samples


def _levels(plan: Plan, views: Iterable[TrialView]) -> list[LevelStacks]:
    contrast = plan.study.contrast
    found: dict[tuple[str, tuple[tuple[str, str], ...], str], list[StackSamples]] = defaultdict(
        list
    )
    for view in views:
        if view.outcome is Outcome.COUNTED and view.stack_samples is not None:
            context = tuple(pair for pair in view.levels if pair[0] != contrast)
            found[view.workload, context, dict(view.levels).get(contrast, "")].append(
                view.stack_samples
            )
    return [_level(*key, windows) for key, windows in found.items()]


def _level(
    workload: str, context: tuple[tuple[str, str], ...], side: str, windows: Sequence[StackSamples]
) -> LevelStacks:
    stacks = stack_costs(windows)
    samples = sum(window.samples for window in windows)
    unresolved = sum(
        count
        for window in windows
        for stack, count in window.stacks.items()
        if is_unresolved(stack)
    )
    return LevelStacks(
        workload,
        context,
        side,
        len(windows),
        samples,
        math.fsum(stacks.values()),
        stacks,
        Share(unresolved / samples),
        all(window.kernel for window in windows),
    )


def _contrast(plan: Plan, pairs: PairedViews, costs: Mapping[int, WindowCosts]) -> StacksContrast:
    measure = plan.study.measure
    old = [costs[id(before)] for before, _ in pairs.blocks]
    new = [costs[id(after)] for _, after in pairs.blocks]
    comparison = _Comparison(old, new, pairs.starts, measure.alpha, half_width_of(measure))
    functions = comparison.functions()
    return StacksContrast(
        pairs.workload,
        pairs.context,
        pairs.old,
        pairs.new,
        len(pairs.blocks),
        fmean(one.whole for one in old),
        fmean(one.whole for one in new),
        comparison.whole,
        functions,
        comparison.compared,
        stack_costs(
            [one.stack_samples for one, _ in pairs.blocks if one.stack_samples is not None]
        ),
        stack_costs(
            [one.stack_samples for _, one in pairs.blocks if one.stack_samples is not None]
        ),
        comparison.explained(functions),
        comparison.most_itself(functions),
    )


class _Comparison:
    """The functions of two sides, window by window."""

    def __init__(
        self,
        old: Sequence[WindowCosts],
        new: Sequence[WindowCosts],
        starts: Sequence[int],
        alpha: float,
        width: HalfWidth,
    ) -> None:
        self._old, self._new = old, new
        self._starts = starts
        self._alpha, self._width = alpha, width
        self._wholes = (fmean(one.whole for one in old), fmean(one.whole for one in new))
        self._names = self._visible()
        self.compared = max(1, self._differences_looked_at())
        before, after = ([one.whole for one in side] for side in (old, new))
        self.whole = change(before, after, starts=starts, alpha=alpha, width=width)

    def functions(self) -> tuple[FunctionCost, ...]:
        """Those with the greatest difference of their own code first."""
        made = [self._function(name) for name in self._names]
        return tuple(
            sorted(
                made,
                key=lambda one: (
                    -abs(one.self_change.difference),
                    -abs(one.total_change.difference),
                    one.name,
                ),
            )
        )

    def explained(self, functions: Sequence[FunctionCost]) -> Explained | Unexplained:
        if len(set(self._starts)) < 2:
            return Unexplained.TOO_FEW
        if not self.whole.certain:
            return Unexplained.NO_DIFFERENCE
        parts = [
            (function.old_total + function.new_total, part)
            for function in functions
            if (part := self._guilty(function, total=True)) is not None and part.part >= HALF
        ]
        return min(parts, key=lambda one: one[0])[1] if parts else Unexplained.SPREAD

    def most_itself(self, functions: Sequence[FunctionCost]) -> Explained | None:
        if not self.whole.certain:
            return None
        parts = [part for function in functions if (part := self._guilty(function, total=False))]
        return max(parts, key=lambda one: one.part, default=None)

    def _guilty(self, one: FunctionCost, *, total: bool) -> Explained | None:
        """A function's part of the difference, where that is certainly greater than its part of the
        cost: where all code gets slower alike, every function has a part, and none is the cause.

        That is so where its share of the cost certainly went the way of the whole cost. Shares are
        looked at, since a window in which the machine is slow changes every cost, but hardly them.

        One that only one side has is not named: it may be another's new name, or code that the
        other side's compiler put into the caller, which is compared instead.
        """
        if one.only_old or one.only_new or (total and self._nearly_all(one)):
            return None
        found = one.total_change if total else one.self_change
        part = found.difference / self.whole.difference
        before, after = self._shares(one.name, total=total)
        share = one.share_change if total else self._share_change(one.name, total=False)
        if not share.certain or share.difference * self.whole.difference < 0:
            return None
        return Explained(one.name, part, Share(fmean(before)), Share(fmean(after)), share)

    def _visible(self) -> list[str]:
        names = {name for side in (self._old, self._new) for one in side for name in one.total}
        return sorted(name for name in names if self._share(name) >= VISIBLE)

    def _share(self, name: str) -> float:
        """The greater share of a function in a side's cost, with what it calls."""
        sides = zip((self._old, self._new), self._wholes, strict=True)
        return max(fmean(one.total.get(name, 0.0) for one in side) / whole for side, whole in sides)

    def _nearly_all(self, one: FunctionCost) -> bool:
        old, new = self._wholes
        return one.old_total >= NEARLY_ALL * old and one.new_total >= NEARLY_ALL * new

    def _differences_looked_at(self) -> int:
        """Functions that only call one another have one and the same total: one difference."""
        found = {tuple(self._differences(name, total=True)) for name in self._names}
        found |= {tuple(self._differences(name, total=False)) for name in self._names}
        return len({one for one in found if any(one)})

    def _values(self, name: str, *, total: bool) -> tuple[list[float], list[float]]:
        old, new = (
            [(one.total if total else one.itself).get(name, 0.0) for one in side]
            for side in (self._old, self._new)
        )
        return old, new

    def _differences(self, name: str, *, total: bool) -> list[float]:
        old, new = self._values(name, total=total)
        return [after - before for before, after in zip(old, new, strict=True)]

    def _function(self, name: str) -> FunctionCost:
        alpha = self._alpha / self.compared
        own, all_of_it = self._values(name, total=False), self._values(name, total=True)
        return FunctionCost(
            name,
            fmean(own[0]),
            fmean(own[1]),
            fmean(all_of_it[0]),
            fmean(all_of_it[1]),
            self._change(own, alpha),
            self._change(all_of_it, alpha),
            self._share_change(name, total=True),
        )

    def _share_change(self, name: str, *, total: bool) -> CostChange:
        alpha = self._alpha / self.compared
        return self._change(self._shares(name, total=total), alpha)

    def _change(self, sides: tuple[Sequence[float], Sequence[float]], alpha: float) -> CostChange:
        return change(*sides, starts=self._starts, alpha=alpha, width=self._width)

    def _shares(self, name: str, *, total: bool) -> tuple[list[float], list[float]]:
        """A function's share of each window's cost."""
        old, new = (
            [value / one.whole for value, one in zip(values, side, strict=True)]
            for values, side in zip(
                self._values(name, total=total), (self._old, self._new), strict=True
            )
        )
        return old, new


def leaf_seconds(window: StackSamples, *, kernel: bool) -> float:
    """CPU seconds per transaction inside the kernel, or outside of it."""
    from_kernel = sum(
        count for stack, count in window.stacks.items() if innermost(stack).endswith("_[k]")
    )
    samples = from_kernel if kernel else window.samples - from_kernel
    return samples * window.sample_seconds / window.transactions
