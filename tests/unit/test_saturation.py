"""The clients of a campaign from a provisional run: when the search ends, and what it chooses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.cli.campaign.saturation import chosen_options, probes_of
from teiten.cli.plan.options import PlanOptions
from teiten.model.saturation import Saturation, ShortTrial, doublings
from teiten.model.trial import Attempt, Outcome
from teiten.plan.saturation import (
    found_saturation,
    in_rising_order,
    levels_around,
    most_clients_of,
    next_clients,
    provisional_study,
    upper_levels,
)
from tests.fixtures.planned import planned
from tests.fixtures.synthetic_plan import HOST

DELTA = 0.02
RISING = [100.0, 195.0, 380.0, 700.0]
PUBLISHED = {1: 437.2, 16: 6480.4, 32: 8404.6, 64: 8329.2, 96: 8260.4}


def probes(*values: float | None) -> list[ShortTrial]:
    return [ShortTrial(1 << at, value) for at, value in enumerate(values)]


def test_clients_are_doubled_while_tps_rises() -> None:
    assert [next_clients(probes(*RISING[:count]), 64, DELTA) for count in range(5)] == [
        1,
        2,
        4,
        8,
        16,
    ]


def test_one_trial_without_gain_does_not_end_it_two_do() -> None:
    assert next_clients(probes(*RISING, 705.0), 64, DELTA) == 32
    assert next_clients(probes(*RISING, 705.0, 690.0), 64, DELTA) is None
    assert next_clients(probes(*RISING, 650.0, 900.0), 64, DELTA) == 64


def test_it_ends_at_the_most_and_at_a_trial_that_failed() -> None:
    assert next_clients(probes(*RISING), 8, DELTA) is None
    assert next_clients(probes(*RISING, None), 64, DELTA) is None


def test_saturation_is_the_fewest_clients_within_delta_of_the_best() -> None:
    found = found_saturation("read", probes(*RISING, 705.0, 690.0), 64, DELTA)
    assert found is not None
    assert (found.clients, found.reached) == (8, True)
    assert found.levels == (1, 2, 4, 8, 12, 16)
    open_end = found_saturation("update", probes(*RISING), 8, DELTA)
    assert open_end is not None
    assert (open_end.clients, open_end.reached, open_end.levels) == (8, False, (1, 2, 4, 6, 8))
    assert found_saturation("read", probes(None), 64, DELTA) is None


def test_the_most_is_a_power_of_two_that_the_connections_permit() -> None:
    study = planned().study
    assert most_clients_of(study, HOST) == 64
    few = tuple(
        replace(setting, value="50") if setting.name == "max_connections" else setting
        for setting in study.settings
    )
    assert most_clients_of(replace(study, settings=few), HOST) == 32


@given(
    st.lists(st.floats(1, 1e6), min_size=1, max_size=9),
    st.sampled_from([1, 2, 8, 64, 256]),
    st.floats(0.001, 0.2),
)
def test_a_search_always_ends_with_levels_that_were_promised(
    values: list[float], most: int, delta: float
) -> None:
    tried: list[ShortTrial] = []
    while (clients := next_clients(tried, most, delta)) is not None:
        tried.append(ShortTrial(clients, values[len(tried) % len(values)]))
    assert len(tried) <= len(doublings(most))
    found = found_saturation("read", tried, most, delta)
    assert found is not None
    assert found.levels[0] == 1 and found.levels[-1] <= most
    assert list(found.levels) == sorted(set(found.levels))
    assert len(found.levels) <= max(len(upper_levels(most)), 6)
    assert found.levels[-1] <= max(*upper_levels(most), most)


def test_levels_around_the_reports_own() -> None:
    """2020 §5.3.3: near its limit at 32, so up to 48 and beyond; 96 without a limit."""
    assert levels_around(32, 256, reached=True) == (1, 8, 16, 32, 48, 64)
    assert levels_around(96, 96, reached=False) == (1, 24, 48, 72, 96)


def test_the_provisional_run_has_one_side_and_rises() -> None:
    plan = planned("workloads=read,update")
    study = provisional_study(plan.study, 8)
    assert [factor.levels for factor in study.factors if factor.name == "server"] == [("17",)]
    assert study.measure.blocks == 1 and not study.conclusive
    ordered = in_rising_order(planned("clients=4,1,2"))
    assert [trial.number for trial in ordered.trials] == list(range(1, len(ordered.trials) + 1))
    reads = [trial.load.connections for trial in ordered.trials if trial.cell.workload == "read"]
    assert reads == sorted(reads)


def test_probes_wait_for_the_first_trial_that_has_not_ended() -> None:
    plan = in_rising_order(planned("clients=1,2,4", "workloads=read", servers=("17", "18")))
    repeats = plan.study.measure.repeats

    def attempt(number: int, outcome: Outcome, again: int = 1) -> Attempt:
        return Attempt(number, again, outcome, {"tps": 10.0 * number})

    assert probes_of(plan, [])["read"] == []
    counted = [attempt(1, Outcome.COUNTED), attempt(3, Outcome.COUNTED)]
    assert len(probes_of(plan, counted)["read"]) == 1
    failed = [attempt(2, Outcome.FAILED, again) for again in range(1, repeats + 2)]
    assert probes_of(plan, [*counted, *failed])["read"][1].tps is None


def test_the_campaign_repeats_with_the_clients_that_were_found() -> None:
    found = [
        Saturation("read", (), 4, True, (1, 2, 4)),
        Saturation("update", (), 8, True, (1, 8)),
    ]
    options = chosen_options(PlanOptions(overrides=("scale=5",), find_saturation=True), found)
    assert options.overrides == (
        "scale=5",
        "clients=1,2,4,8",
        "workloads.read.clients=1,2,4",
        "workloads.update.clients=1,8",
    )
    assert "--find-saturation" not in options.as_arguments()
    assert "--find-saturation" in PlanOptions(find_saturation=True).as_arguments()


@pytest.mark.parametrize("most", [1, 2, 64])
def test_upper_levels_stay_below_the_most(most: int) -> None:
    assert upper_levels(most)[-1] <= most
