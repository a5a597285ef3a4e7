"""All that a campaign's discussion says of verdicts and of the machine.

Where two sides part: the first level whose interval excludes equality, and whether it stays.

Only intervals that the report has are asked; those of a contrast's levels hold together
(``analysis.verdict``), so that what is said of several levels is as sure as the verdict.

The processors' time by state, compared between the sides of every contrast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import methodcaller

from teiten.analysis.model.discussion import (
    Course,
    Discussion,
    MeanApart,
    Parting,
    ProcessorUse,
    SignCount,
    StateLevel,
)
from teiten.analysis.model.findings import ContrastResult, Interval, TrialView
from teiten.analysis.model.observations import without
from teiten.analysis.verdict.changes import PairedViews, paired_views
from teiten.model.plan import Context, Plan
from teiten.model.study import Study
from teiten.ways.registry import way_of


def discuss(
    plan: Plan, contrasts: Sequence[ContrastResult], views: Sequence[TrialView]
) -> Discussion:
    """Empty where the study's profile supports no conclusion."""
    if not plan.study.conclusive:
        return Discussion()
    return Discussion(
        tuple(partings(plan.study, contrasts)),
        tuple(tallies(plan.study, contrasts)),
        tuple(means_apart(contrasts)),
        tuple(processors(plan, views)),
    )


FEWEST = 2
"""Levels with an interval, below which there is nothing to tell beside the verdict."""


def partings(study: Study, contrasts: Iterable[ContrastResult]) -> Iterator[Parting]:
    """A line for each combination of the other factors, of every judged contrast with a verdict."""
    for contrast in contrasts:
        axis = axis_of(study, contrast)
        if axis is None:
            continue
        lines: dict[Context, dict[str, Interval]] = {}
        for context, effect in _effects(contrast).items():
            others = without(context, axis)
            lines.setdefault(others, {})[dict(context)[axis]] = effect
        for others, effects in lines.items():
            if len(effects) >= FEWEST:
                yield _parting(contrast, axis, others, effects)


def tallies(study: Study, contrasts: Iterable[ContrastResult]) -> Iterator[SignCount]:
    """Count intervals by side of equality, for judged contrasts whose levels have no order."""
    for contrast in contrasts:
        signs = [effect.sign for effect in _effects(contrast).values()]
        if len(signs) >= FEWEST and axis_of(study, contrast) is None:
            counts = (signs.count(1), signs.count(-1), len(signs))
            yield SignCount(*contrast.key, contrast.metric, *counts)


def means_apart(contrasts: Iterable[ContrastResult]) -> Iterator[MeanApart]:
    """Where the levels' intervals alone would leave the impression that nothing was found."""
    for contrast in contrasts:
        signs = [effect.sign for effect in _effects(contrast).values()]
        mean = contrast.overall.effect.sign if contrast.overall.effect is not None else 0
        if mean and len(signs) >= FEWEST and not any(signs):
            yield MeanApart(*contrast.key, contrast.metric, mean > 0)


def _effects(contrast: ContrastResult) -> dict[Context, Interval]:
    """The intervals of a contrast's levels; none of one whose verdict is withheld, or that supports
    no conclusion, which has no discussion."""
    overall = contrast.overall
    if not (contrast.metric.judged and overall.is_given and overall.conclusive):
        return {}
    effects = ((level.context, level.verdict.effect) for level in contrast.levels)
    return {context: effect for context, effect in effects if effect is not None}


def axis_of(study: Study, contrast: ContrastResult) -> str | None:
    """The factor with the most levels, all numbers, of those that vary in the contrast."""
    varied = contrast.numeric_levels(study)
    return max(varied, key=lambda factor: len(varied[factor]), default=None)


def course_of(signs: Sequence[int]) -> Course:
    """Find the course of intervals by the sides of equality on which they are, levels ascending."""
    sides = {sign for sign in signs if sign}
    if not sides:
        return Course.TOGETHER
    if len(sides) > 1:
        return Course.CROSSED
    first = next(at for at, sign in enumerate(signs) if sign)
    if not all(signs[first:]):
        return Course.MET
    return Course.PARTED if first else Course.APART


def _parting(
    contrast: ContrastResult, axis: str, others: Context, effects: dict[str, Interval]
) -> Parting:
    levels = sorted(effects, key=float)
    signs = [effects[level].sign for level in levels]
    return Parting(
        *contrast.key,
        contrast.metric,
        axis,
        others,
        course_of(signs),
        tuple(level for level, sign in zip(levels, signs, strict=True) if sign > 0),
        tuple(level for level, sign in zip(levels, signs, strict=True) if sign < 0),
        tuple(levels),
    )


STATES = ("user", "system", "iowait", "steal", "idle")


def processors(plan: Plan, views: Iterable[TrialView]) -> Iterator[ProcessorUse]:
    """Shares of the whole machine's time; none where transactions of both sides alternate, which
    then have the same seconds. Servers that are up together and loaded in turn have each their own:
    a trial's slices are sampled by themselves. A contrast's intervals are at α by their number,
    over states and levels."""
    measure = plan.study.measure
    if way_of(measure).concurrent:
        return
    contrasts: dict[tuple[str, str, str], list[PairedViews]] = {}
    for pairs in paired_views(plan, views):
        contrasts.setdefault(pairs.key, []).append(pairs)
    for sides, levels in contrasts.items():
        counted = [
            (state, pairs.context, numbers)
            for pairs in levels
            for state in STATES
            if (numbers := pairs.numbers(methodcaller("metric", f"cpu_{state}_share")))
        ]
        if counted:
            alpha = measure.alpha / len(counted)
            compared = tuple(
                StateLevel(state, context, *numbers.means, numbers.change(measure, alpha))
                for state, context, numbers in counted
            )
            yield ProcessorUse(*sides, compared)
