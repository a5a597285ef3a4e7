"""Verdicts of every level of the contrasted factor against each before it.

All pairs of sides in all contexts of all workloads, by each number that they are compared by, and
all pairs of servers, are K comparisons, each from an interval at α/K, so that they hold together
(METHOD.md, One number per trial): "the medium size is the worst" is said of three pairs at once.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from teiten.analysis.model.observations import Context, Observation
from teiten.analysis.model.verdict import Verdict
from teiten.analysis.verdict.contrasts import contexts_of, sides_of
from teiten.analysis.verdict.pairs import pair
from teiten.analysis.verdict.sequential import decide_by_design
from teiten.analysis.verdict.verdict import Rule
from teiten.kinds.probes.model import NAME, PROBE, Do, ProbeStep, probes_of
from teiten.kinds.probes.results import SidePair
from teiten.model.metrics import Metric
from teiten.model.plan import Plan
from teiten.model.study import SERVER, Workload
from teiten.model.units import Share


def comparisons_of(plan: Plan) -> int:
    """Count all comparisons that share α, as they are planned: of every two sides by each number
    that they are compared by, and of every two servers next to one another. One or more."""
    named = dict.fromkeys(trial.cell.workload for trial in plan.trials)
    workloads = (plan.study.workload(name) for name in named)
    return max(1, sum(_comparisons(plan, one) for one in workloads if one.kind == NAME))


def _comparisons(plan: Plan, workload: Workload) -> int:
    sides = len(sides_of(plan, workload.name))
    contexts = [dict(one) for one in contexts_of(plan, workload.name)]
    crossed = (one for one in contexts if SERVER in one)
    of_servers = Counter(
        tuple(pair for pair in one.items() if pair[0] != SERVER) for one in crossed
    )
    count = 0
    for context in contexts:
        commits = any(step.commit for step in _steps(workload, context))
        count += (1 + commits) * sides * (sides - 1) // 2
    for others, servers in of_servers.items():
        steps = _steps(workload, dict(others))
        executed = {step.name for step in steps if step.do is Do.EXECUTE}
        count += (servers - 1) * sides * (1 + len(executed))
    return count


def _steps(workload: Workload, context: Mapping[str, str | None]) -> Sequence[ProbeStep]:
    return probes_of(workload).probe(context.get(PROBE) or "").steps


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
