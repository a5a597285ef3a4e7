"""Pairs that are not independent, simulated: how often the interval errs, and how often the caution
about drift says so.

Each d depends on the one before it (an autoregression of order one). Nothing that looks at a dozen
pairs can protect against that; counting the pairs of a start as one takes a part of it away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.method.noise import autoregression
from benchmarks.method.rules import fixed
from teiten.analysis.verdict.drift import drifts, lag_one, trend

PAIRS = 12
CORRELATION = 0.6


@dataclass(frozen=True)
class Correlated:
    false_alarms: float
    cautioned: float
    """The share of campaigns in which the caution is given."""
    cautioned_alarms: float
    """Of the false alarms."""


def correlated(*, pairs_of_a_start: int, campaigns: int, seed: int) -> Correlated:
    """``pairs_of_a_start``: so many neighbours count as one; there are PAIRS such numbers."""
    random = np.random.default_rng(seed)
    pairs = PAIRS * pairs_of_a_start
    d = autoregression(random.standard_normal((campaigns, pairs)), CORRELATION)
    numbers = d.reshape(campaigns, PAIRS, pairs_of_a_start).mean(axis=2)
    alarms = fixed(numbers, 0.0).differs
    cautioned = np.array([_cautioned(row) for row in numbers.tolist()])
    return Correlated(
        float(alarms.mean()), float(cautioned.mean()), float(cautioned[alarms].mean())
    )


def _cautioned(numbers: list[float]) -> bool:
    lag, moved = lag_one(numbers), trend(numbers)
    return lag is not None and moved is not None and drifts(lag, moved, len(numbers))
