"""Verdicts of every level of the contrasted factor against each before it.

All pairs of sides in all contexts of all workloads, by each number that they are compared by, and
all pairs of servers, are K comparisons, each from an interval at α/K, so that they hold together
(METHOD.md, One number per trial): "the medium size is the worst" is said of three pairs at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from teiten.analysis.model.observations import Context, Observation
from teiten.analysis.model.verdict import Verdict
from teiten.analysis.verdict.contrasts import sides_of
from teiten.analysis.verdict.pairs import pair
from teiten.analysis.verdict.sequential import decide_by_design
from teiten.analysis.verdict.verdict import Rule
from teiten.kinds.probes.results import SidePair
from teiten.model.metrics import Metric
from teiten.model.plan import Plan
from teiten.model.units import Share


def pairs_of_sides(plan: Plan, workload: str) -> int:
    sides = len(sides_of(plan, workload))
    return sides * (sides - 1) // 2


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of the sides of one workload."""

    plan: Plan
    workload: str
    observations: Sequence[Observation]
    """Observations of this workload alone."""
    alpha: Share
    """The α of one comparison."""

    @property
    def sides(self) -> tuple[str, ...]:
        return sides_of(self.plan, self.workload)

    def pairs(self, context: Context, metric: Metric) -> Iterator[SidePair]:
        for old, new in itertools.combinations(self.sides, 2):
            yield SidePair(old, new, self._verdict(context, metric, old, new))

    def _verdict(self, context: Context, metric: Metric, old: str, new: str) -> Verdict:
        measure = self.plan.study.measure
        rule = Rule(measure.delta, self.alpha, metric.better)
        found = pair(self.observations, context=context, metric=metric.name, old=old, new=new)
        changes = list(found.log_ratios.values())
        return decide_by_design(measure, changes, rule, unusable=found.unusable)
