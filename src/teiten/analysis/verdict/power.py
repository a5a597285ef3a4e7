"""The smallest effect that so many pairs find with a probability of 80 %.

A further campaign has a scatter of its own, so that its interval is not as wide as this one's; and
what this one scattered is only an estimate of the truth. With u and v the two estimates in units of
the true deviation (independent, each the root of χ²/ν), an effect of c standard errors as they were
estimated is found where Z + c·u > k·v, k the half-width in the same unit. The usual sum of two
quantiles takes u and v for 1: what it calls 80 % is 68 % with five pairs, 53 % with two.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy import special

from teiten.model.trial import FloatArray

POWER = 0.8
POINTS = 200
"""The number of points of each integral; over ln u, where the trapezoidal rule converges fast."""


def detectable(half: float, error: float, freedom: float) -> float:
    """Compute the smallest detectable effect, as a logarithm of a ratio. ``half``: half the width
    of the interval; ``error``: the standard error of the mean; ``freedom``: its degrees of
    freedom."""
    return error * _multiple(round(half / error, 9), round(freedom, 6))


@cache
def _multiple(critical: float, freedom: float) -> float:
    scatter, weights = _scatter(freedom)

    def lacking(multiple: float) -> float:
        found = special.ndtr(multiple * scatter[:, None] - critical * scatter[None, :])
        return float(weights @ found @ weights) - POWER

    most = critical + 1.0
    while lacking(most) < 0:
        most *= 2
    from scipy.optimize import brentq  # noqa: PLC0415 - half of all that a campaign imports

    return float(brentq(lacking, 0.0, most, xtol=1e-10))


def _scatter(freedom: float) -> tuple[FloatArray, FloatArray]:
    """Values of the root of χ²/ν, and their probabilities."""
    wide = 8 / math.sqrt(2 * freedom)
    logarithm = np.linspace(-max(wide, 16 / freedom), min(wide, 2.0), POINTS)
    density = freedom * logarithm - freedom / 2 * np.exp(2 * logarithm)
    weights = np.exp(density - density.max())
    return np.exp(logarithm), weights / weights.sum()
