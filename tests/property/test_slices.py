"""The slices of a trial become one number: trimmed where only reads are measured, plain else."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.probes.postgres import TOTALS
from teiten.kinds.pgbench.load.measured import (
    pooled_latencies,
    pooled_metrics,
    pooled_series,
    trimmed_mean,
)
from teiten.model.starts import TRIM
from teiten.model.trial import Series
from teiten.model.units import Seconds
from teiten.plan.ordering import turns

POSITIVE = st.floats(1e-3, 1e6, allow_nan=False)


@given(values=st.lists(POSITIVE, min_size=1, max_size=60))
def test_the_trimmed_mean_is_scipys_and_does_not_ask_for_the_order(values: list[float]) -> None:
    assert trimmed_mean(values) == pytest.approx(float(stats.trim_mean(values, TRIM)), rel=1e-9)
    assert trimmed_mean(random.Random(1).sample(values, len(values))) == trimmed_mean(values)
    assert min(values) * (1 - 1e-12) <= trimmed_mean(values) <= max(values) * (1 + 1e-12)


@given(values=st.lists(POSITIVE, min_size=5, max_size=9), wild=st.floats(1e7, 1e12))
def test_one_wild_slice_of_five_or_more_moves_nothing_beyond_the_others(
    values: list[float], wild: float
) -> None:
    assert trimmed_mean([*values[:-1], wild]) <= max(values[:-1]) * (1 + 1e-12)


def a_slice(tps: float, transactions: int) -> dict[str, float]:
    return {
        "tps": tps,
        "transactions": float(transactions),
        "measured_seconds": transactions / tps,
        "latency_mean": 1 / tps,
        "latency_stddev": 0.5 / tps,
        "latency_max": 9 / tps,
        "wal_bytes": 10.0,
        "cpu_idle_share": 0.5,
    }


SLICES = st.lists(
    st.builds(a_slice, st.floats(10.0, 1e5), st.integers(1, 10_000)), min_size=2, max_size=8
)


@given(slices=SLICES)
def test_a_workload_that_changes_data_has_what_all_of_its_transactions_say(
    slices: list[dict[str, float]],
) -> None:
    found = pooled_metrics(slices, None, trimmed=False)
    assert not {name for name in found if name.endswith("_trimmed")}
    transactions = sum(one["transactions"] for one in slices)
    seconds = sum(one["measured_seconds"] for one in slices)
    assert found["transactions"] == transactions
    assert found["tps"] == pytest.approx(transactions / seconds)
    total = sum(one["transactions"] * one["latency_mean"] for one in slices)
    assert found["latency_mean"] == pytest.approx(total / transactions)
    assert found["wal_bytes"] == 10.0 * len(slices)
    assert found["cpu_idle_share"] == pytest.approx(0.5)
    assert found["latency_max"] == max(one["latency_max"] for one in slices)


@given(slices=SLICES)
def test_trimmed_means_stand_beside_the_plain_ones_and_change_nothing(
    slices: list[dict[str, float]],
) -> None:
    plain = pooled_metrics(slices, None, trimmed=False)
    found = pooled_metrics(slices, None, trimmed=True)
    for name in ("tps", "latency_mean") if len(slices) >= 5 else ():
        assert found.pop(f"{name}_trimmed") == trimmed_mean([one[name] for one in slices])
    assert found == plain


@pytest.mark.parametrize(
    "name",
    [*TOTALS, "node_2_wal_records", "node_2_own_disk_read_bytes", "client_context_switches"],
)
def test_what_is_counted_in_each_slice_is_summed(name: str) -> None:
    slices = [{**a_slice(100.0, 50), name: 10.0} for _ in range(3)]
    assert pooled_metrics(slices, None, trimmed=False)[name] == 30.0


def test_one_slice_is_taken_as_it_is() -> None:
    assert pooled_metrics([a_slice(100.0, 50)], None, trimmed=True) == a_slice(100.0, 50)


def test_a_count_that_a_slice_lacks_is_left_out_for_its_sum_would_be_wrong() -> None:
    slices = [a_slice(100.0, 50), a_slice(110.0, 50)]
    del slices[1]["wal_bytes"], slices[1]["cpu_idle_share"]
    found = pooled_metrics(slices, None, trimmed=True)
    assert "wal_bytes" not in found
    assert found["cpu_idle_share"] == 0.5


@given(
    data=st.lists(st.lists(st.integers(1, 10**6), min_size=1, max_size=50), min_size=1, max_size=5)
)
def test_latencies_are_those_of_all_transactions(data: list[list[int]]) -> None:
    whole, parts = LatencyHistogram(), []
    for values in data:
        parts.append(LatencyHistogram())
        for histogram in (whole, parts[-1]):
            histogram.record(np.array(values, dtype=np.int64))
    pooled = pooled_latencies(parts)
    assert pooled is not None
    assert pooled.encode() == whole.encode()
    assert (pooled.maximum, pooled.count) == (whole.maximum, whole.count)
    found = pooled_metrics(
        [{"latency_max": part.maximum / 1e6} for part in parts], pooled, trimmed=True
    )
    if len(parts) > 1:
        assert found["latency_p99"] == pytest.approx(whole.value_at(99.0) / 1e6)
    assert pooled_latencies([*parts, None]) is None


@given(st.lists(st.lists(st.floats(0.0, 3.0), max_size=4), min_size=1, max_size=6))
def test_series_follow_one_another_without_a_gap_and_without_going_back(
    data: list[list[float]],
) -> None:
    slices = [
        (Series("os", np.sort(np.array(one, dtype=np.float64)), {"a": np.ones(len(one))}),)
        for one in data
    ]
    (joined,) = pooled_series(slices, Seconds(1.0))
    assert np.all(np.diff(joined.seconds) >= 0)
    assert len(joined.seconds) == sum(map(len, data)) == len(joined.columns["a"])


def test_a_column_that_a_slice_lacks_is_empty_there() -> None:
    both = [
        (Series("os", np.array([1.0]), {"a": np.array([1.0])}),),
        (Series("os", np.array([1.0]), {"b": np.array([2.0])}),),
    ]
    (joined,) = pooled_series(both, Seconds(1.0))
    assert list(joined.seconds) == [1.0, 2.0]
    assert joined.columns["a"][0] == 1.0 and math.isnan(joined.columns["a"][1])


@given(members=st.integers(2, 3), slices=st.integers(1, 12), seed=st.integers(0, 2**31))
def test_every_round_of_turns_holds_each_member_once(members: int, slices: int, seed: int) -> None:
    places = turns(members, slices, seed)
    assert sorted(place for own in places for place in own) == list(range(1, members * slices + 1))
    for own in places:
        assert [(place - 1) // members for place in own] == list(range(slices))
    assert turns(members, slices, seed) == places


def test_who_comes_first_is_drawn_anew_for_every_round() -> None:
    first = [
        own[turn] % 2 for seed in range(200) for own in turns(2, 5, seed)[:1] for turn in range(5)
    ]
    assert 0.45 < sum(first) / len(first) < 0.55
