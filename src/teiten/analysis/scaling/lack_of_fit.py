"""Whether a curve of three coefficients fits a table (Draper and Smith, 1998, section 2.1)."""

from __future__ import annotations

import numpy as np
from scipy import special

from teiten.analysis.model.scaling import Curve, LackOfFit
from teiten.analysis.scaling.replicates import Replicates
from teiten.analysis.scaling.usl import PARAMETERS
from teiten.model.trial import FloatArray
from teiten.model.units import Share

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
