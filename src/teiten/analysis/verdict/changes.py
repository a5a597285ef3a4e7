"""Paired differences and their intervals, in the way of the campaign's design."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from teiten.analysis.model.evidence import means_of_starts
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import ContrastSides
from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.contrasts import compared_sides
from teiten.analysis.verdict.pairs import starts_of
from teiten.analysis.verdict.sequential import half_width, patient_half_width
from teiten.analysis.verdict.verdict import (
    NO_VARIANCE,
    HalfWidth,
    exp,
    mean_and_deviation,
    student_half_width,
)
from teiten.model.plan import Context, Level, Plan
from teiten.model.study import Measure

ROUNDING = 1e-12
"""A deviation below this share of the values is rounding: equal pairs claim no certainty."""


@dataclass(frozen=True)
class PairedViews(ContrastSides):
    """One contrast at one level: the counted trials of both sides, block by block."""

    context: Context
    blocks: tuple[tuple[TrialView, TrialView], ...]
    """Old and new of each block that has both, in block order."""
    starts: tuple[int, ...]
    """The start of the servers to which each block of ``blocks`` belongs: those of one start are
    not independent, and count as one."""

    def numbers(self, of: Callable[[TrialView], float]) -> PairedNumbers | None:
        """A number in the blocks in which both sides have it, which is not NaN there; None where
        there is none, or all numbers are 0."""
        placed = zip(self.blocks, self.starts, strict=True)
        known = [
            (*both, start)
            for (old, new), start in placed
            if all(map(math.isfinite, both := (of(old), of(new))))
        ]
        if not any(old or new for old, new, _ in known):
            return None
        return PairedNumbers(*zip(*known, strict=True))


@dataclass(frozen=True)
class PairedNumbers:
    """A number of both sides, by block, with the start of the servers of each block."""

    old: tuple[float, ...]
    new: tuple[float, ...]
    starts: tuple[int, ...]

    @property
    def means(self) -> tuple[float, float]:
        return fmean(self.old), fmean(self.new)

    @property
    def differences(self) -> tuple[float, ...]:
        return tuple(new - old for old, new in zip(self.old, self.new, strict=True))

    def change(self, measure: Measure, alpha: float) -> Estimate:
        """The mean of new - old over starts, with the interval of a campaign's design."""
        return change(
            self.old, self.new, starts=self.starts, alpha=alpha, width=half_width_of(measure)
        )


def half_width_of(measure: Measure) -> HalfWidth:
    """Student's for a fixed design, else valid at every look: a campaign that ended because of
    its throughput ended because of what is compared here, too."""
    return student_half_width if measure.sequential is None else half_width


def deciding_half_width_of(measure: Measure, levels: int = 1) -> HalfWidth:
    """Choose the width of an interval from which something is decided: as ``half_width_of``, but of
    a sequential design from as many pairs on as a verdict over so many levels has one."""
    patient = partial(patient_half_width, levels=levels)
    return student_half_width if measure.sequential is None else patient


def change(
    old: Sequence[float],
    new: Sequence[float],
    *,
    starts: Sequence[int],
    alpha: float,
    width: HalfWidth,
) -> Estimate:
    """The mean of new - old over starts, with its interval. One pair or more.

    ``starts``: the start of the servers that each pair belongs to.
    """
    of_pairs = (after - before for before, after in zip(old, new, strict=True))
    means = means_of_starts(dict(enumerate(of_pairs)), dict(enumerate(starts)))
    rounding = ROUNDING * max(map(abs, (*old, *new)))
    least = math.nextafter(rounding, math.inf)  # a deviation of all of it is rounding too
    return _estimate(list(means.values()), alpha, width, least, float)


def paired_views(
    plan: Plan,
    views: Iterable[TrialView],
    usable: Callable[[TrialView], bool] = lambda _: True,
) -> Iterator[PairedViews]:
    """Every contrast and level with at least one block of two usable counted trials.

    ``views``: of the whole campaign.
    """
    factor = plan.study.factor(plan.study.contrast)
    if factor is None:
        return
    known = tuple(views)
    starts = starts_of(plan, known)
    cells = cells_of(plan, known, usable)
    for workload, context in sorted(cells, key=lambda key: plan.study.place(*key)):
        sides = cells[workload, context]
        for old, new in compared_sides(plan, workload):
            before, after = sides.get(old, {}), sides.get(new, {})
            blocks = sorted(before.keys() & after.keys() & starts.keys())
            if blocks:
                pairs = tuple((before[block], after[block]) for block in blocks)
                of_blocks = tuple(starts[block] for block in blocks)
                yield PairedViews(workload, old, new, context, pairs, of_blocks)


Cells = Mapping[Level, Mapping[str, Mapping[int, TrialView]]]
"""Workload and context, then side, then block, to the trial that counts."""


def cells_of(plan: Plan, views: Iterable[TrialView], usable: Callable[[TrialView], bool]) -> Cells:
    """The usable counted trials by their places."""
    cells: dict[Level, dict[str, dict[int, TrialView]]] = defaultdict(lambda: defaultdict(dict))
    contrast = plan.study.contrast
    for view in views:  # by number and attempt: of several counted attempts the last one stays
        if view.counts and usable(view):
            cells[view.workload, view.context(contrast)][view.side(contrast)][view.block] = view
    return cells


def arithmetic(
    values: Sequence[float], alpha: float, width: HalfWidth = student_half_width
) -> Estimate | None:
    """Estimate the mean of blocks' numbers; None of no values."""
    if not values:
        return None
    least = NO_VARIANCE * max(abs(math.fsum(values) / len(values)), NO_VARIANCE)
    return _estimate(values, alpha, width, least, float)


def geometric(
    values: Sequence[float], alpha: float, width: HalfWidth = student_half_width
) -> Estimate | None:
    """Estimate the geometric mean of positive values; None of no values, or where one is not
    positive."""
    if not values or min(values) <= 0:
        return None
    return of_logarithms([math.log(value) for value in values], alpha, width)


def of_logarithms(
    logs: Sequence[float],
    alpha: float,
    width: HalfWidth = student_half_width,
    least: float = NO_VARIANCE,
) -> Estimate | None:
    """Estimate the geometric mean of values by their logarithms; None of no values. ``least``: the
    deviation below which they are equal."""
    return _estimate(logs, alpha, width, least, exp) if logs else None


def _estimate(
    values: Sequence[float],
    alpha: float,
    width: HalfWidth,
    least: float,
    shown: Callable[[float], float],
) -> Estimate:
    """The mean of values and its ends, as they are shown; no ends of a single value, of equal ones
    (a deviation below ``least``), or where the interval is infinite."""
    count, mean, half = len(values), math.fsum(values) / len(values), math.nan
    if count > 1:
        _, deviation = mean_and_deviation(values)
        half = math.nan if deviation < least else width(deviation, count, alpha)
    if not math.isfinite(half):
        return Estimate(shown(mean), None, None, count)
    return Estimate(shown(mean), shown(mean - half), shown(mean + half), count)
