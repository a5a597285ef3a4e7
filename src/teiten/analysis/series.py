"""Series of trials thinned for the report (neighbouring samples averaged, until all fit a budget),
and the distribution of their latencies, from the histogram of all transactions.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Mapping

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

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


SHARES = np.array(
    (
        *(0.001, 0.01, 0.05, *(n / 20 for n in range(2, 19)), 0.925, 0.95, 0.96, 0.97, 0.975),
        *(0.98, 0.985, 0.99, 0.9925, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 0.99999, 1.0),
    )
)
"""Where the curve is drawn: evenly in the body, ever closer in the tail."""


def distribution(histogram: str) -> tuple[tuple[float, float], ...]:
    """Latency in seconds, and the share of transactions at or below it; both ascending.

    ``histogram``: HdrHistogram V2, base64, in microseconds. Empty where there is none, or where
    it cannot be read: the percentiles among the metrics stand for themselves.
    """
    if not histogram:
        return ()
    try:
        decoded = HdrHistogram.decode(histogram)
    except (TypeError, HdrCookieException, HdrLengthException, binascii.Error, zlib.error):
        return ()
    counts = np.frombuffer(decoded.counts, dtype=np.int64)
    total = int(counts.sum())
    if total == 0:
        return ()
    cumulative = np.cumsum(counts)
    indexes = np.unique(np.searchsorted(cumulative, SHARES * total - 1e-9 * total, side="left"))
    return tuple(
        (_upper_edge(decoded, int(index)) / 1e6, float(cumulative[index]) / total)
        for index in indexes
    )


def _upper_edge(histogram: HdrHistogram, index: int) -> int:
    """The highest value that is counted in the same bucket, in microseconds."""
    value = histogram.get_value_from_index(index)
    return int(histogram.get_highest_equivalent_value(value))
