"""Stacks of a campaign: costs of functions by side, and what explains their difference.

The unit is CPU seconds per transaction. Self costs add up to the whole, so that each function's
part of the whole difference can be told. A window of one block is one observation, as a trial is;
its thousands of samples are not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.stacks import (
    Explained,
    FunctionCost,
    LevelStacks,
    StacksContrast,
    StacksFound,
    Unexplained,
)
from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.changes import PairedNumbers, PairedViews, cells_of, paired_views
from teiten.model.plan import Context, Plan
from teiten.model.stacks import FRAMES, KERNEL, StackSamples, innermost, is_unresolved
from teiten.model.study import Measure
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
    pairs = paired_views(plan, views, _has_stacks)
    return StacksFound(
        levels=tuple(_levels(plan, views)),
        contrasts=tuple(_contrast(plan, pair) for pair in pairs),
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
    seconds = window.sample_seconds / window.transactions
    return WindowCosts(
        {name: count * seconds for name, count in itself.items()},
        {name: count * seconds for name, count in total.items()},
        window.samples * seconds,
    )


def stack_costs(windows: Sequence[StackSamples]) -> dict[str, float]:
    """Folded stack to CPU seconds per transaction, the mean over windows."""
    merged: dict[str, float] = defaultdict(float)
    for window in windows:
        seconds = window.sample_seconds / window.transactions / len(windows)
        for stack, count in window.stacks.items():
            merged[stack] += count * seconds
    return dict(merged)


def share_of(window: StackSamples, function: str) -> float:
    """The share of the samples that lie in a function or what it calls."""
    inside = sum(count for stack, count in window.stacks.items() if function in stack.split(FRAMES))
    return inside / window.samples


def _levels(plan: Plan, views: Iterable[TrialView]) -> Iterator[LevelStacks]:
    for (workload, context), sides in cells_of(plan, views, _has_stacks).items():
        for side, blocks in sides.items():
            windows = [view.stack_samples for view in blocks.values() if view.stack_samples]
            yield _level(workload, context, side, windows)


def _has_stacks(view: TrialView) -> bool:
    return view.stack_samples is not None


def _level(
    workload: str, context: Context, side: str, windows: Sequence[StackSamples]
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


def _contrast(plan: Plan, pairs: PairedViews) -> StacksContrast:
    old, new = (
        [view.stack_samples for view in views if view.stack_samples is not None]
        for views in zip(*pairs.blocks, strict=True)
    )
    comparison = _Comparison(
        [costs_of(window) for window in old],
        [costs_of(window) for window in new],
        pairs.starts,
        plan.study.measure,
    )
    functions = comparison.functions()
    return StacksContrast(
        *pairs.key,
        pairs.context,
        len(pairs.blocks),
        *comparison.wholes,
        comparison.whole,
        functions,
        comparison.compared,
        stack_costs(old),
        stack_costs(new),
        comparison.explained(functions),
        comparison.most_itself(functions),
    )


class _Comparison:
    """The functions of two sides, window by window."""

    def __init__(
        self,
        old: Sequence[WindowCosts],
        new: Sequence[WindowCosts],
        starts: tuple[int, ...],
        measure: Measure,
    ) -> None:
        self._sides, self._starts, self._measure = (old, new), starts, measure
        whole = self._numbers(lambda window: window.whole)
        self.wholes, self.whole = whole.means, whole.change(measure, measure.alpha)
        names = {name for window in (*old, *new) for name in window.total}
        self._names = sorted(name for name in names if self._share(name) >= VISIBLE)
        self.compared = max(1, self._differences_looked_at())

    def functions(self) -> tuple[FunctionCost, ...]:
        """Those with the greatest difference of their own code first."""
        made = [self._function(name) for name in self._names]

        def rank(function: FunctionCost) -> tuple[float, float, str]:
            own, total = function.self_change, function.total_change
            return -abs(own.mean), -abs(total.mean), function.name

        return tuple(sorted(made, key=rank))

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
        return min(parts, key=lambda pair: pair[0])[1] if parts else Unexplained.SPREAD

    def most_itself(self, functions: Sequence[FunctionCost]) -> Explained | None:
        if not self.whole.certain:
            return None
        parts = [part for function in functions if (part := self._guilty(function, total=False))]
        return max(parts, key=lambda part: part.part, default=None)

    def _guilty(self, cost: FunctionCost, *, total: bool) -> Explained | None:
        """A function's part of the difference, where that is certainly greater than its part of the
        cost: where all code gets slower alike, every function has a part, and none is the cause.

        That is so where its share of the cost certainly went the way of the whole cost. Shares are
        looked at, since a window in which the machine is slow changes every cost, but hardly them.

        One that only one side has is not named: it may be another's new name, or code that the
        other side's compiler put into the caller, which is compared instead.
        """
        if cost.only_old or cost.only_new or (total and self._nearly_all(cost)):
            return None
        cost_change = cost.total_change if total else cost.self_change
        shares = self._shares(cost.name, total=total)
        share = self._change(shares)
        if not share.certain or share.mean * self.whole.mean < 0:
            return None
        part = cost_change.mean / self.whole.mean
        before, after = map(Share, shares.means)
        return Explained(cost.name, part, before, after, share)

    def _share(self, name: str) -> float:
        """The greater share of a function in a side's cost, with what it calls."""
        means = self._costs(name, total=True).means
        return max(mean / whole for mean, whole in zip(means, self.wholes, strict=True))

    def _nearly_all(self, cost: FunctionCost) -> bool:
        old, new = self.wholes
        return cost.old_total >= NEARLY_ALL * old and cost.new_total >= NEARLY_ALL * new

    def _differences_looked_at(self) -> int:
        """Functions that only call one another have one and the same total: one difference."""
        costs = (self._costs(name, total=total) for name in self._names for total in (True, False))
        distinct = {numbers.differences for numbers in costs}
        return sum(any(differences) for differences in distinct)

    def _function(self, name: str) -> FunctionCost:
        own, total = self._costs(name, total=False), self._costs(name, total=True)
        changes = map(self._change, (own, total, self._shares(name, total=True)))
        return FunctionCost(name, *own.means, *total.means, *changes)

    def _change(self, numbers: PairedNumbers) -> Estimate:
        return numbers.change(self._measure, self._measure.alpha / self.compared)

    def _costs(self, name: str, *, total: bool) -> PairedNumbers:
        return self._numbers(
            lambda window: (window.total if total else window.itself).get(name, 0.0)
        )

    def _shares(self, name: str, *, total: bool) -> PairedNumbers:
        """A function's share of each window's cost."""
        return self._numbers(
            lambda window: (window.total if total else window.itself).get(name, 0.0) / window.whole
        )

    def _numbers(self, of: Callable[[WindowCosts], float]) -> PairedNumbers:
        old, new = (tuple(map(of, windows)) for windows in self._sides)
        return PairedNumbers(old, new, self._starts)


def leaf_seconds(window: StackSamples, *, kernel: bool) -> float:
    """CPU seconds per transaction inside the kernel, or outside of it."""
    from_kernel = sum(
        count for stack, count in window.stacks.items() if innermost(stack).endswith(KERNEL)
    )
    samples = from_kernel if kernel else window.samples - from_kernel
    return samples * window.sample_seconds / window.transactions
