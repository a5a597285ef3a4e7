"""From the trials of procedures to how the times of steps go with the number of partitions, as
layouts say it: slope, word and knee. Pure.

A line is fitted to each block by
relative least squares, so that its slope is one number of the block, and the interval is that of
the campaign's design over the blocks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from teiten.analysis.model.findings import Measured, TrialView
from teiten.analysis.model.observations import without
from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.changes import arithmetic, geometric, half_width_of
from teiten.kinds.contract_analyse import KindAnalysis, NumbersOf
from teiten.kinds.procedure.metrics import ROWS, STEP_TIME
from teiten.kinds.procedure.model import METHOD, procedure_of
from teiten.kinds.procedure.results import (
    Growth,
    GrowthKind,
    GrowthPoint,
    GrowthUnit,
    ProceduresFound,
    steps_of,
)
from teiten.model.plan import Context, Plan
from teiten.model.study import Measure, Study
from teiten.model.trial import Event

LAYOUT = "layout"
KNEE = 2.0
"""So many times the time with the fewest partitions is the knee."""
FEWEST_FOR_KNEE = 3
Curve = Mapping[int, float]
"""Seconds of one unit by the number of partitions, of one block."""


class ProceduresAnalysis(KindAnalysis):
    def results(self, measured: Measured) -> ProceduresFound:
        """Find how steps grow where layouts have two numbers of partitions or more."""
        study = measured.plan.study
        curves = {
            line: whole
            for line, blocks in _curves(measured).items()
            if (whole := _whole(blocks)) and len(whole[0]) > 1
        }
        alpha = study.measure.alpha / max(1, len(curves))
        growths = (_growth(line, blocks, study.measure, alpha) for line, blocks in curves.items())
        return ProceduresFound(
            tuple(sorted(growths, key=lambda growth: _order(study, growth))), 1 - alpha
        )

    def numbers(self, plan: Plan, events: Sequence[Event]) -> NumbersOf:
        return _step_times


def _step_times(view: TrialView, wanted: Collection[str]) -> dict[str, float]:
    times = {f"{STEP_TIME}:{step.name}": step.seconds for step in steps_of(view.facts)}
    return {name: seconds for name, seconds in times.items() if name in wanted}


ANALYSIS = ProceduresAnalysis()


class _Line(NamedTuple):
    """A step of a method, in one context."""

    workload: str
    method: str
    step: str
    context: Context
    unit: GrowthUnit


def _curves(measured: Measured) -> dict[_Line, dict[int, dict[int, float]]]:
    """By line and block."""
    curves: dict[_Line, dict[int, dict[int, float]]] = {}
    laid_out = partitioned(measured.plan.study, measured.views, measured.workloads)
    for view, method, context, partitions in laid_out:
        rows = view.metrics.get(ROWS.name, 0.0)
        for step in steps_of(view.facts):
            unit, count = (GrowthUnit.ROW, rows) if rows else (GrowthUnit.EXECUTION, step.times)
            if step.seconds > 0 and count > 0:
                blocks = curves.setdefault(
                    _Line(view.workload, method, step.name, context, unit), {}
                )
                blocks.setdefault(view.block, {})[partitions] = step.seconds / count
    return curves


def partitioned(
    study: Study, views: Iterable[TrialView], workloads: Collection[str]
) -> Iterator[tuple[TrialView, str, Context, int]]:
    """Counted trials, where a layout says how many partitions their method's tables have, each with
    its method, the levels of what else is varied, and that number."""
    for view in views:
        if view.counts and view.workload in workloads:
            levels, workload = dict(view.levels), study.workload(view.workload)
            method, here = levels.get(METHOD, ""), levels.get(LAYOUT)
            context = without(view.levels, METHOD, LAYOUT)
            number = next((own.partitions for own in workload.layouts if own.name == here), None)
            if number is not None and procedure_of(workload).method(method).partitioned:
                yield view, method, context, number


def _whole(blocks: Mapping[int, Mapping[int, float]]) -> list[Curve]:
    """The blocks that have every number, each by rising number."""
    numbers = sorted({number for curve in blocks.values() for number in curve})
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
    slope = arithmetic([slope_of(curve) for curve in blocks], alpha, half_width_of(measure))
    assert slope is not None, "there are blocks"
    spread = (numbers[-1] - numbers[0]) / fmean(curve[numbers[0]] for curve in blocks)
    kind = kind_of(slope, spread, measure.delta)
    return Growth(*line, points, slope, kind, _doubled(blocks, measure, alpha))


def slope_of(curve: Curve) -> float:
    """Seconds for each partition, of the line with the least relative errors."""
    numbers, seconds = np.array(list(curve), float), np.array(list(curve.values()))
    weighted = np.column_stack([1 / seconds, numbers / seconds])
    coefficients, *_ = np.linalg.lstsq(weighted, np.ones(len(seconds)), rcond=None)
    return float(coefficients[1])


def kind_of(slope: Estimate, spread: float, delta: float) -> GrowthKind:
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


def _doubled(blocks: Sequence[Curve], measure: Measure, alpha: float) -> Estimate | None:
    knees = [knee_of(curve) for curve in blocks]
    known = [knee for knee in knees if knee is not None]
    if len(known) < len(blocks) or len(blocks[0]) < FEWEST_FOR_KNEE:
        return None
    estimate = geometric(known, alpha, half_width_of(measure))
    if estimate is None or estimate.low is None or estimate.high is None:
        return estimate
    fewest, most = min(blocks[0]), max(blocks[0])
    low, high = (min(max(end, fewest), most) for end in (estimate.low, estimate.high))
    return replace(estimate, low=low, high=high)


def _order(study: Study, growth: Growth) -> tuple[int, int, list[int]]:
    workload, levels = study.place(growth.workload, growth.context)
    methods = [method.name for method in procedure_of(study.workload(growth.workload)).methods]
    return workload, methods.index(growth.method), levels
