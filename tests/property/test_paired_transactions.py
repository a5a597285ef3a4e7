"""What holds of the numbers of any start (analysis.verdict.paired_transactions)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.analysis.verdict.paired_transactions import (
    LEAST_SECONDS,
    MOST_SECONDS,
    PairedTimes,
    Spread,
    numbers,
    wall_seconds,
)

latencies = st.integers(1_000, 10**12)
pairs = st.lists(
    st.tuples(latencies, latencies, st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=60
)
Pair = tuple[int, int, int, int]


def times(found: list[Pair]) -> PairedTimes:
    latency = np.array([one[:2] for one in found], dtype=np.uint64)
    first = np.array([one[2] for one in found])
    failed = np.zeros(latency.shape, dtype=bool)
    return PairedTimes(latency * 0, latency, failed, first, np.array([one[3] for one in found]))


@given(pairs)
def test_exchanged_sides_have_the_opposite_numbers(found: list[Pair]) -> None:
    one = numbers(times(found))
    other = numbers(times([(b, a, 1 - first, past) for a, b, first, past in found]))
    assert one.throughput == pytest.approx(-other.throughput, abs=1e-9)
    assert one.typical == pytest.approx(-other.typical, abs=1e-9)


@given(pairs, st.integers(2, 1000))
def test_a_side_that_is_so_many_times_faster_has_just_that_in_both(
    found: list[Pair], factor: int
) -> None:
    plain = numbers(times(found))
    faster = numbers(times([(a * factor, b, first, past) for a, b, first, past in found]))
    assert faster.throughput - plain.throughput == pytest.approx(math.log(factor), abs=1e-9)
    assert faster.typical - plain.typical == pytest.approx(math.log(factor), abs=1e-9)


@given(pairs)
def test_the_order_of_pairs_changes_nothing(found: list[Pair]) -> None:
    one, other = numbers(times(found)), numbers(times(found[::-1]))
    assert one.typical == pytest.approx(other.typical, abs=1e-12)
    assert one.throughput == pytest.approx(other.throughput, abs=1e-9)


@given(
    st.lists(st.tuples(latencies, latencies), min_size=1, max_size=20),
    st.lists(st.tuples(latencies, latencies), min_size=1, max_size=20),
)
def test_the_typical_one_is_the_centre_of_both_orders(
    a_first: list[tuple[int, int]], b_first: list[tuple[int, int]]
) -> None:
    found = [(*one, 0, 0) for one in a_first] + [(*one, 1, 0) for one in b_first]
    means = [
        (math.log(a / b) + math.log(c / d)) / 2
        for (a, b), (c, d) in itertools.product(a_first, b_first)
    ]
    assert numbers(times(found)).typical == pytest.approx(float(np.median(means)), abs=1e-9)


@given(
    st.floats(0.1, 100),
    st.floats(1e-9, 1),
    st.floats(1e-6, 0.1),
    st.floats(LEAST_SECONDS, MOST_SECONDS),
)
def test_no_other_wall_time_says_more(
    fixed: float, within: float, between: float, other: float
) -> None:
    def variance(seconds: float) -> float:
        """Of the mean of a campaign of one second."""
        return (2 * between**2 + within / seconds) * (fixed + seconds)

    best = wall_seconds(fixed, Spread(within, between))
    assert LEAST_SECONDS <= best <= MOST_SECONDS
    assert variance(best) <= variance(other) * (1 + 1e-9)
