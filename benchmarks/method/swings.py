"""Lines of campaigns that depend on their neighbours: how often a change is marked without any, how
often it is told as firm, and how often a step is seen.

The noise is an autoregression of order one, as slow disturbances of a machine make it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.method.noise import autoregression
from teiten.analysis.across.change_points import CORRELATION, change_points

ALPHA = 0.05


@dataclass(frozen=True)
class Marked:
    """Shares of the lines."""

    marked: float
    firm: float


def marked(points: int, *, correlation: float, step: float, lines: int, seed: int) -> Marked:
    """``step``: after half of the points, in deviations of the noise."""
    random = np.random.default_rng(seed)
    series = autoregression(random.standard_normal((lines, points)), correlation)
    series[:, points // 2 :] += step
    marks = [_firm(row) for row in series.tolist()]
    return Marked(
        float(np.mean([mark is not None for mark in marks])),
        float(np.mean([mark is True for mark in marks])),
    )


def _firm(values: Sequence[float]) -> bool | None:
    """None where nothing is marked; whether any mark is firm."""
    firsts = set(change_points(values, [], ALPHA))
    if not firsts:
        return None
    return bool(firsts & set(change_points(values, [], ALPHA, correlation=CORRELATION)))
