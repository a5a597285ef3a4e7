"""Whether pairs stand for themselves: intervals believe that one says nothing about the next.

Random order makes a drift of the machine harmless; what is left is a drift of the difference itself
(one side's data that grows or scatters, a cache that only one side has warmed).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from teiten.analysis.model.findings import ContrastResult, Drift
from teiten.analysis.verdict.verdict import NO_VARIANCE, mean_and_deviation
from teiten.model.facts import Caution

FEWEST_PAIRS = 8
"""Below it chance alone often looks like drift."""
SUSPICIOUS = 2.5
"""Standard deviations: two contrasts of a hundred show as much by chance."""


def lag_one(log_ratios: Sequence[float]) -> float | None:
    """The correlation of each d with the one before it, -1 to 1.

    None of fewer than three pairs, or of equal ones. Without any correlation it scatters around
    -1/n with a deviation of about 1/√n.
    """
    if len(log_ratios) < 3:
        return None
    mean, deviation = mean_and_deviation(log_ratios)
    if deviation < NO_VARIANCE:
        return None
    centred = [d - mean for d in log_ratios]
    products = math.fsum(earlier * later for earlier, later in itertools.pairwise(centred))
    return products / math.fsum(d * d for d in centred)


def trend(log_ratios: Sequence[float]) -> float | None:
    """How far d rises or falls with time, in standard deviations of what chance does.

    The test of Mann and Kendall, which asks no distribution. None of fewer than three pairs.
    """
    n = len(log_ratios)
    if n < 3:
        return None
    rises = sum(
        (later > earlier) - (later < earlier)
        for earlier, later in itertools.combinations(log_ratios, 2)
    )
    return rises / math.sqrt(n * (n - 1) * (2 * n + 5) / 18)


def drift_of(levels: Sequence[Mapping[int, float]]) -> Drift | None:
    """Correlation and trend of what the blocks' d deviate from the means of their levels, each
    block's mean over the levels that it has. ``levels``: d by block. None of fewer than three
    blocks, or of equal ones."""
    deviations: dict[int, list[float]] = defaultdict(list)
    for level in levels:
        mean = math.fsum(level.values()) / max(1, len(level))
        for block, d in level.items():
            deviations[block].append(d - mean)
    by_block = [math.fsum(some) / len(some) for _, some in sorted(deviations.items())]
    lag, moved = lag_one(by_block), trend(by_block)
    return None if lag is None or moved is None else Drift(lag, moved, len(by_block))


def drift_cautions(results: Iterable[ContrastResult]) -> tuple[Caution, ...]:
    """A caution for each primary contrast whose pairs depend on one another or move with time."""
    return tuple(
        Caution.warning(
            "pairs-drift",
            workload=result.workload,
            sides=f"{result.new}/{result.old}",
            lag=f"{result.drift.lag_one:+.2f}",
            trend=f"{result.drift.trend:+.1f}",
            pairs=result.drift.blocks,
        )
        for result in results
        if result.metric.judged and result.drift is not None
        if result.drift.blocks >= FEWEST_PAIRS
        and drifts(result.drift.lag_one, result.drift.trend, result.drift.blocks)
    )


def drifts(lag: float, moved: float, pairs: int) -> bool:
    """Only a positive correlation makes intervals too narrow."""
    return lag * math.sqrt(pairs) > SUSPICIOUS or abs(moved) > SUSPICIOUS
