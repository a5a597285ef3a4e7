"""How the times of steps go with the number of partitions: slope, word and knee. Pure.

The number is what the study's layouts say (``partitions``). A line is fitted to each block by
relative least squares, so that its slope is one number of the block, and the interval is that of
the campaign's design over the blocks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from teiten.analysis.claims.checks import Estimator, estimator_of
from teiten.analysis.model.findings import Measured, TrialView
from teiten.analysis.verdict.sequential import half_width
from teiten.analysis.verdict.verdict import NO_VARIANCE, mean_and_deviation, student_half_width
from teiten.kinds.procedure.metrics import ROWS
from teiten.kinds.procedure.model import METHOD, procedure_of
from teiten.kinds.procedure.results import (
    Growth,
    GrowthEstimate,
    GrowthKind,
    GrowthPoint,
    GrowthUnit,
    ProceduresFound,
    steps_of,
)
from teiten.model.study import Measure, Study
from teiten.model.trial import Outcome

LAYOUT = "layout"
KNEE = 2.0
"""So many times the time with the fewest partitions is the knee."""
FEWEST_FOR_KNEE = 3
Context = tuple[tuple[str, str], ...]
Curve = Mapping[int, float]
"""Seconds of one unit by the number of partitions, of one block."""


@dataclass(frozen=True)
class _Line:
    """A step of a method, in one context."""

    workload: str
    method: str
    step: str
    context: Context
    unit: GrowthUnit


def growth_of(measured: Measured) -> ProceduresFound:
    """Find how all steps grow whose workload has layouts with two numbers of partitions or more."""
    study = measured.plan.study
    curves = {
        line: whole
        for line, blocks in _curves(measured).items()
        if (whole := _whole(blocks)) and len(whole[0]) > 1
    }
    alpha = study.measure.alpha / max(1, len(curves))
    found = (_growth(line, blocks, study.measure, alpha) for line, blocks in curves.items())
    return ProceduresFound(tuple(sorted(found, key=lambda one: _order(study, one))), 1 - alpha)


def _curves(measured: Measured) -> dict[_Line, dict[int, dict[int, float]]]:
    """By line and block."""
    study = measured.plan.study
    found: dict[_Line, dict[int, dict[int, float]]] = {}
    for view in measured.views:
        if view.outcome is Outcome.COUNTED and view.workload in measured.workloads:
            partitions = partitions_of(study, view)
            if partitions is not None:
                for line, seconds in _times(view):
                    found.setdefault(line, {}).setdefault(view.block, {})[partitions] = seconds
    return found


def partitions_of(study: Study, view: TrialView) -> int | None:
    """How many partitions the tables of a trial's method have; None where nobody says."""
    levels, workload = dict(view.levels), study.workload(view.workload)
    if not procedure_of(workload).method(levels.get(METHOD, "")).partitioned:
        return None
    here = levels.get(LAYOUT)
    return next((layout.partitions for layout in workload.layouts if layout.name == here), None)


def _times(view: TrialView) -> Iterator[tuple[_Line, float]]:
    levels = dict(view.levels)
    context = tuple(pair for pair in view.levels if pair[0] not in {METHOD, LAYOUT})
    rows = view.metrics.get(ROWS.name, 0.0)
    for step in steps_of(view.facts):
        unit, count = (GrowthUnit.ROW, rows) if rows else (GrowthUnit.EXECUTION, step.times)
        if step.seconds > 0 and count > 0:
            line = _Line(view.workload, levels.get(METHOD, ""), step.name, context, unit)
            yield line, step.seconds / count


def _whole(blocks: Mapping[int, Mapping[int, float]]) -> list[Curve]:
    """The blocks that have every number, each by rising number."""
    numbers = sorted({one for curve in blocks.values() for one in curve})
    return [
        {number: curve[number] for number in numbers}
        for _, curve in sorted(blocks.items())
        if len(curve) == len(numbers)
    ]


