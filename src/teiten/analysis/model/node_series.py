"""Series of a trial: on several nodes put together for the trial, waits as means, neighbours
averaged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from teiten.analysis.model.findings import SeriesView, TrialView
from teiten.model.trial import FloatArray

WAITS = "waits"
"""Backends by wait event."""
POSTGRES = "postgres"
_OF_SERVERS = frozenset({WAITS, POSTGRES})
"""Sources that every node has of its own, whose columns are counts and rates and so add up."""
_NODE = re.compile(r"^node-\d+:")


def find_series(trial: TrialView, source: str) -> SeriesView | None:
    """The series of a source; of what each server tells, the sum over all nodes of the trial."""
    parts = [
        series
        for series in trial.series
        if series.source == source
        or (source in _OF_SERVERS and _NODE.sub("", series.source) == source)
    ]
    return parts[0] if len(parts) == 1 else _total(source, parts) if parts else None


def mean_backends(trial: TrialView) -> dict[str, float] | None:
    """The mean number of backends in each wait event, over the seconds of a trial; None where they
    were not sampled."""
    series = find_series(trial, WAITS)
    if series is None:
        return None
    present = {event: values[np.isfinite(values)] for event, values in series.columns.items()}
    return {event: float(values.mean()) for event, values in present.items() if len(values)}


def waits_of(trials: Iterable[TrialView]) -> dict[str, float]:
    """``mean_backends`` over trials; an event that a trial did not see was 0 in it."""
    tables = [table for table in map(mean_backends, trials) if table is not None]
    events = dict.fromkeys(event for table in tables for event in table)
    return {event: fmean(table.get(event, 0.0) for table in tables) for event in events}


def _total(source: str, parts: Sequence[SeriesView]) -> SeriesView:
    """A column that a node lacks, and a second that it has not seen, count nothing."""
    longest = max(parts, key=lambda part: len(part.seconds))
    length = len(longest.seconds)
    names = dict.fromkeys(name for part in parts for name in part.columns)
    columns = {
        name: _sum([part.columns[name] for part in parts if name in part.columns], length)
        for name in names
    }
    return SeriesView(source, longest.seconds, columns, longest.stride)


def _sum(columns: Sequence[FloatArray], length: int) -> FloatArray:
    total = np.zeros(length)
    seen = np.zeros(length, dtype=bool)
    for column in columns:
        finite = np.isfinite(column)
        total[: len(column)] += np.where(finite, column, 0.0)
        seen[: len(column)] |= finite
    return np.where(seen, total, np.nan)


def group_means(values: FloatArray, stride: int) -> FloatArray:
    """The means of each ``stride`` neighbours in every row: (r, n) to (r, ceil(n / stride))."""
    starts = np.arange(0, values.shape[1], stride)
    present = ~np.isnan(values)
    sums = np.add.reduceat(np.where(present, values, 0.0), starts, axis=1)
    counts = np.add.reduceat(present.astype(np.float64), starts, axis=1)
    means: FloatArray = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
