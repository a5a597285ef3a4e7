"""The measured knee: the smallest load that is equivalent to the maximum within δ.

It needs no model. Only measured loads are candidates, and only they bound its interval.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from teiten.analysis.model.scaling import Knee
from teiten.analysis.scaling.replicates import Replicates
from teiten.model.trial import FloatArray
from teiten.model.units import Share

RESAMPLES = 2000
SEED = 20130424
"""A fixed seed, so that the same trials give the same interval."""
FEWEST_BLOCKS = 3
"""Resampling two blocks knows three different results."""


def knee(table: Replicates, *, delta: Share, alpha: Share, bounded: bool) -> Knee:
    """The knee of a table. ``bounded``: with an interval at 1 − α, for at least three blocks."""
    means = table.means
    found = int(_knees(means[None, :], delta)[0])
    low = high = None
    if bounded:
        resampled = _knees(_resampled_means(table, alpha), delta)
        ends = np.quantile(resampled, [alpha / 2, 1 - alpha / 2], method="closest_observation")
        low = float(table.loads[min(int(ends[0]), found)])
        high = float(table.loads[max(int(ends[1]), found)])
    return Knee(
        load=float(table.loads[found]),
        low=low,
        high=high,
        delta=delta,
        confidence=Share(1 - alpha),
    )


def _knees(means: FloatArray, delta: Share) -> FloatArray:
    """The index of the knee in every row of ``means``, shape (rows, loads)."""
    enough = means >= means.max(axis=1, keepdims=True) - math.log1p(delta) - 1e-12
    first: FloatArray = np.argmax(enough, axis=1).astype(np.float64)
    return first


def _resampled_means(table: Replicates, alpha: Share) -> FloatArray:
    """Means of the loads in resamples of whole blocks, shape (RESAMPLES, loads).

    A bootstrap of few blocks is too narrow (95 % intervals of 3, 6, 10 pairs cover 75, 86, 90 %),
    because its spread lacks the factor b/(b−1) and its tails are the normal ones. Each resampled
    deviation is therefore stretched to what Student's t asks for (Hesterberg, What Teachers Should
    Know About the Bootstrap, The American Statistician 69, 2015, section 5).
    """
    blocks = table.logs.shape[1]
    random = np.random.default_rng(SEED)
    drawn = random.multinomial(blocks, np.full(blocks, 1 / blocks), size=RESAMPLES)
    sums = drawn @ table.deviations.T
    counts = drawn @ np.isfinite(table.logs).T.astype(np.float64)
    quantile = 1 - alpha / 2
    stretch = float(special.stdtrit(blocks - 1, quantile) / special.ndtri(quantile))
    stretch *= math.sqrt(blocks / (blocks - 1))
    moved: FloatArray = table.means + stretch * sums / np.maximum(counts, 1)
    return moved
