"""The latency histogram against exact order statistics, and against HdrHistogram's own library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.execute.client.histogram import (
    HIGHEST,
    LatencyHistogram,
    bucket_indexes,
    highest_values,
    lowest_values,
)

VALUES = st.lists(
    st.one_of(
        st.integers(0, 5000),
        st.integers(0, HIGHEST),
        st.sampled_from([0, 1, 1023, 1024, 2047, 2048, 2049, 4095, 4096, HIGHEST - 1, HIGHEST]),
    ),
    min_size=1,
    max_size=300,
)
PERCENTILES = (0.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0)


def recorded(values: list[int]) -> LatencyHistogram:
    histogram = LatencyHistogram()
    half = len(values) // 2
    histogram.record(np.array(values[:half], dtype=np.int64))
    histogram.record(np.array(values[half:], dtype=np.int64))
    return histogram


def exact(values: list[int], percentile: float) -> int:
    rank = max(int(percentile / 100 * len(values) + 0.5), 1)
    return sorted(values)[rank - 1]


@given(VALUES)
def test_percentiles_are_exact_within_three_digits(values: list[int]) -> None:
    histogram = recorded(values)
    assert histogram.count == len(values)
    assert histogram.maximum == max(values)
    for percentile in PERCENTILES:
        true = exact(values, percentile)
        assert true <= histogram.value_at(percentile) <= true * 1.001
    assert histogram.value_at(100) == max(values)


@given(VALUES)
@settings(max_examples=30, deadline=None)
def test_it_counts_as_hdrhistogram_does(values: list[int]) -> None:
    theirs = HdrHistogram(1, HIGHEST, 3)
    for value in values:
        assert theirs.record_value(value)
    ours = HdrHistogram.decode(recorded(values).encode().encode("ascii"))
    assert ours.get_total_count() == len(values)
    assert [
        (item.value_iterated_to, item.count_at_value_iterated_to)
        for item in ours.get_recorded_iterator()
    ] == [
        (item.value_iterated_to, item.count_at_value_iterated_to)
        for item in theirs.get_recorded_iterator()
    ]
    for percentile in PERCENTILES[1:]:
        theirs_value = theirs.get_value_at_percentile(percentile)
        assert recorded(values).value_at(percentile) == min(theirs_value, max(values))


@given(VALUES)
def test_mean_and_deviation_are_exact(values: list[int]) -> None:
    histogram = recorded(values)
    assert histogram.mean == pytest.approx(np.mean(values))
    expected = float(np.std(values))
    assert histogram.standard_deviation == pytest.approx(
        expected, rel=1e-6, abs=1e-5 * (1 + histogram.mean)
    )


@given(st.integers(0, HIGHEST))
def test_buckets_touch_and_do_not_overlap(value: int) -> None:
    index = bucket_indexes(np.array([value], dtype=np.int64))
    low, high = int(lowest_values(index)[0]), int(highest_values(index)[0])
    assert low <= value <= high
    edges = np.array([low, high], dtype=np.int64)
    assert bucket_indexes(edges).tolist() == index.tolist() * 2
    if low:
        before = bucket_indexes(np.array([low - 1], dtype=np.int64))
        assert before[0] == index[0] - 1


def test_what_lies_outside_is_counted_at_the_edge() -> None:
    histogram = LatencyHistogram()
    histogram.record(np.array([-5, HIGHEST + 10], dtype=np.int64))
    assert histogram.count == 2
    assert histogram.value_at(0) == 0
    assert histogram.maximum == HIGHEST + 10


def test_an_empty_histogram() -> None:
    histogram = LatencyHistogram()
    histogram.record(np.array([], dtype=np.int64))
    assert histogram.count == 0
    assert math.isnan(histogram.mean)
    assert math.isnan(histogram.standard_deviation)
    assert HdrHistogram.decode(histogram.encode().encode("ascii")).get_total_count() == 0
    with pytest.raises(ValueError, match="empty histogram"):
        histogram.value_at(50)
