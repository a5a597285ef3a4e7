"""What an audit of the method found, simulated: the old rule was wrong so often, today's is not.

The figures of docs/concepts/trust.md are of the same functions with more campaigns (``python -m
benchmarks.method --audit``).
"""

from __future__ import annotations

import pytest
from benchmarks.method import repeats, stalls, starts

from teiten.execute.disturbance import problems, stolen
from teiten.model.units import Share


def test_pairs_that_are_repeated_as_a_whole_do_not_turn_drift_into_a_difference() -> None:
    assert repeats.false_alarms(whole=False, campaigns=3_000, seed=1) > 0.12
    assert repeats.false_alarms(whole=True, campaigns=3_000, seed=1) < 0.065


def test_stolen_time_judged_by_what_was_wanted_favours_no_side() -> None:
    alone = repeats.bias(whole=False, of_wanted=False, campaigns=3_000, seed=1)
    whole = repeats.bias(whole=True, of_wanted=False, campaigns=3_000, seed=1)
    judged = repeats.bias(whole=True, of_wanted=True, campaigns=3_000, seed=1)
    assert alone > 0.004 > whole > 0.001 > abs(judged) * 4


def test_steal_is_a_share_of_the_cpu_time_that_was_wanted() -> None:
    light = {"cpu_user_share": 0.2, "cpu_system_share": 0.18, "cpu_steal_share": 0.02}
    heavy = {"cpu_user_share": 0.5, "cpu_system_share": 0.45, "cpu_steal_share": 0.05}
    assert stolen(light) == pytest.approx(0.05) == pytest.approx(stolen(heavy))
    idle = {"cpu_user_share": 0.001, "cpu_system_share": 0.0, "cpu_steal_share": 0.001}
    assert stolen(idle) == pytest.approx(0.01), "of hardly anything a tick is no share"
    client = {"client_cpu_user_share": 0.8, "client_cpu_steal_share": 0.2}
    assert [one.code for one in problems(light | client, Share(0.06))] == ["steal"]
    assert problems(light | {"cpu_idle_share": 0.6}, Share(0.06)) == ()


def test_pairs_of_one_start_are_one_in_every_interval() -> None:
    for false_alarms in (starts.of_two_campaigns, starts.of_paired_costs):
        assert false_alarms(as_starts=False, campaigns=800, seed=1) > 0.2
        assert false_alarms(as_starts=True, campaigns=800, seed=1) < 0.08


def test_plain_means_do_not_hide_the_stalls_of_one_side() -> None:
    trimmed = stalls.stalled(trimmed=True, often=0.08, campaigns=800, seed=1)
    plain = stalls.stalled(trimmed=False, often=0.08, campaigns=800, seed=1)
    assert trimmed.equivalent > 0.6 and trimmed.slower < 0.05
    assert plain.equivalent < 0.15 and plain.slower > 0.2
