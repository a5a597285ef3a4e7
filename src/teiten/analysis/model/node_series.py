"""Series of a trial on several nodes, put together for the trial."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
