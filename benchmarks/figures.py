"""Rows of Markdown, and numbers with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import special

from teiten.analysis.verdict.verdict import mean_and_deviation, student_half_width

ALPHA = 0.05


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean with the ends of its interval by Student's t, which are NaN of a single value."""
    if len(values) == 1:
        return values[0], math.nan, math.nan
    mean, deviation = mean_and_deviation(values)
    half = student_half_width(deviation, len(values), ALPHA)
    return mean, mean - half, mean + half


def binomial_interval(part: int, whole: int) -> tuple[float, float]:
    """The share's interval by Clopper and Pearson, Biometrika 26 (1934): never too narrow."""
    low = special.betaincinv(part, whole - part + 1, ALPHA / 2) if part else 0.0
    high = special.betaincinv(part + 1, whole - part, 1 - ALPHA / 2) if part < whole else 1.0
    return float(low), float(high)
