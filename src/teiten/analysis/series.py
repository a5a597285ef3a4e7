"""Series thinned for the report: neighbouring samples averaged, until all fit a budget."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from teiten.analysis.model.findings import SeriesView
from teiten.model.trial import FloatArray, Series

BUDGET = 200_000
"""About how many numbers all series of a report hold together; some 2 MB of text."""
PER_CORE_BUDGET = 50_000
"""The budget of the series of single cores, of which a large machine has hundreds."""
PER_CORE = "cpu:"


def strides(points: Mapping[str, int]) -> dict[str, int]:
    """How many neighbouring samples of each source become one.

    ``points``: how many numbers each source has in all trials. Sources share one stride, but for
    those of single cores.
    """
    cores = {source for source in points if source.startswith(PER_CORE)}
    per_core = _stride(sum(points[source] for source in cores), PER_CORE_BUDGET)
    others = _stride(sum(points.values()) - sum(points[source] for source in cores), BUDGET)
    return {source: per_core if source in cores else others for source in points}


def thin(series: Series, stride: int) -> SeriesView:
    """Average each ``stride`` neighbouring samples (the last group may be shorter).

    NaN are left out of an average; an average of nothing but NaN is NaN.
    """
    rows = (series.seconds, *series.columns.values())
    if stride > 1 and len(series.seconds):
        rows = tuple(group_means(np.vstack(rows), stride))
    return SeriesView(
        source=series.source,
        seconds=rows[0],
        columns=dict(zip(series.columns, rows[1:], strict=True)),
        stride=stride,
    )


def group_means(values: FloatArray, stride: int) -> FloatArray:
    """The means of each ``stride`` neighbours in every row: (r, n) to (r, ceil(n / stride))."""
    starts = np.arange(0, values.shape[1], stride)
    present = ~np.isnan(values)
    sums = np.add.reduceat(np.where(present, values, 0.0), starts, axis=1)
    counts = np.add.reduceat(present.astype(np.float64), starts, axis=1)
    means: FloatArray = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _stride(points: int, budget: int) -> int:
    return max(1, -(-points // budget))
