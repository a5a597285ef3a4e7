"""Means over blocks with Student's t interval: each block is one number."""

from __future__ import annotations

import math
from collections.abc import Sequence

from teiten.analysis.verdict.verdict import (
    NO_VARIANCE,
    exp,
    mean_and_deviation,
    student_half_width,
)
from teiten.kinds.probes.results import Estimate


def arithmetic(values: Sequence[float], alpha: float) -> Estimate | None:
    """None of no values."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    half = _half(values, alpha, NO_VARIANCE * max(abs(mean), NO_VARIANCE))
    if half is None:
        return Estimate(mean, None, None, len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def geometric(values: Sequence[float], alpha: float) -> Estimate | None:
    """Estimate the geometric mean of positive values; None of no values, or where one is not
    positive."""
    if not values or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    mean = math.fsum(logs) / len(logs)
    half = _half(logs, alpha, NO_VARIANCE)
    if half is None:
        return Estimate(exp(mean), None, None, len(values))
    return Estimate(exp(mean), exp(mean - half), exp(mean + half), len(values))


def _half(values: Sequence[float], alpha: float, least: float) -> float | None:
    if len(values) < 2:
        return None
    _, deviation = mean_and_deviation(values)
    return None if deviation < least else student_half_width(deviation, len(values), alpha)
