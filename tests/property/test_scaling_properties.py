"""What must hold of every table of throughput by load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from teiten.analysis.model.scaling import Curve, Scaling
from teiten.analysis.scaling.curve import scale
from teiten.analysis.scaling.usl import fit_usl
from teiten.model.units import Share

LOADS = st.lists(st.integers(1, 256), min_size=4, max_size=9, unique=True).map(sorted)
CURVES = st.builds(
    Curve,
    st.floats(0.1, 1e5),
    st.one_of(st.just(0.0), st.floats(1e-4, 0.9)),
    st.one_of(st.just(0.0), st.floats(1e-6, 1e-2)),
)
TABLES = st.dictionaries(
    st.integers(1, 500).map(float),
    st.dictionaries(
        st.integers(1, 4), st.one_of(st.floats(0.1, 1e6), st.just(math.nan)), min_size=1, max_size=4
    ),
    max_size=7,
)


def analysed(table: dict[float, dict[int, float]]) -> Scaling:
    return scale(table, delta=Share(0.02), alpha=Share(0.05), cores=4)


@given(LOADS, CURVES)
@settings(max_examples=30, deadline=None)
def test_a_table_on_a_curve_gives_the_curve(loads: list[int], curve: Curve) -> None:
    at = np.array(loads, dtype=np.float64)
    found = fit_usl(at, curve.at(at))
    assert np.abs(np.log(found.at(at) / curve.at(at))).max() < 1e-4
    assert found.contention >= 0
    assert found.coherency >= 0


BEYOND_FLOATS = (
    {
        174.0: {1: 7.0},
        91.0: {1: 129.0, 2: 0.25},
        6.0: {4: 175653.0},
        460.0: {1: 1.5, 2: 58.0, 4: 0.5},
    },
    {
        174.0: {1: 14.0},
        182.0: {1: 394295.0, 2: 0.25},
        6.0: {4: 175653.0},
        460.0: {1: 1.5},
        1.0: {1: 0.1},
    },
)
"""Blocks so far apart that an interval, or a curve that the solver tries, is beyond every float."""


@given(TABLES)
@example(BEYOND_FLOATS[0])
@example(BEYOND_FLOATS[1])
@settings(max_examples=30, deadline=None)
def test_nothing_is_said_beyond_the_measured_loads(table: dict[float, dict[int, float]]) -> None:
    found = analysed(table)
    measured = {load for load, row in table.items() if any(v == v for v in row.values())}
    assert set(found.loads) == measured
    assert (found.fit is None) == (found.withheld is not None)
    if found.knee is None:
        assert len(measured) < 2
        return
    ends = [one for one in (found.knee.low, found.knee.high) if one is not None]
    assert {found.knee.load, *ends} <= measured
    assert (found.no_interval is None) == bool(ends)
    if ends:
        assert ends[0] <= found.knee.load <= ends[1]


@given(TABLES, st.floats(0.001, 1000))
@settings(max_examples=30, deadline=None)
def test_another_unit_of_throughput_changes_no_finding(
    table: dict[float, dict[int, float]], factor: float
) -> None:
    one = analysed(table)
    other = analysed({load: {b: v * factor for b, v in row.items()} for load, row in table.items()})
    assert [point.per_load for point in one.points] == pytest.approx(
        [point.per_load for point in other.points], rel=1e-6
    )
    assert one.no_interval == other.no_interval
    if one.lack is not None and other.lack is not None:
        assert one.lack.lack == pytest.approx(other.lack.lack, rel=1e-3, abs=1e-6)
