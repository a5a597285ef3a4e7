"""Whether throughput rises to the end of the measured loads, levels off before it, or falls."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from teiten.analysis.model.scaling import CurveShape, Form, Knee
from teiten.analysis.model.verdict import Interval
from teiten.analysis.scaling.replicates import Replicates
from teiten.analysis.verdict.verdict import exp
from teiten.model.units import Share


def shape(table: Replicates, knee: Knee, *, alpha: Share, bounded: bool) -> CurveShape:
    """The form of a table with its knee. ``bounded``: trials were repeated enough for an interval.

    The greatest load is compared with the load of the greatest mean, whichever of the others that
    is: the interval is at α by the number of the others (Bonferroni), as they are all compared.
    """
    means = table.means
    peak = int(np.argmax(means))
    drop = float(means[-1] - means[peak])
    decline = _decline(table, peak, drop, alpha) if bounded and peak < len(means) - 1 else None
    return CurveShape(
        _form(knee, tuple(table.loads.tolist()), drop, decline),
        float(table.loads[peak]),
        math.exp(drop),
        decline,
    )


def _form(knee: Knee, loads: tuple[float, ...], drop: float, decline: Interval | None) -> Form:
    if knee.at_end(loads):
        return Form.RISING
    if drop >= -math.log1p(knee.delta):
        return Form.LEVEL
    return Form.FALLING if decline is not None and decline.high < 1 else Form.OPEN


def _decline(table: Replicates, peak: int, drop: float, alpha: Share) -> Interval | None:
    error = table.pure_error()
    if error is None:
        return None
    share = alpha / (len(table.loads) - 1)
    counts = table.counts
    quantile = float(special.stdtrit(table.freedom, 1 - share / 2))
    half = quantile * error * math.sqrt(1 / counts[peak] + 1 / counts[-1])
    high = exp(drop + half)
    if math.isinf(high):  # it bounds nothing
        return None
    return Interval(math.exp(drop), math.exp(drop - half), high, Share(1 - alpha))
