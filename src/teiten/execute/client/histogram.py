"""Latencies counted in HdrHistogram's buckets, three significant digits, in microseconds.

HdrHistogram's layout is kept (http://hdrhistogram.org), so that its libraries of any language read
what ``encode`` writes. Counting is vectorised: the library's own ``record_value`` handles one value
a call, which is too slow for 100,000 transactions a second.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

IntegerArray = npt.NDArray[np.int64]

SIGNIFICANT_DIGITS = 3
HIGHEST = 2**32 - 1
"""71 minutes; a longer latency is counted as this one (the maximum stays exact)."""

_HALF_BITS = 10
_HALF = 1 << _HALF_BITS
"""Buckets per power of two: 2048 values of full resolution below, 1024 in each octave above."""
_LENGTH = ((32 - _HALF_BITS) << _HALF_BITS) + _HALF


def bucket_indexes(values: IntegerArray) -> IntegerArray:
    """The bucket of each value, shape as given; values within 0 and HIGHEST."""
    bit_lengths = np.frexp(values.astype(np.float64))[1].astype(np.int64)
    shifts = np.maximum(bit_lengths - (_HALF_BITS + 1), 0)
    indexes: IntegerArray = (shifts << _HALF_BITS) + (values >> shifts)
    return indexes


def lowest_values(indexes: IntegerArray) -> IntegerArray:
    """The lowest value of each bucket."""
    shifts = np.maximum((indexes >> _HALF_BITS) - 1, 0)
    lowest: IntegerArray = (indexes - (shifts << _HALF_BITS)) << shifts
    return lowest


def highest_values(indexes: IntegerArray) -> IntegerArray:
    """The highest value of each bucket."""
    shifts = np.maximum((indexes >> _HALF_BITS) - 1, 0)
    widths: IntegerArray = np.left_shift(1, shifts)
    return lowest_values(indexes) + widths - 1


class LatencyHistogram:
    """Counts of latencies in microseconds; its size does not depend on how many are counted."""

    def __init__(self) -> None:
        self._counts: IntegerArray = np.zeros(_LENGTH, dtype=np.int64)
        self.maximum = 0
        """The exact maximum, in microseconds."""
        self._sum = 0
        self._sum_of_squares = 0.0

    @property
    def count(self) -> int:
        return int(self._counts.sum())

    @property
    def mean(self) -> float:
        """The exact mean of what was recorded, in microseconds; NaN without any."""
        return self._sum / self.count if self.count else math.nan

    @property
    def standard_deviation(self) -> float:
        """Standard deviation in microseconds, with n in the denominator as pgbench has it."""
        if not self.count:
            return math.nan
        return math.sqrt(max(0.0, self._sum_of_squares / self.count - self.mean**2))

    def record(self, values: IntegerArray, counts: IntegerArray | None = None) -> None:
        """Count latencies, shape (n,); each as often as ``counts``, of the same shape, says, or
        once. Negative ones (a clock that was set back) count as 0."""
        if values.size == 0:
            return
        times = 1 if counts is None else counts
        self.maximum = max(self.maximum, int(values.max()))
        self._sum += int((values * times).sum())
        self._sum_of_squares += float((np.square(values, dtype=np.float64) * times).sum())
        indexes = bucket_indexes(np.clip(values, 0, HIGHEST))
        self._counts += np.bincount(indexes, counts, _LENGTH).astype(np.int64)

    def add(self, further: LatencyHistogram) -> None:
        """Count all that another one has counted."""
        self.maximum = max(self.maximum, further.maximum)
        self._sum += further._sum
        self._sum_of_squares += further._sum_of_squares
        self._counts += further._counts

    def value_at(self, percentile: float) -> int:
        """The latency (µs) below or at which this percentage of the transactions lies.

        As HdrHistogram defines it: the highest value of the bucket, but never above the exact
        maximum. Raises ValueError for an empty histogram.
        """
        total = self.count
        if total == 0:
            raise ValueError("an empty histogram has no percentiles")
        wanted = max(int(percentile / 100 * total + 0.5), 1)
        index = np.searchsorted(np.cumsum(self._counts), wanted)
        value = int(highest_values(np.array([index], dtype=np.int64))[0])
        return min(value, self.maximum)

    def encode(self) -> str:
        """HdrHistogram V2, compressed, base64."""
        histogram = HdrHistogram(1, HIGHEST, SIGNIFICANT_DIGITS)
        indexes = np.flatnonzero(self._counts)
        for value, count in zip(
            lowest_values(indexes).tolist(), self._counts[indexes].tolist(), strict=True
        ):
            histogram.record_value(value, count)
        text: bytes = histogram.encode()
        return text.decode("ascii")
