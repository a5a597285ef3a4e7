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
from teiten.kinds.probes.measurement import ProbeMeasurement, measurement_of
from teiten.kinds.probes.metrics import PROBE_TIME
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

    measurement: ProbeMeasurement
    metrics: Mapping[str, float]

    @property
    def number(self) -> float:
        """The probe's; NaN without one."""
        return self.metrics.get(PROBE_TIME.name, math.nan)


Sides = Mapping[str, Mapping[int, Tried]]
"""By the level of the contrasted factor, and by block."""


def tried_of(plan: Plan, views: Iterable[TrialView]) -> dict[Key, Sides]:
    """In the study's order of workloads and levels; of several attempts the last that counts."""
    contrast = plan.study.contrast
    by_key: dict[Key, dict[str, dict[int, Tried]]] = {}
    for view in sorted(views, key=lambda view: (view.block, view.attempt)):
        measurement = measurement_of(view.facts)
        if view.outcome is Outcome.COUNTED and measurement is not None:
            sides = by_key.setdefault((view.workload, view.context(contrast)), {})
            tried = Tried(measurement, view.metrics)
            sides.setdefault(view.side(contrast), {})[view.block] = tried
    order = plan.study.contrasted_levels or ("",)
    return {
        key: {side: by_key[key][side] for side in order if side in by_key[key]}
        for key in sorted(by_key, key=lambda key: plan.study.place(key[0], key[1]))
    }


def trials_of(sides: Sides) -> list[Tried]:
    """List the trials of all sides."""
    return [trial for side in sides.values() for trial in side.values()]


def all_known(values: Iterable[float | None]) -> list[float]:
    """List values; none where any of them is not known."""
    listed = [*values]
    known = [value for value in listed if value is not None]
    return known if len(known) == len(listed) else []


def cost_line(sides: Sides, measure: Measure) -> CostLine | None:
    """None with fewer than two sizes, or where no block has the smallest and the largest one."""
    sizes = sorted({trial.measurement.shared_buffers for trial in trials_of(sides)})
    by_block: dict[int, dict[Bytes, float]] = {}
    for side in sides.values():
        for block, trial in side.items():
            if trial.number > 0:
                by_block.setdefault(block, {})[trial.measurement.shared_buffers] = trial.number
    whole = [by_size for by_size in by_block.values() if {sizes[0], sizes[-1]} <= by_size.keys()]
    if len(sizes) < 2 or not whole:
        return None
    lines = [
        linear_regression([size / GIB for size in by_size], list(by_size.values()))
        for by_size in whole
    ]
    alpha, width = measure.alpha, deciding_half_width_of(measure)
    per_gib = arithmetic([line.slope for line in lines], alpha, width)
    at_nothing = arithmetic([line.intercept for line in lines], alpha, width)
    ratio = geometric([by_size[sizes[-1]] / by_size[sizes[0]] for by_size in whole], alpha, width)
    if per_gib is None or at_nothing is None or ratio is None:
        return None
    return CostLine(per_gib, at_nothing, sizes[0], sizes[-1], ratio)
