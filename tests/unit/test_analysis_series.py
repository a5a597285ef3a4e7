"""Series are thinned by averaging neighbours; missing samples stay missing."""

from __future__ import annotations

import math

import numpy as np

from teiten.analysis.campaign import BUDGET, PER_CORE_BUDGET, strides, thin
from teiten.analysis.model.node_series import group_means
from teiten.model.trial import Series


def test_a_small_campaign_is_shown_sample_by_sample() -> None:
    assert strides({"os": 1000, "pgbench": 400, "cpu:0": 300}) == {
        "os": 1,
        "pgbench": 1,
        "cpu:0": 1,
    }
    assert strides({}) == {}


def test_a_large_one_shares_one_stride_but_for_single_cores() -> None:
    found = strides({"os": 3 * BUDGET, "waits": BUDGET + 1, "cpu:0": PER_CORE_BUDGET * 7})
    assert found == {"os": 5, "waits": 5, "cpu:0": 7}


def test_a_hundred_cores_do_not_thin_the_other_series() -> None:
    points = {"os": 1000, **{f"cpu:{core}": 10_000 for core in range(100)}}
    assert strides(points)["os"] == 1
    assert strides(points)["cpu:99"] == 20


def test_neighbours_are_averaged_and_the_last_group_may_be_shorter() -> None:
    series = Series("os", np.arange(1.0, 6.0), {"a": np.array([1.0, 3.0, 5.0, 9.0, 2.0])})
    view = thin(series, 2)
    assert (view.source, view.stride) == ("os", 2)
    np.testing.assert_array_equal(view.seconds, [1.5, 3.5, 5.0])
    np.testing.assert_array_equal(view.columns["a"], [2.0, 7.0, 2.0])


def test_missing_samples_do_not_count_in_an_average() -> None:
    nan = math.nan
    values = np.array([[1.0, nan, nan, nan, 4.0, 8.0]])
    np.testing.assert_array_equal(group_means(values, 2), [[1.0, nan, 6.0]])


def test_without_thinning_a_series_is_as_it_was() -> None:
    series = Series("os", np.arange(3.0), {"a": np.array([1.0, math.nan, 2.0])})
    view = thin(series, 1)
    assert view.columns["a"] is series.columns["a"]
    empty = thin(Series("os", np.arange(0.0), {"a": np.arange(0.0)}), 3)
    assert len(empty.seconds) == 0
