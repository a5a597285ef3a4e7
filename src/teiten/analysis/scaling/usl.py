"""The Universal Scalability Law, fitted (Gunther, Guerrilla Capacity Planning, 2007, ch. 4–5), and
whether it fits.

X(N) = λN / (1 + σ(N−1) + κN(N−1)) with λ > 0 and σ, κ ≥ 0.

A block shifts all its trials alike where the machine was slower that hour. Such a shift says
nothing about the form of a curve, so it is estimated (a two-way layout without interaction, Searle,
Linear Models, 1971, ch. 7) and taken out; what is left is the pure error, with which the distance
of the curve is compared (Draper and Smith, 1998, section 2.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from teiten.analysis.model.scaling import Curve, LackOfFit
from teiten.analysis.verdict.verdict import NO_VARIANCE
from teiten.model.trial import FloatArray
from teiten.model.units import Share

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

PARAMETERS = 3
SHAPES = ((1e3, 1e-3), (1e-3, 1e3))
"""Contention alone and coherency alone, scaled, from which the solver begins too: where trials
scatter widely, one start may lead to an optimum that is only local."""
EXACT = 1e-14
ROUGH = 1e-6
"""The solver's tolerance until it is known which optimum is the best."""
AT_BOUND = 1e-6
"""A coefficient that changes the slowdown at the greatest load by less than this share is 0."""


def fit_usl(loads: FloatArray, values: FloatArray, *, relative: bool = True) -> Curve:
    """The best curve through (load, value), both of shape (n,), positive and finite, of three
    different loads or more: the curve has three coefficients.

    ``relative``: the squares of ln(measured / curve) are least, as trials scatter by a share of
    their value, so that every level counts alike. Else those of measured − curve: the highest
    levels decide, the low ones hardly count; R's ``usl`` and Schwartz (Practical Scalability
    Analysis with the Universal Scalability Law, 2015) fit so, whose coefficients that makes
    comparable.
    """
    scaled = Scaled(float(np.max(values / loads)), float(loads.max()))
    logs, scale = np.log(values), float(values.mean())
    from scipy.optimize import least_squares  # noqa: PLC0415 - half of all that a report imports

    def distances(coefficients: FloatArray) -> FloatArray:
        of_logs: FloatArray = logs - scaled.logs_at(coefficients, loads)
        return of_logs if relative else (values - scaled.curve(coefficients).at(loads)) / scale

    def solved(start: FloatArray, tolerance: float) -> OptimizeResult:
        return least_squares(
            distances,
            start,
            bounds=([-np.inf, 0.0, 0.0], np.inf),
            xtol=tolerance,
            ftol=tolerance,
            gtol=tolerance,
            max_nfev=2000,
        )

    best = solved(scaled.coefficients(_start(loads, values)), EXACT)
    for shape in SHAPES:
        rival = solved(scaled.at_rate_of(loads, values, shape), ROUGH)
        if rival.cost < best.cost * (1 - ROUGH):
            best = solved(rival.x, EXACT)
    return scaled.curve(np.where(best.x < [-np.inf, AT_BOUND, AT_BOUND], 0.0, best.x))


@dataclass(frozen=True)
class Scaled:
    """Coefficients about 1 for the solver: ln(λ/level), σ·top and κ·top²."""

    level: float
    top: float
    """The greatest load."""

    def curve(self, coefficients: FloatArray) -> Curve:
        rate, contention, coherency = coefficients
        return Curve(
            self.level * math.exp(rate),
            float(contention) / self.top,
            float(coherency) / (self.top * self.top),
        )

    def logs_at(self, coefficients: FloatArray, loads: FloatArray) -> FloatArray:
        """ln X(N): finite where the solver tries a rate that no float holds."""
        rate, *shape = coefficients
        logs: FloatArray = rate + np.log(self.curve(np.array([0.0, *shape])).at(loads))
        return logs

    def at_rate_of(
        self, loads: FloatArray, values: FloatArray, shape: tuple[float, float]
    ) -> FloatArray:
        """Coefficients of this shape, with the rate that suits the values best."""
        distances = np.log(values) - self.logs_at(np.array([0.0, *shape]), loads)
        return np.array([float(distances.mean()), *shape])

    def coefficients(self, curve: Curve) -> FloatArray:
        """To begin with: not at a bound, where the solver would have to feel its way."""
        scaled = (curve.contention * self.top, curve.coherency * self.top * self.top)
        return np.array([math.log(curve.rate / self.level), *(max(part, 1e-3) for part in scaled)])


def _start(loads: FloatArray, values: FloatArray) -> Curve:
    """From N/X = (1 + σ(N−1) + κN(N−1))/λ, which is linear in 1/λ, σ/λ and κ/λ.

    The rows are scaled by X/N, so that their residuals are nearly those of the logarithms.
    """
    rows = np.column_stack([np.ones_like(loads), loads - 1, loads * (loads - 1)])
    rates = values / loads
    from scipy.optimize import nnls  # noqa: PLC0415 - as above

    (inverse, contention, coherency), _ = nnls(rows * rates[:, None], np.ones_like(loads))
    if inverse <= 0:
        return Curve(float(rates.max()), 0.01, 0.0)
    return Curve(1 / float(inverse), float(contention / inverse), float(coherency / inverse))


