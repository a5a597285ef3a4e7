"""A budget becomes blocks: as many as fit, and an error where none does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.analysis.verdict.sequential import least_pairs
from teiten.errors import UsageError
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.durations import (
    LEAST_BLOCKS,
    MOST_TRIALS,
    ROOM_FOR_FASTER,
    block_seconds,
    blocks_in_budget,
    preparing_seconds,
)
from teiten.plan.estimate import estimate
from teiten.plan.ordering import pairs_of_a_start
from teiten.plan.sizing import size
from teiten.study.load import load_study
from teiten.study.sides import Shared, ab_study, null_study
from tests.fixtures.pairs import ab_plan, side
from tests.fixtures.planned import expanded, planned
from tests.fixtures.synthetic_plan import HOST


def ab(**shared: object) -> Study:
    given = Shared(clients="2", **shared)  # type: ignore[arg-type]
    return size(ab_study(side("a", "17"), side("b", "18"), given), HOST)


@given(st.integers(180, 20_000), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_blocks_for_a_machine_that_is_faster_than_expected(budget: int, duration: int) -> None:
    study = ab(budget=f"{budget}s", duration=f"{duration}s", overrides=("scale=1",))
    blocks, of_one = blocks_in_budget(study), block_seconds(study)
    cost = preparing_seconds(study)
    assert cost + blocks * of_one <= budget * (1 + 1e-9) < cost + (blocks + 1) * of_one
    assert study.measure.blocks == min(ROOM_FOR_FASTER * blocks, MOST_TRIALS // 2)
    assert size(study, HOST) == study, "sizing a sized study changes nothing"


def test_the_duration_is_derived_from_the_budget() -> None:
    half_hour, short = ab(budget="30m"), ab(budget="10m")
    assert 15 <= (half_hour.measure.duration or 0) <= 30
    assert 25 <= blocks_in_budget(half_hour) <= 35
    assert (short.measure.duration or 0) == 10


def test_no_more_is_measured_than_the_budget_has_time_for() -> None:
    plan = expanded(ab(budget="10m", duration="30s", overrides=("scale=1",)))
    needs = estimate(plan.study, plan.trials, plan.templates)
    assert 0 < needs.measured_seconds < needs.seconds <= 600


def test_no_more_pairs_than_are_asked_for() -> None:
    assert ab(budget="30m", blocks=7).measure.blocks == 7
    assert (ab(budget="30m", blocks=7).measure.duration or 0) == 60


def test_a_budget_too_short_for_one_pair_says_how_long_one_takes() -> None:
    with pytest.raises(UsageError) as caught:
        ab(budget="20s", duration="10s", overrides=("scale=1",))
    assert caught.value.message.startswith(
        "the budget of 20 s is too short: one pair takes about 2"
    )
    assert "and preparing up to 7 s before the first" in caught.value.message
    assert caught.value.hint.startswith("give --budget 3m or more")


@pytest.mark.parametrize("duration", ["5s", "10s"])
def test_the_least_budget_permits_a_verdict_and_one_minute_less_does_not(duration: str) -> None:
    with pytest.raises(UsageError) as caught:
        ab(budget="20s", duration=duration, overrides=("scale=1",))
    least = int(caught.value.hint.removeprefix("give --budget ").partition("m ")[0])
    for minutes, enough in ((least, True), (least - 1, False)):
        study = ab(budget=f"{minutes}m", duration=duration, overrides=("scale=1",))
        starts = blocks_in_budget(study) // pairs_of_a_start(study)
        assert (starts >= least_pairs(study.measure.alpha)) == enough


@pytest.mark.parametrize("levels", [1, 2, 10])
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
def test_a_verdict_can_come_with_the_blocks_of_the_least_budget(levels: int, alpha: float) -> None:
    assert least_pairs(alpha, levels) <= LEAST_BLOCKS


def test_a_budget_too_short_for_a_block_of_a_sweep() -> None:
    study = load_study("observe", profile="quick", until_decided=True, budget="30s")
    with pytest.raises(UsageError, match=r"one block of 6 pairs takes about \d+ s"):
        size(study, HOST)


def test_a_sweep_until_decided() -> None:
    plan = planned(until_decided=True, budget="1h")
    measure = plan.study.measure
    assert measure.sequential is not None and measure.sequential.budget == 3600.0
    assert len(plan.trials) == 12 * measure.blocks
    assert plan.needs.seconds <= 3600 * 1.05
    fixed = planned(until_decided=True, budget="1h", blocks=4)
    assert fixed.study.measure.blocks == 4


def test_without_a_budget_the_studys_target_is_one() -> None:
    study = size(load_study("observe", until_decided=True), HOST)
    assert study.measure.sequential is not None
    assert study.measure.sequential.budget == 3600.0


def test_a_budget_needs_until_decided() -> None:
    with pytest.raises(UsageError, match="--budget: budget is for campaigns that end with a"):
        load_study("observe", profile="quick", budget="1h")


def test_a_server_against_itself_has_two_copies_of_its_template() -> None:
    plan = null_plan()
    assert len(plan.templates) == 1
    assert {(trial.cell.level("server"), trial.copy) for trial in plan.trials} == {
        ("A", 1),
        ("B", 2),
    }
    alone = replace(plan, trials=tuple(replace(trial, copy=1) for trial in plan.trials))
    assert disk_of(plan) > disk_of(alone)


def test_two_versions_have_one_copy_each() -> None:
    assert {trial.copy for trial in ab_plan().trials} == {1}


def null_plan() -> Plan:
    return expanded(null_study("18", Shared(clients="2")))


def disk_of(plan: Plan) -> int:
    return estimate(plan.study, plan.trials, plan.templates).disk
