"""The rules that turn trials into words, for many simulated campaigns at once.

Teiten's intervals come from teiten.analysis itself; the words follow from them as there
(``analysis.verdict.classify``), which a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.method.noise import Array
from teiten.analysis.verdict.sequential import patient_half_width
from teiten.analysis.verdict.verdict import student_half_width

Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

DELTA = 0.02
ALPHA = 0.05
BAND = float(np.log1p(DELTA))


@dataclass(frozen=True)
class Said:
    """What a rule said of each campaign; every array has the shape (campaigns,)."""

    differs: Flags
    """That there is a difference, of whatever size."""
    slower: Flags
    equivalent: Flags
    """Or, of the reports' rule, that no difference was found."""
    covers: Flags | None
    """Its interval holds the truth; None of a rule without interval."""
    pairs: Counts


def words(mean: Array, half: Array) -> tuple[Flags, Flags]:
    """Whether intervals exclude 0, and whether they lie inside ±δ without it."""
    excludes = np.abs(mean) > half
    inside = np.abs(mean) + half < BAND
    return excludes, inside & ~excludes


def sequential(differences: Array, truth: float, alpha: float = ALPHA, levels: int = 1) -> Said:
    """Look after every pair; stop when decided or when all pairs are spent.

    ``differences``: d = ln(new/old) of shape (campaigns, pairs), the truth already within them;
    ``levels``: of how many levels each d is the mean.
    """
    campaigns, most = differences.shape
    mean, deviation = running(differences)
    widths = (patient_half_width(1.0, pairs, alpha, levels) for pairs in range(2, most + 1))
    half = deviation * np.fromiter(widths, float)
    excludes, equivalent = words(mean, half)
    decided = excludes | equivalent
    decided[:, -1] = True
    stop = decided.argmax(axis=1)
    rows = np.arange(campaigns)
    return _said(mean[rows, stop], half[rows, stop], truth, stop + 2)


def fixed(differences: Array, truth: float) -> Said:
    """One t interval after all pairs."""
    pairs = differences.shape[1]
    deviation = differences.std(axis=1, ddof=1)
    half = deviation * student_half_width(1.0, pairs, ALPHA)
    counts = np.full(len(differences), pairs)
    return _said(differences.mean(axis=1), half, truth, counts)


def reports(cells: Array, truth: float) -> Said:
    """Medians of the sets; a difference is one of more than 2 %, else none was found.

    ``cells``: logarithms of shape (campaigns, sets, 2), without the truth.
    """
    middle = np.median(cells, axis=1)
    ratio = np.exp(middle[:, 1] - middle[:, 0] + truth)
    differs = np.abs(ratio - 1) > DELTA
    return Said(differs, ratio < 1 - DELTA, ~differs, None, np.full(len(cells), cells.shape[1]))


def running(differences: Array) -> tuple[Array, Array]:
    """Mean and deviation of the first 2, 3, … pairs: (campaigns, pairs - 1) each."""
    counts = np.arange(2, differences.shape[1] + 1)
    sums = differences.cumsum(axis=1)[:, 1:]
    squares = (differences**2).cumsum(axis=1)[:, 1:]
    mean = sums / counts
    variance = np.maximum(squares - counts * mean**2, 0.0) / (counts - 1)
    return mean, np.sqrt(variance)


def _said(mean: Array, half: Array, truth: float, pairs: Counts) -> Said:
    differs, equivalent = words(mean, half)
    return Said(differs, differs & (mean < 0), equivalent, np.abs(mean - truth) <= half, pairs)
