"""The Universal Scalability Law, fitted (Gunther, Guerrilla Capacity Planning, 2007, ch. 4–5).

X(N) = λN / (1 + σ(N−1) + κN(N−1)) with λ > 0 and σ, κ ≥ 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from teiten.analysis.model.scaling import Curve
from teiten.model.trial import FloatArray

PARAMETERS = 3
AT_BOUND = 1e-6
"""A coefficient that changes the slowdown at the greatest load by less than this share is 0."""


class Errors(StrEnum):
    """The errors that a fit minimises.

    RELATIVE, the squares of ln(measured / curve): trials scatter by a share of their value, so
    that every level counts alike. ABSOLUTE, the squares of measured − curve: the highest levels
    decide, the low ones hardly count; R's ``usl`` and Schwartz (Practical Scalability Analysis
    with the Universal Scalability Law, 2015) fit so, whose coefficients it makes comparable.
    """

    RELATIVE = "relative"
    ABSOLUTE = "absolute"


def fit_usl(loads: FloatArray, values: FloatArray, errors: Errors = Errors.RELATIVE) -> Curve:
    """The best curve through (load, value), both of shape (n,), positive and finite.

    Raises ValueError of fewer than three different loads (the curve has three coefficients) or of
    a load or value that is not positive and finite.
    """
    if len(np.unique(loads)) < PARAMETERS:
        raise ValueError("a curve of three coefficients needs three different loads")
    if not (np.all(loads > 0) and np.all(values > 0) and np.all(np.isfinite([loads, values]))):
        raise ValueError("loads and values must be positive and finite")
    scaled = Scaled(float(np.max(values / loads)), float(loads.max()))
    from scipy.optimize import least_squares  # noqa: PLC0415 - half of all that a report imports

    best = least_squares(
        _residuals(loads, values, scaled, errors),
        scaled.coefficients(_start(loads, values)),
        bounds=([-np.inf, 0.0, 0.0], np.inf),
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
        max_nfev=2000,
    )
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

    def coefficients(self, curve: Curve) -> FloatArray:
        """To begin with: not at a bound, where the solver would have to feel its way."""
        scaled = (curve.contention * self.top, curve.coherency * self.top * self.top)
        return np.array([math.log(curve.rate / self.level), *(max(one, 1e-3) for one in scaled)])


def _residuals(
    loads: FloatArray, values: FloatArray, scaled: Scaled, errors: Errors
) -> Callable[[FloatArray], FloatArray]:
    logs = np.log(values)
    scale = float(values.mean())

    def relative(coefficients: FloatArray) -> FloatArray:
        difference: FloatArray = logs - scaled.logs_at(coefficients, loads)
        return difference

    def absolute(coefficients: FloatArray) -> FloatArray:
        difference: FloatArray = (values - scaled.curve(coefficients).at(loads)) / scale
        return difference

    return relative if errors is Errors.RELATIVE else absolute


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
