"""A trial's latency distribution, from the histogram of all its transactions."""

from __future__ import annotations

import binascii
import zlib

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

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
