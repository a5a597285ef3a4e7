"""Which trials are paired with which, and which are left out."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from teiten.analysis.model.observations import Observation
from teiten.analysis.verdict.pairs import observe, pair
from teiten.model.trial import Attempt, Outcome
from tests.fixtures.synthetic_plan import make_plan

PLAN = make_plan(8, clients=("1", "2"))
CONTEXT = (("clients", "1"),)


def observation(side: str, block: int, metrics: Mapping[str, float]) -> Observation:
    return Observation("read", CONTEXT, side, block, metrics)


def tps(side: str, *values: float) -> list[Observation]:
    return [observation(side, block, {"tps": value}) for block, value in enumerate(values, 1)]


def test_new_and_old_are_paired_within_their_block() -> None:
    shuffled = [*reversed(tps("18", 110.0, 90.0)), *tps("17", 100.0, 100.0)]
    pairs = pair(shuffled, context=CONTEXT, metric="tps", old="17", new="18")
    assert pairs.old_values == (100.0, 100.0)
    assert pairs.new_values == (110.0, 90.0)
    assert pairs.log_ratios == {
        1: pytest.approx(math.log(1.1)),
        2: pytest.approx(math.log(0.9)),
    }
    assert pairs.unusable == 0


def test_a_side_that_is_missing_makes_no_pair_but_its_other_side_is_shown() -> None:
    found = [*tps("17", 100.0, 101.0, 102.0), *tps("18", 103.0)]
    pairs = pair(found, context=CONTEXT, metric="tps", old="17", new="18")
    assert pairs.old_values == (100.0, 101.0, 102.0)
    assert pairs.new_values == (103.0,)
    assert list(pairs.log_ratios) == [1]


@pytest.mark.parametrize("bad", [0.0, -5.0, math.inf])
def test_a_value_without_a_logarithm_makes_the_pair_unusable(bad: float) -> None:
    found = [*tps("17", 100.0, 100.0), *tps("18", bad, 101.0)]
    pairs = pair(found, context=CONTEXT, metric="tps", old="17", new="18")
    assert list(pairs.log_ratios) == [2]
    assert pairs.unusable == 1
    assert pairs.new_values == (bad, 101.0)


def test_nan_is_a_missing_value() -> None:
    found = [*tps("17", 100.0, 100.0), *tps("18", math.nan, 101.0)]
    pairs = pair(found, context=CONTEXT, metric="tps", old="17", new="18")
    assert list(pairs.log_ratios) == [2]
    assert pairs.unusable == 0
    assert pairs.new_values == (101.0,)


def test_other_contexts_sides_and_metrics_stay_out() -> None:
    found = [
        *tps("17", 100.0),
        *tps("18", 101.0),
        *tps("16", 50.0),
        Observation("read", (("clients", "2"),), "18", 1, {"tps": 7.0}),
    ]
    pairs = pair(found, context=CONTEXT, metric="tps", old="17", new="18")
    assert (pairs.old_values, pairs.new_values) == ((100.0,), (101.0,))
    nothing = pair(found, context=CONTEXT, metric="latency_p99", old="17", new="18")
    assert (nothing.old_values, nothing.log_ratios) == ((), {})


def test_only_counted_trials_are_observed_and_of_several_the_last() -> None:
    attempts = [
        Attempt(1, 1, Outcome.FAILED, {"tps": 1.0}),
        Attempt(1, 3, Outcome.COUNTED, {"tps": 3.0}),
        Attempt(1, 2, Outcome.COUNTED, {"tps": 2.0}),
        Attempt(2, 1, Outcome.DISTURBED, {"tps": 9.0}),
    ]
    (found,) = observe(PLAN, attempts)
    planned = PLAN.trials[0]
    assert found.metrics == {"tps": 3.0}
    assert found.workload == planned.cell.workload
    assert (("server", found.side), *found.context) == planned.cell.levels
    assert found.block == planned.block
