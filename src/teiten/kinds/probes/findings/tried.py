"""The counted trials of probes by cell and block, and what a GiB more of buffers costs: a line
through the numbers of each block.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import linear_regression

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import Context
from teiten.analysis.verdict.changes import arithmetic, deciding_half_width_of, geometric
from teiten.kinds.probes.measurement import ProbeMeasurement, Timed, measurement_of
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import PROBE
from teiten.kinds.probes.results import CostLine
from teiten.model.plan import Plan
from teiten.model.study import Measure
from teiten.model.trial import Outcome
from teiten.model.units import GIB, Bytes

Key = tuple[str, Context]
"""Workload, and the levels of all factors but the contrasted one."""


@dataclass(frozen=True)
class Tried:
    """A counted trial with what it measured."""

    block: int
    measurement: ProbeMeasurement
    metrics: Mapping[str, float]

    @property
    def statements(self) -> list[Timed]:
        return [statement for step in self.measurement.measured for statement in step.statements]


Sides = Mapping[str, Mapping[int, Tried]]
"""By the level of the contrasted factor, and by block."""


def tried_of(plan: Plan, views: Iterable[TrialView]) -> dict[Key, Sides]:
    """In the study's order of workloads and levels; of several attempts the last that counts."""
    by_key: dict[Key, dict[str, dict[int, Tried]]] = {}
    for view in sorted(views, key=lambda view: (view.block, view.attempt)):
        measurement = measurement_of(view.facts)
        if view.outcome is not Outcome.COUNTED or measurement is None:
            continue
        levels = dict(view.levels)
        side = levels.pop(plan.study.contrast, "")
        key = (view.workload, tuple(levels.items()))
        tried = Tried(view.block, measurement, view.metrics)
        by_key.setdefault(key, {}).setdefault(side, {})[view.block] = tried
    order = plan.study.contrasted_levels or ("",)
    return {
        key: {side: by_key[key][side] for side in order if side in by_key[key]}
        for key in sorted(by_key, key=lambda key: plan.study.place(key[0], key[1]))
    }


def without_probe(context: Context) -> Context:
    """The levels of all factors but the probe."""
    return tuple(pair for pair in context if pair[0] != PROBE)


def cost_line(sides: Sides, measure: Measure) -> CostLine | None:
    """None with fewer than two sizes, or where no block has the smallest and the largest one."""
    sizes = sorted(
        {trial.measurement.shared_buffers for side in sides.values() for trial in side.values()}
    )
    if len(sizes) < 2:
        return None
    blocks = _by_block(sides)
    whole = [block for block in blocks.values() if sizes[0] in block and sizes[-1] in block]
    if not whole:
        return None
    lines = [_least_squares(numbers) for numbers in whole]
    alpha, width = measure.alpha, deciding_half_width_of(measure)
    per_gib = arithmetic([slope for slope, _ in lines], alpha, width)
    at_nothing = arithmetic([start for _, start in lines], alpha, width)
    ratio = geometric([numbers[sizes[-1]] / numbers[sizes[0]] for numbers in whole], alpha, width)
    if per_gib is None or at_nothing is None or ratio is None:
        return None
    return CostLine(per_gib, at_nothing, sizes[0], sizes[-1], ratio)


def _by_block(sides: Sides) -> Mapping[int, Mapping[Bytes, float]]:
    """The number by size of the buffers; only those above nothing."""
    numbers: dict[int, dict[Bytes, float]] = {}
    for side in sides.values():
        for block, trial in side.items():
            number = trial.metrics.get(PROBE_TIME.name, math.nan)
            if number > 0:
                numbers.setdefault(block, {})[trial.measurement.shared_buffers] = number
    return numbers


def _least_squares(points: Mapping[Bytes, float]) -> tuple[float, float]:
    """Slope per GiB, and the value at 0."""
    line = linear_regression([size / GIB for size in points], list(points.values()))
    return line.slope, line.intercept
