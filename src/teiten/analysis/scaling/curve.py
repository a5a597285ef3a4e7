"""Scaling (METHOD.md): the curve where it fits, the measured knee always, and the efficiency."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from scipy import special

from teiten.analysis.model.scaling import (
    NO_REPLICATES,
    Curve,
    CurveShape,
    Form,
    Knee,
    LackOfFit,
    Parameter,
    Scaling,
    ScalingPoint,
    UslFit,
)
from teiten.analysis.model.verdict import Interval
from teiten.analysis.scaling.knee import FEWEST_BLOCKS, knee
from teiten.analysis.scaling.lack_of_fit import FEWEST_LEVELS, lack_of_fit, residuals
from teiten.analysis.scaling.replicates import Replicates, replicates
from teiten.analysis.scaling.usl import fit_usl
from teiten.analysis.verdict.verdict import exp
from teiten.model.trial import FloatArray
from teiten.model.units import Share

TOO_FEW_LEVELS = "too-few-levels"
NOT_POSITIVE = "not-positive"
MISFIT = "misfit"
TOO_FEW_REPLICATES = "too-few-replicates"
TOO_FEW_BLOCKS = "too-few-blocks"
IDENTICAL_TRIALS = "identical-trials"

Table = Mapping[float, Mapping[int, float]]
"""By load, the metric of each block's trial. A published table is one block."""


def scale(table: Table, *, delta: Share, alpha: Share, cores: int | None = None) -> Scaling:
    """Analyse throughput by load.

    ``cores``: of the machine, for the efficiency per core. NaN is a missing value. A value that is
    zero, negative or infinite is no throughput, and then nothing is said at all.
    """
    loads, values = _arrays(table)
    if np.any(values <= 0) or np.any(np.isinf(values)):
        return Scaling((), None, None, NOT_POSITIVE, None, NO_REPLICATES)
    if not len(loads):
        return Scaling((), None, None, TOO_FEW_LEVELS, None, NO_REPLICATES)
    trials = replicates(loads, values)
    no_interval = _no_interval(trials)
    curve, fit, lack = _fitted(trials, alpha) if len(loads) >= FEWEST_LEVELS else (None, None, None)
    found = (
        knee(trials, delta=delta, alpha=alpha, bounded=no_interval is None)
        if len(loads) > 1
        else None
    )
    return Scaling(
        points=tuple(_points(trials, curve, cores)),
        fit=fit,
        lack=lack,
        withheld=None if fit else TOO_FEW_LEVELS if lack is None else MISFIT,
        knee=found,
        no_interval=no_interval,
        shape=shape(trials, found, alpha=alpha, bounded=no_interval is None) if found else None,
    )


def _fitted(trials: Replicates, alpha: Share) -> tuple[Curve, UslFit | None, LackOfFit]:
    curve = fit_usl(*trials.points())
    lack = lack_of_fit(trials, curve, alpha=alpha)
    return curve, None if lack.misfits else _with_intervals(trials, curve, alpha), lack


def _with_intervals(trials: Replicates, curve: Curve, alpha: Share) -> UslFit:
    blocks = range(trials.logs.shape[1]) if _no_interval(trials) is None else ()
    parts = [trials.without(block) for block in blocks]
    others = [fit_usl(*part.points()) for part in parts if part is not None]
    whole = len(others) == len(parts) > 0

    def parameter(of: Callable[[Curve], float]) -> Parameter:
        value = of(curve)
        if value == 0:
            return Parameter(0.0, at_bound=True)
        if not whole:
            return Parameter(value)
        return Parameter(value, *_jackknife(value, [of(one) for one in others], alpha))

    return UslFit(
        rate=parameter(lambda one: one.rate),
        contention=parameter(lambda one: one.contention),
        coherency=parameter(lambda one: one.coherency),
    )


def _no_interval(trials: Replicates) -> str | None:
    blocks = trials.logs.shape[1]
    if trials.counts.max() < 2:
        return NO_REPLICATES
    if blocks < FEWEST_BLOCKS:
        return TOO_FEW_BLOCKS
    if trials.freedom < 1:
        return TOO_FEW_REPLICATES
    return IDENTICAL_TRIALS if trials.pure_error() is None else None


def _jackknife(value: float, others: Sequence[float], alpha: Share) -> tuple[float, float]:
    """An interval from the fits that each leave a block out (Efron and Tibshirani 1993, ch. 11).

    The block is the unit, as everywhere; Student's t with blocks − 1 degrees of freedom.
    """
    count = len(others)
    mean = math.fsum(others) / count
    error = math.sqrt((count - 1) / count * math.fsum((one - mean) ** 2 for one in others))
    half = float(special.stdtrit(count - 1, 1 - alpha / 2)) * error
    return max(0.0, value - half), value + half


def _points(trials: Replicates, curve: Curve | None, cores: int | None) -> Iterator[ScalingPoint]:
    values = np.exp(trials.means)
    off = residuals(trials, curve) if curve is not None else None
    first, base = float(trials.loads[0]), float(values[0])

    def busy(load: float) -> float:
        return min(load, float(cores)) if cores else load

    for at, load in enumerate(trials.loads.tolist()):
        growth = float(values[at]) / base
        yield ScalingPoint(
            load=load,
            value=float(values[at]),
            trials=int(trials.counts[at]),
            residual=float(off[at]) if off is not None else None,
            per_load=growth * first / load,
            per_core=growth * busy(first) / busy(load) if cores else None,
        )


def _arrays(table: Table) -> tuple[FloatArray, FloatArray]:
    """Loads, ascending, shape (m,), and values, shape (m, b); each of both has a trial."""
    present = {
        load: {block: value for block, value in row.items() if not math.isnan(value)}
        for load, row in sorted(table.items())
    }
    loads = [load for load, row in present.items() if row]
    blocks = sorted({block for row in present.values() for block in row})
    rows = [[present[load].get(block, math.nan) for block in blocks] for load in loads]
    return np.array(loads, dtype=np.float64), np.array(rows, dtype=np.float64)


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
