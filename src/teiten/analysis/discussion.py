"""All that a campaign's discussion says of verdicts and of the machine.

Where two sides part: the first level whose interval excludes equality, and whether it stays.

Only intervals that the report has are asked; those of a contrast's levels hold together
(``analysis.verdict``), so that what is said of several levels is as sure as the verdict.

The processors' time by state, compared between the sides of every contrast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

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
from teiten.analysis.model.observations import Context
from teiten.analysis.verdict.changes import PairedViews, change, half_width_of, paired_views
from teiten.model.plan import Plan
from teiten.model.study import SERVER, Study
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
        if axis is None or not _is_told(contrast):
            continue
        lines: dict[Context, dict[str, Interval]] = {}
        for level in contrast.levels:
            others = tuple(pair for pair in level.context if pair[0] != axis)
            if level.verdict.effect is not None:
                lines.setdefault(others, {})[dict(level.context)[axis]] = level.verdict.effect
        for others, found in lines.items():
            if len(found) >= FEWEST:
                yield _parting(contrast, axis, others, found)


def tallies(study: Study, contrasts: Iterable[ContrastResult]) -> Iterator[SignCount]:
    """Count intervals by side of equality, for judged contrasts whose levels have no order."""
    for contrast in contrasts:
        if axis_of(study, contrast) is not None or not _is_told(contrast):
            continue
        effects = [level.verdict.effect for level in contrast.levels if level.verdict.effect]
        if len(effects) >= FEWEST:
            signs = [side_of_equality(effect) for effect in effects]
            yield SignCount(
                contrast.workload,
                contrast.old,
                contrast.new,
                contrast.metric,
                signs.count(1),
                signs.count(-1),
                len(signs),
            )


def means_apart(contrasts: Iterable[ContrastResult]) -> Iterator[MeanApart]:
    """Where the levels' intervals alone would leave the impression that nothing was found."""
    for contrast in contrasts:
        overall = contrast.overall.effect
        if overall is None or not _is_told(contrast):
            continue
        effects = [level.verdict.effect for level in contrast.levels if level.verdict.effect]
        side = side_of_equality(overall)
        if side and len(effects) >= FEWEST and not any(map(side_of_equality, effects)):
            yield MeanApart(
                contrast.workload, contrast.old, contrast.new, contrast.metric, side > 0
            )


def axis_of(study: Study, contrast: ContrastResult) -> str | None:
    """The factor with the most levels, all numbers, of those that vary in the contrast."""
    found = [
        (len(levels), factor.name)
        for factor in study.factors
        if factor.name != SERVER
        and len(levels := _levels(contrast, factor.name)) > 1
        and all(map(_is_number, levels))
    ]
    most = max((count for count, _ in found), default=0)
    return next((name for count, name in found if count == most), None)


def side_of_equality(effect: Interval) -> int:
    """1: the whole interval is above 1; -1: below; 0: it includes 1."""
    return int(effect.low > 1) - int(effect.high < 1)


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
    contrast: ContrastResult, axis: str, others: Context, found: dict[str, Interval]
) -> Parting:
    levels = sorted(found, key=float)
    signs = [side_of_equality(found[level]) for level in levels]
    return Parting(
        contrast.workload,
        contrast.old,
        contrast.new,
        contrast.metric,
        axis,
        others,
        course_of(signs),
        tuple(one for one, sign in zip(levels, signs, strict=True) if sign > 0),
        tuple(one for one, sign in zip(levels, signs, strict=True) if sign < 0),
        tuple(levels),
    )


def _is_told(contrast: ContrastResult) -> bool:
    """A contrast whose verdict is withheld, or that supports no conclusion, has no discussion."""
    overall = contrast.overall
    return contrast.metric.judged and overall.is_given and overall.conclusive


def _levels(contrast: ContrastResult, factor: str) -> set[str]:
    return {
        text for level in contrast.levels if (text := dict(level.context).get(factor)) is not None
    }


def _is_number(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdigit()


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
