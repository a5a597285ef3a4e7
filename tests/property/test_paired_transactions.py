"""What holds of the numbers of any start of paired transactions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.kinds.pgbench.load.paired_numbers import PairedTimes, numbers
from teiten.model.starts import LEAST_SECONDS, Spread, wall_seconds
from teiten.model.study import MOST_SECONDS

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


@given(st.lists(st.tuples(latencies, latencies), min_size=1, max_size=20), st.integers(1, 5))
def test_how_often_an_order_was_drawn_does_not_matter(
    alike: list[tuple[int, int]], more: int
) -> None:
    """As many of both orders: the median of all; and so it stays with more of the same of one."""
    a_first = [(*one, 0, 0) for one in alike]
    b_first = [(*one, 1, 0) for one in reversed(alike)]
    plain = float(np.median([math.log(a / b) for a, b in alike * 2]))
    assert numbers(times(a_first + b_first)).typical == pytest.approx(plain, abs=1e-9)
    assert numbers(times(a_first * more + b_first)).typical == pytest.approx(plain, abs=1e-9)


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
