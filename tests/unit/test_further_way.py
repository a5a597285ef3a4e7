"""A way of loading sides is a folder: one that no room has heard of is planned and kept.

Its report: ``test_additions``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from teiten.cli.plan.text import loaded_text
from teiten.errors import UsageError, WayError
from teiten.host.facts.kept import noise_key
from teiten.ledger.codec import decode_plan, encode_plan
from teiten.model.plan import Plan
from teiten.model.study import CLASSIC
from teiten.ways.registry import concurrent_trials, rules, way_of
from tests.fixtures.more_rooms import more_ways
from tests.fixtures.planned import planned
from tests.fixtures.synthetic_plan import HOST

ROTATION = "rotation"


@pytest.fixture
def further() -> Iterator[None]:
    with more_ways():
        yield


def loaded(way: str, workload: str) -> Plan:
    given = (f"way={way}", "server=10,13,17,18", "clients=1,2", "blocks=3")
    return planned(*given, f"script={workload}")


def rotating(workload: str) -> Plan:
    return loaded(ROTATION, workload)


@pytest.mark.usefixtures("further")
def test_it_groups_trials_into_starts_and_is_kept_in_the_ledger() -> None:
    plan = rotating("select-only")
    assert way_of(plan.study.measure) is rules()[ROTATION]
    assert concurrent_trials(plan.study) == 4
    assert {trial.restart: trial.block for trial in plan.trials} == {1: 1, 2: 2, 3: 3}
    assert all(len(plan.pair_of(trial)) == 4 for trial in plan.trials)
    assert loaded_text(plan).startswith("side after side on servers that all run, which start anew")
    assert decode_plan(encode_plan(plan)) == plan


@pytest.mark.usefixtures("further")
def test_its_noise_is_not_that_of_another_way() -> None:
    plans = rotating("select-only"), loaded(CLASSIC, "select-only")
    assert len({noise_key(HOST, plan, plan.trials[0]) for plan in plans}) == 2


@pytest.mark.usefixtures("further")
def test_what_forbids_it_is_said_with_its_hint() -> None:
    with pytest.raises(WayError, match="the workload tpcb-like changes its data") as raised:
        rotating("tpcb-like")
    assert raised.value.hint == "leave the way out"


def test_it_is_gone_with_its_folder() -> None:
    with pytest.raises(UsageError, match="way"):
        planned(f"way={ROTATION}")
