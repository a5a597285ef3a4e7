"""The counted trials of probes by cell and block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import Context
from teiten.kinds.probes.measurement import ProbeMeasurement, Timed, measurement_of
from teiten.kinds.probes.model import PROBE
from teiten.model.plan import Plan
from teiten.model.trial import Outcome

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
        return [statement for each in self.measurement.measured for statement in each.statements]


Sides = Mapping[str, Mapping[int, Tried]]
"""By the level of the contrasted factor, and by block."""


def tried_of(plan: Plan, views: Iterable[TrialView]) -> dict[Key, Sides]:
    """In the study's order of workloads and levels; of several attempts the last that counts."""
    found: dict[Key, dict[str, dict[int, Tried]]] = {}
    for view in sorted(views, key=lambda one: (one.block, one.attempt)):
        measurement = measurement_of(view.facts)
        if view.outcome is not Outcome.COUNTED or measurement is None:
            continue
        levels = dict(view.levels)
        side = levels.pop(plan.study.contrast, "")
        key = (view.workload, tuple(levels.items()))
        tried = Tried(view.block, measurement, view.metrics)
        found.setdefault(key, {}).setdefault(side, {})[view.block] = tried
    order = plan.study.contrasted_levels or ("",)
    return {
        key: {side: found[key][side] for side in order if side in found[key]}
        for key in sorted(found, key=lambda key: plan.study.place(key[0], key[1]))
    }


def without_probe(context: Context) -> Context:
    """The levels of all factors but the probe."""
    return tuple(pair for pair in context if pair[0] != PROBE)
