"""Carry-over: what the sides of paired transactions leave behind for each other (METHOD.md, Paired
transactions). Where it is surely a part of the difference, there is no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from teiten.analysis.model.carry_over import CarryOver
from teiten.analysis.model.observations import Observation
from teiten.analysis.verdict.sequential import patient_half_width
from teiten.analysis.verdict.verdict import mean_and_deviation
from teiten.kinds.contract import plan_of
from teiten.model.plan import Plan
from teiten.ways.registry import way_of

SHARE_OF_DELTA = 0.25
"""The share of δ up to which carry-over may be a part of the difference."""


def carry_overs(
    plan: Plan, workload: str, observations: Sequence[Observation]
) -> Iterator[CarryOver]:
    """Yield the carry-over of each new side in every number of a workload that has two starts or
    more; nothing of classic trials.

    ``observations``: the workload's.
    """
    for side in dict.fromkeys(each.side for each in observations):
        if side != base_of(plan):
            of_side = [each for each in observations if each.side == side]
            yield from _of_side(plan, workload, side, of_side)


def base_of(plan: Plan) -> str:
    """The level that all others are compared with in paired transactions."""
    return next(iter(plan.study.contrasted_levels), "")


def _of_side(
    plan: Plan, workload: str, side: str, observations: Sequence[Observation]
) -> Iterator[CarryOver]:
    measure, kind = plan.study.measure, plan_of(plan.study.workload(workload).kind)
    for name in kind.carry_over if way_of(measure).concurrent else ():
        found = {
            (observation.block, observation.context): math.log(observation.metrics[name])
            for observation in observations
            if observation.metrics.get(name, 0.0) > 0
        }
        values = list(found.values())
        if len(values) < 2:
            continue
        mean, deviation = mean_and_deviation(values)
        half = patient_half_width(deviation, len(values), measure.alpha)
        limit = math.log1p(measure.delta) * SHARE_OF_DELTA
        yield CarryOver(side, name, mean, mean - half, mean + half, limit)


def has_carry_over(
    plan: Plan, workload: str, observations: Sequence[Observation], new: str
) -> bool:
    """Whether paired transactions are no way to compare a new side with the base."""
    estimates = carry_overs(plan, workload, observations)
    return any(one.is_too_much for one in estimates if one.new == new)
