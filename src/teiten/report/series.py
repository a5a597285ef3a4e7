"""The samples that a report carries: a few columns, thinned until the page stays small."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from teiten.analysis.model.findings import SeriesView, TrialView
from teiten.analysis.model.node_series import find_series
from teiten.model.trial import FloatArray
from teiten.model.units import MIB

MOST_POINTS = 400_000
"""Points of all series of a report together: about 3 MB of JSON."""
DIGITS = 4


@dataclass(frozen=True)
class SeriesColumn:
    """A series that the reader can choose: where it is found, and the factor to its shown unit."""

    name: str
    source: str
    column: str
    factor: float


OF_THE_MACHINE = (
    SeriesColumn("cpu-idle", "os", "cpu_idle_share", 100.0),
    SeriesColumn("wal", "postgres", "wal_bytes_per_second", 1 / MIB),
)


@dataclass(frozen=True)
class Samples:
    """A column of one trial, ``values`` over ``seconds``."""

    seconds: FloatArray
    values: FloatArray


def column_of(series: SeriesView, name: str) -> FloatArray | None:
    return series.columns.get(name)


def samples(trial: TrialView, column: SeriesColumn, stride: int = 1) -> Samples | None:
    """A trial's samples of one column, each ``stride`` neighbours averaged."""
    series = find_series(trial, column.source)
    if series is None or not len(series.seconds):
        return None
    values = column_of(series, column.column)
    if values is None or not np.isfinite(values).any():
        return None
    return Samples(thin(series.seconds, stride), thin(values * column.factor, stride))


def thin(values: FloatArray, stride: int) -> FloatArray:
    """Means of ``stride`` neighbours; NaN only where none of them is a number."""
    if stride <= 1:
        return values
    whole = math.ceil(len(values) / stride) * stride
    padded = np.full(whole, np.nan)
    padded[: len(values)] = values
    rows = padded.reshape(-1, stride)
    present = np.isfinite(rows)
    counts = present.sum(axis=1)
    sums = np.where(present, rows, 0.0).sum(axis=1)
    means: FloatArray = np.divide(sums, counts, out=np.full(len(rows), np.nan), where=counts > 0)
    return means


def stride_for(trials: Sequence[TrialView], columns: Iterable[SeriesColumn]) -> int:
    """By how much to thin so that all trials' series together stay below MOST_POINTS."""
    points = 0
    for column in columns:
        for trial in trials:
            found = find_series(trial, column.source)
            points += 0 if found is None else len(found.seconds)
    return max(1, math.ceil(points / MOST_POINTS))


def rounded(values: FloatArray) -> list[float | None]:
    """Plain numbers of DIGITS significant digits for JSON; None for NaN."""
    return [
        float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()
    ]