def _growth(line: _Line, blocks: Sequence[Curve], measure: Measure, alpha: float) -> Growth:
    numbers = list(blocks[0])
    points = tuple(
        GrowthPoint(number, median(curve[number] for curve in blocks)) for number in numbers
    )
    slope = _estimated([slope_of(curve) for curve in blocks], measure, alpha)
    spread = (numbers[-1] - numbers[0]) / fmean(curve[numbers[0]] for curve in blocks)
    kind = kind_of(slope, spread, measure.delta)
    doubled = _doubled(blocks, estimator_of(measure), alpha)
    return Growth(
        line.workload,
        line.method,
        line.step,
        line.context,
        line.unit,
        points,
        slope,
        kind,
        doubled,
    )


def slope_of(curve: Curve) -> float:
    """Seconds for each partition, of the line with the least relative errors."""
    numbers, seconds = np.array(list(curve), float), np.array(list(curve.values()))
    weighted = np.column_stack([1 / seconds, numbers / seconds])
    found, *_ = np.linalg.lstsq(weighted, np.ones(len(seconds)), rcond=None)
    return float(found[1])


def kind_of(slope: GrowthEstimate, spread: float, delta: float) -> GrowthKind:
    """``spread``: what makes of a slope a share of the least time, over all partitions."""
    if slope.low is None or slope.high is None:
        return GrowthKind.UNDECIDED
    low, high = slope.low * spread, slope.high * spread
    if -delta < low and high < delta:
        return GrowthKind.FLAT
    if low > 0:
        return GrowthKind.GROWS
    return GrowthKind.FALLS if high < 0 else GrowthKind.UNDECIDED


def knee_of(curve: Curve) -> float | None:
    """Where the time is first ``KNEE`` times that with the fewest partitions, on straight lines
    between what was measured, both as logarithms; None where it never is."""
    first = next(iter(curve.values()))
    wanted = math.log(KNEE * first)
    for (lower, below), (higher, above) in itertools.pairwise(curve.items()):
        if above >= KNEE * first:
            share = (wanted - math.log(below)) / (math.log(above) - math.log(below))
            return math.exp(math.log(lower) + share * (math.log(higher) - math.log(lower)))
    return None


def _doubled(blocks: Sequence[Curve], estimator: Estimator, alpha: float) -> GrowthEstimate | None:
    knees = [knee_of(curve) for curve in blocks]
    found = [math.log(knee) for knee in knees if knee is not None]
    if len(found) < len(blocks) or len(blocks[0]) < FEWEST_FOR_KNEE:
        return None
    estimate = estimator(found, alpha)
    if estimate is None:
        return GrowthEstimate(math.exp(fmean(found)))
    fewest, most = (math.log(one) for one in (min(blocks[0]), max(blocks[0])))
    mean, low, high = estimate
    ends = (math.exp(min(max(one, fewest), most)) for one in (low, high))
    return GrowthEstimate(math.exp(mean), *ends)


def _estimated(values: Sequence[float], measure: Measure, alpha: float) -> GrowthEstimate:
    if len(values) < 2:
        return GrowthEstimate(fmean(values))
    mean, deviation = mean_and_deviation(values)
    if deviation < NO_VARIANCE * abs(mean):
        return GrowthEstimate(mean)
    width = student_half_width if measure.sequential is None else half_width
    half = width(deviation, len(values), alpha)
    return (
        GrowthEstimate(mean, mean - half, mean + half)
        if math.isfinite(half)
        else GrowthEstimate(mean)
    )


def _order(study: Study, one: Growth) -> tuple[int, ...]:
    workload = study.workload(one.workload)
    names = [each.name for each in study.workloads]
    methods = [each.name for each in procedure_of(workload).methods]
    orders = {each.name: each.levels for each in study.factors}
    at = methods.index(one.method) if one.method in methods else 0
    levels = (
        orders[name].index(level) for name, level in one.context if level in orders.get(name, ())
    )
    return (names.index(one.workload), at, *levels)
