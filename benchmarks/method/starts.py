"""Pairs that share a start of their servers, simulated: counted one by one, and as their start.

What a start does to a server (where its memory lies, what was cached first) stays for all of its
pairs. The servers are equal.
"""

from __future__ import annotations

import numpy as np

from benchmarks.method.rules import ALPHA
from teiten.analysis.across.unpaired import estimate_unpaired
from teiten.analysis.verdict.changes import change
from teiten.analysis.verdict.verdict import student_half_width

STARTS = 4
PAIRS_OF_A_START = 5
BETWEEN = 0.01
"""Deviation from start to start."""
WITHIN = 0.01
"""Of a pair around its start."""


def of_two_campaigns(*, as_starts: bool, campaigns: int, seed: int) -> float:
    """False alarms of two campaigns of one server each, compared without pairs."""
    sides = _values((campaigns, 2), seed)
    numbers = sides.mean(axis=3) if as_starts else sides.reshape(campaigns, 2, -1)
    estimates = [estimate_unpaired(list(old), list(new), ALPHA) for old, new in numbers]
    alarms = [
        estimate is not None and not estimate[1] <= 0 <= estimate[2] for estimate in estimates
    ]
    return float(np.mean(alarms))


def of_paired_costs(*, as_starts: bool, campaigns: int, seed: int) -> float:
    """False alarms of a cost per transaction, as profiles and tables of causes compare it."""
    sides = _values((campaigns, 2), seed).reshape(campaigns, 2, -1)
    pairs = STARTS * PAIRS_OF_A_START
    starts = [at // PAIRS_OF_A_START if as_starts else at for at in range(pairs)]
    changes = [
        change(list(old), list(new), starts=starts, alpha=ALPHA, width=student_half_width)
        for old, new in sides
    ]
    return float(np.mean([cost_change.certain for cost_change in changes]))


def _values(shape: tuple[int, int], seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Logarithms: (campaigns, sides, starts, pairs of a start)."""
    random = np.random.default_rng(seed)
    between = random.normal(0.0, BETWEEN, (*shape, STARTS, 1))
    return between + random.normal(0.0, WITHIN, (*shape, STARTS, PAIRS_OF_A_START))
