"""Series thinned for the report: neighbouring samples averaged, until all fit a budget."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from teiten.model.analysis import SeriesView
from teiten.model.trial import FloatArray, Series

BUDGET = 200_000
"""Numbers of all series in a report together; about 2 MB of text."""
PER_CORE_BUDGET = 50_000
"""Of the series of single cores, of which a large machine has hundreds."""
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
    return SeriesView(
        source=series.source,
        seconds=group_means(series.seconds, stride),
        columns={name: group_means(values, stride) for name, values in series.columns.items()},
        stride=stride,
    )


def group_means(values: FloatArray, stride: int) -> FloatArray:
    """The mean of each group of ``stride`` neighbours, shape (ceil(n / stride),)."""
    if stride == 1 or not len(values):
        return values
    starts = np.arange(0, len(values), stride)
    present = ~np.isnan(values)
    sums = np.add.reduceat(np.where(present, values, 0.0), starts)
    counts = np.add.reduceat(present.astype(np.float64), starts)
    means: FloatArray = np.full(len(starts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _stride(points: int, budget: int) -> int:
    return max(1, -(-points // budget))
