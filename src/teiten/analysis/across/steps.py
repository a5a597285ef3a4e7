"""A campaign beside the one before it in its series: the newest step of each line."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from teiten.analysis.across.history import ALPHA
from teiten.analysis.across.unpaired import interval_of_means
from teiten.analysis.model.history import CampaignStep, HistoryLine, HistoryPoint, LineStep
from teiten.analysis.model.verdict import Interval

Arrival = tuple[HistoryLine, HistoryPoint, HistoryPoint]
"""A line, and two points that follow one another on it."""


def steps_of(lines: Sequence[HistoryLine]) -> Mapping[str, CampaignStep]:
    """The step to each campaign that has an earlier one, by the path of its ledger.

    Lines in the order of time. Where a campaign follows several on different lines, the newest of
    these is the one before it.
    """
    arrivals: dict[str, list[Arrival]] = defaultdict(list)
    for line in lines:
        for before, after in itertools.pairwise(line.points):
            arrivals[after.path].append((line, before, after))
    return {path: _step(steps) for path, steps in arrivals.items()}


def _step(steps: Sequence[Arrival]) -> CampaignStep:
    """The intervals of all lines together have the level of one."""
    _, before, after = max(steps, key=lambda step: step[1].at)
    shared = [step for step in steps if step[1].path == before.path]
    alpha = ALPHA / len(shared)
    return CampaignStep(
        before,
        after,
        tuple(LineStep(line, old, new, _effect(old, new, alpha)) for line, old, new in shared),
    )


def _effect(before: HistoryPoint, after: HistoryPoint, alpha: float) -> Interval | None:
    if before.error is None or after.error is None:
        return None
    return interval_of_means(
        (math.log(before.value), before.error, before.blocks),
        (math.log(after.value), after.error, after.blocks),
        alpha,
    )