@dataclass(frozen=True)
class Replicates:
    """Trials without their blocks' shifts."""

    loads: FloatArray
    """Shape (m,), ascending, positive."""
    values: FloatArray
    """Shape (m, b): the metric as measured; NaN where no trial counts."""
    logs: FloatArray
    """Shape (m, b): ln(value) without the block's shift."""
    freedom: int
    """Degrees of freedom of the pure error."""

    @property
    def counts(self) -> FloatArray:
        """Trials of each load, shape (m,); each at least 1."""
        counted: FloatArray = np.isfinite(self.logs).sum(axis=1).astype(np.float64)
        return counted

    @property
    def means(self) -> FloatArray:
        """Mean logarithm of each load, shape (m,)."""
        mean: FloatArray = np.nanmean(self.logs, axis=1)
        return mean

    @property
    def deviations(self) -> FloatArray:
        """Deviations of each trial from the mean of its load, shape (m, b); 0 where there is no
        trial."""
        return np.nan_to_num(self.logs - self.means[:, None])

    def pure_error(self) -> float | None:
        """Standard deviation of one trial; None where it cannot be estimated."""
        if self.freedom < 1:
            return None
        error = float(np.sqrt((self.deviations**2).sum() / self.freedom))
        return error if error > NO_VARIANCE else None

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Load and metric of every trial, both of shape (trials,)."""
        present = np.isfinite(self.logs)
        loads = np.broadcast_to(self.loads[:, None], self.logs.shape)
        return loads[present], np.exp(self.logs[present])

    def without(self, block: int) -> Replicates | None:
        """Without one block; None where a load has no trial then."""
        values = np.delete(self.values, block, axis=1)
        if not np.isfinite(values).any(axis=1).all():
            return None
        return replicates(self.loads, values)


def replicates(loads: FloatArray, values: FloatArray) -> Replicates:
    """Take the blocks' shifts out of a table.

    ``loads``: shape (m,), ascending; ``values``: shape (m, b), positive, NaN where no trial
    counts; every load has at least one trial.
    """
    logs = np.log(values)
    rows, columns = np.nonzero(np.isfinite(logs))
    levels, blocks = logs.shape
    design = np.zeros((len(rows), levels + blocks))
    design[np.arange(len(rows)), rows] = 1
    design[np.arange(len(rows)), levels + columns] = 1
    coefficients, _, rank, _ = np.linalg.lstsq(design, logs[rows, columns], rcond=None)
    if rank < levels + blocks - 1:  # blocks without a load in common: a shift could be a load's
        return Replicates(loads, values, logs, len(rows) - levels)
    shifts = coefficients[levels:]
    shifts = shifts - shifts[columns].mean()
    return Replicates(loads, values, logs - shifts[None, :], len(rows) - int(rank))


FEWEST_LEVELS = PARAMETERS + 1
"""With fewer, every table fits."""
MOST = 3.0
"""Times the pure error: what a level mean may be off the curve."""
PRESUMED_ERROR = 0.023
"""The deviation of a pgbench trial where the table has no replicates to tell it.

The 90th percentile over 30 cells of three trials each in tvondra/pg-lock-scalability-results
(median 0.36 %). So a table is called a misfit only where its residuals could not come from trials
as bad as one in ten: 3 × 2.3 % = 6.9 %. A curve may still be wrong below that, which replicates
would show."""


def lack_of_fit(table: Replicates, curve: Curve, *, alpha: Share) -> LackOfFit:
    """Compare the level means' distance from the curve with that between repeated trials.

    With replicates it misfits where the distance is above three times the pure error (research:
    Teiten, METHOD.md, Scaling), or where the F test at α says that it is no chance. Without, where
    it is above three times the presumed error. ``table`` has at least four loads.
    """
    squares = residuals(table, curve) ** 2
    freedom = len(squares) - PARAMETERS
    lack = float(np.sqrt(squares.sum() / freedom))
    pure = table.pure_error()
    limit = MOST * (PRESUMED_ERROR if pure is None else pure)
    probability = None
    if pure is not None:
        ratio = float((table.counts * squares).sum()) / freedom / pure**2
        probability = float(special.fdtrc(freedom, table.freedom, ratio))
    refused = probability is not None and probability < alpha
    return LackOfFit(lack, pure, limit, probability, lack > limit or refused)


def residuals(table: Replicates, curve: Curve) -> FloatArray:
    """ln(mean / curve) of every load, shape (m,)."""
    difference: FloatArray = table.means - np.log(curve.at(table.loads))
    return difference
