"""Scaling (METHOD.md): the curve where it fits, the measured knee always, and the efficiency.

The measured knee: the smallest load that is equivalent to the maximum within δ.

It needs no model. Only measured loads are candidates, and only they bound its interval.
"""

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
from teiten.analysis.scaling.usl import (
    FEWEST_LEVELS,
    Replicates,
    fit_usl,
    lack_of_fit,
    replicates,
    residuals,
)
from teiten.analysis.verdict.verdict import exp, student_quantile
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
    measured_knee = (
        knee(trials, delta=delta, alpha=alpha, bounded=no_interval is None)
        if len(loads) > 1
        else None
    )
    return Scaling(
        points=tuple(_points(trials, curve, cores)),
        fit=fit,
        lack=lack,
        withheld=None if fit else TOO_FEW_LEVELS if lack is None else MISFIT,
        knee=measured_knee,
        no_interval=no_interval,
        shape=shape(trials, measured_knee, alpha=alpha, bounded=no_interval is None)
        if measured_knee
        else None,
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
        return Parameter(value, *_jackknife(value, [of(fitted) for fitted in others], alpha))

    return UslFit(
        rate=parameter(lambda fitted: fitted.rate),
        contention=parameter(lambda fitted: fitted.contention),
        coherency=parameter(lambda fitted: fitted.coherency),
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
    error = math.sqrt(
        (count - 1) / count * math.fsum((estimate - mean) ** 2 for estimate in others)
    )
    half = student_quantile(1 - alpha / 2, count - 1) * error
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
    quantile = student_quantile(1 - share / 2, table.freedom)
    half = quantile * error * math.sqrt(1 / counts[peak] + 1 / counts[-1])
    high = exp(drop + half)
    if math.isinf(high):  # it bounds nothing
        return None
    return Interval(math.exp(drop), math.exp(drop - half), high, Share(1 - alpha))


RESAMPLES = 2000
SEED = 20130424
"""A fixed seed, so that the same trials give the same interval."""
FEWEST_BLOCKS = 3
"""Resampling two blocks knows three different results."""


def knee(table: Replicates, *, delta: Share, alpha: Share, bounded: bool) -> Knee:
    """The knee of a table. ``bounded``: with an interval at 1 − α, for at least three blocks."""
    means = table.means
    at = int(_knees(means[None, :], delta)[0])
    low = high = None
    if bounded:
        resampled = _knees(_resampled_means(table, alpha), delta)
        ends = np.quantile(resampled, [alpha / 2, 1 - alpha / 2], method="closest_observation")
        low = float(table.loads[min(int(ends[0]), at)])
        high = float(table.loads[max(int(ends[1]), at)])
    return Knee(
        load=float(table.loads[at]),
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
    stretch = student_quantile(quantile, blocks - 1) / float(special.ndtri(quantile))
    stretch *= math.sqrt(blocks / (blocks - 1))
    moved: FloatArray = table.means + stretch * sums / np.maximum(counts, 1)
    return moved
