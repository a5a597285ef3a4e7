"""Change points of a short series of campaigns.

They are those of the segmentation of least squared deviations with a penalty on each change, found
exactly by dynamic programming (optimal partitioning: Jackson and others, An Algorithm for Optimal
Partitioning of Data on an Interval, IEEE Signal Processing Letters 12, 2005). What penalty means
"significant" is not known for five or ten points, so it is simulated here: the penalty that normal
noise of this many points exceeds with a probability of α, with the noise estimated as it is from
the measured points. The search sees running medians of three, which keep a step and drop a single
point apart: one campaign apart is a bad day until another follows.

Neighbouring campaigns may depend on each other: a disk fills, a machine is shared with other work
for a week. How much they do cannot be estimated from a dozen points, so each change is also held
against the penalty of noise that depends on its neighbour by CORRELATION; what does not exceed that
one is told as what may be such a swing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from teiten.model.trial import FloatArray

FEWEST = 5
"""Points from which changes are looked for."""
SHORTEST = 2
"""Points of a segment."""
SIMULATED = 4_000
SEED = 20_120_601
ROWS_AT_A_TIME = 64
CORRELATION = 0.6
"""Between neighbours, for the second penalty: an autoregression of order one."""
NORMAL_MEDIAN = 0.6744897501960817
"""The median of |z| of a standard normal."""


def change_points(
    logs: Sequence[float], errors: Sequence[float], alpha: float, *, correlation: float = 0.0
) -> tuple[int, ...]:
    """The indices of the first points after each change; none of fewer than FEWEST points.

    ``logs``: ln of the metric, shape (n,). ``errors``: standard errors of those that have one: the
    noise from campaign to campaign is not below the noise inside of them. ``alpha``: the
    probability of marking anything in a series of normal values without a change, of which
    neighbours correlate by ``correlation``.
    """
    values = np.asarray(logs, dtype=np.float64)
    if len(values) < FEWEST:
        return ()
    inside = math.sqrt(float(np.mean(np.square(errors)))) if len(errors) else 0.0
    noise = max(float(noise_of(values[None, :])[0]), inside)
    if noise <= 0:
        return ()
    penalty = threshold(len(values), alpha, correlation)
    return segmentation(running_medians(values[None, :] / noise)[0], penalty)


def segmentation(values: FloatArray, penalty: float) -> tuple[int, ...]:
    """Where the segments after the first begin, each of SHORTEST points at least.

    No other choice has a smaller sum of squared deviations from the segments' means and penalties.
    """
    points = len(values)
    centred = values - values.mean()
    sums = _sums(centred[None, :])[0]
    squares = _sums(np.square(centred)[None, :])[0]
    least = np.full(points + 1, np.inf)
    least[0] = -penalty
    begins = np.zeros(points + 1, dtype=np.int64)
    for end in range(SHORTEST, points + 1):
        starts = np.arange(end - SHORTEST + 1)
        deviations = (
            squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        )
        costs = least[starts] + deviations + penalty
        begins[end] = np.argmin(costs)
        least[end] = costs[begins[end]]
    firsts, end = [], points
    while (end := int(begins[end])) > 0:
        firsts.append(end)
    return tuple(reversed(firsts))


def noise_of(series: FloatArray) -> FloatArray:
    """The deviation of each row, shape (rows, n), by the median of neighbours' differences.

    A few changes hardly move it. It has no correction for small n: the threshold is simulated with
    the same estimate.
    """
    steps = np.abs(np.diff(series, axis=1))
    deviations: FloatArray = np.median(steps, axis=1) / NORMAL_MEDIAN / math.sqrt(2)
    return deviations


def running_medians(series: FloatArray) -> FloatArray:
    """Medians of three neighbours in each row, shape (rows, n); the ends are their neighbours'."""
    middle = np.median(np.stack([series[:, :-2], series[:, 1:-1], series[:, 2:]]), axis=0)
    medians: FloatArray = np.concatenate([middle[:, :1], middle, middle[:, -1:]], axis=1)
    return medians


@cache
def threshold(points: int, alpha: float, correlation: float = 0.0) -> float:
    """The penalty, in variances, below which a share α of series without changes gets one.

    A series gets one where splitting it once gains more than the penalty, or cutting a piece out
    of it more than two; segmentations of more pieces need more still.
    """
    random = np.random.default_rng(SEED)
    series = _noise(random.standard_normal((SIMULATED, points)), correlation)
    series = running_medians(series / noise_of(series)[:, None])
    gains = np.maximum(_one_change(series), _two_changes(series) / 2)
    return float(np.quantile(gains, 1 - alpha, method="higher"))


def _noise(independent: FloatArray, correlation: float) -> FloatArray:
    """Each value depends on the one before; its variance stays 1."""
    series = independent.copy()
    rest = math.sqrt(1 - correlation**2)
    for at in range(1, series.shape[1]):
        series[:, at] = correlation * series[:, at - 1] + rest * independent[:, at]
    return series


def _one_change(series: FloatArray) -> FloatArray:
    """The greatest decrease of the sum of squares by one change."""
    sums = _sums(series)
    points = series.shape[1]
    gains = [_between(sums, (0, cut, points)) for cut in range(SHORTEST, points - SHORTEST + 1)]
    greatest: FloatArray = np.max(gains, axis=0)
    return greatest


def _two_changes(series: FloatArray) -> FloatArray:
    """Find the greatest decrease of the sum of squares by cutting a piece out. A few rows at a
    time, so that what is added up for all ends of the piece stays in the processor's cache: 500
    campaigns have 125,000 pieces."""
    gains = np.zeros(len(series))
    for first_row in range(0, len(series), ROWS_AT_A_TIME):
        rows = slice(first_row, first_row + ROWS_AT_A_TIME)
        gains[rows] = _two_changes_of_a_few(_sums(series[rows]))
    return gains


def _two_changes_of_a_few(sums: FloatArray) -> FloatArray:
    points = sums.shape[1] - 1
    total = sums[:, -1]
    lengths = np.arange(points + 1, dtype=np.float64)
    best = np.zeros(len(sums))
    after = np.zeros_like(sums)
    after[:, :points] = (total[:, None] - sums[:, :points]) ** 2 / (points - lengths[:points])
    for first in range(SHORTEST, points - 2 * SHORTEST + 1):
        ends = slice(first + SHORTEST, points - SHORTEST + 1)
        pieces = sums[:, ends] - sums[:, first, None]
        np.square(pieces, out=pieces)
        pieces /= lengths[ends] - first
        pieces += after[:, ends]
        np.maximum(best, pieces.max(axis=1) + sums[:, first] ** 2 / first, out=best)
    gains: FloatArray = np.maximum(best - total**2 / points, 0)
    return gains


def _sums(series: FloatArray) -> FloatArray:
    """Sums of the first k values, shape (rows, n + 1)."""
    sums: FloatArray = np.concatenate(
        [np.zeros((len(series), 1)), np.cumsum(series, axis=1)], axis=1
    )
    return sums


def _between(sums: FloatArray, edges: Sequence[int]) -> FloatArray:
    """The sum of squares between segments: what the segmentation explains."""
    total = sums[:, -1] ** 2 / edges[-1]
    parts = np.zeros(len(sums))
    for first, end in itertools.pairwise(edges):
        parts += (sums[:, end] - sums[:, first]) ** 2 / (end - first)
    gain: FloatArray = parts - total
    return gain
