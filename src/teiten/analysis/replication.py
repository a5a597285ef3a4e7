"""Where variance arises, and so how long a trial should be (Kalibera & Jones, Rigorous Benchmarking
in Reasonable Time, 2013): repeat at the level that varies.

ln TPS of a trial of T seconds varies by between² + within²/T. A longer trial averages away only the
second part, and costs T beside its fixed seconds (restore, start, prewarm, settle, warm-up, stop).
For a given total time the mean of many trials is the most precise at

    T = √(fixed) · within / between
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from teiten.model.trial import FloatArray
from teiten.model.units import Seconds

FEWEST_SECONDS = 4
"""Of a series from which the variance inside of a trial can be estimated."""


@dataclass(frozen=True)
class Components:
    """The parts of the variance of ln TPS, as deviations."""

    between: float
    """From trial to trial, whatever their length."""
    within: float
    """Of one second of a trial, autocorrelation counted in."""
    fixed: Seconds
    """Of a trial, besides the measured ones."""

    @property
    def best_duration(self) -> Seconds | None:
        """None where trials differ no more than their seconds explain: the longer the better."""
        if self.between <= 0:
            return None
        return Seconds(math.sqrt(self.fixed) * self.within / self.between)


def components(
    pair_deviation: float, duration: Seconds, fixed: Seconds, series: Iterable[FloatArray]
) -> Components | None:
    """From a null campaign.

    ``pair_deviation``: of d = ln(B/A); ``duration``: measured seconds of a trial; ``fixed``: its
    other seconds; ``series``: TPS per second of each trial. None where no series is long enough.
    """
    found = [value for value in map(long_run_variance, series) if value is not None]
    if not found or duration <= 0:
        return None
    variance = math.fsum(found) / len(found)
    between = pair_deviation**2 / 2 - variance / duration
    return Components(math.sqrt(max(0.0, between)), math.sqrt(variance), fixed)


def long_run_variance(values: FloatArray) -> float | None:
    """The relative variance of one second that the mean of many neighbouring ones shows.

    By the means of batches of √n seconds, so that autocorrelation within a batch counts. None of
    too few finite values, or of a mean that is not positive.
    """
    finite = values[np.isfinite(values)]
    if len(finite) < FEWEST_SECONDS or finite.mean() <= 0:
        return None
    length = math.isqrt(len(finite))
    batches = len(finite) // length
    means = finite[: batches * length].reshape(batches, length).mean(axis=1) / finite.mean()
    return float(length * means.var(ddof=1))
