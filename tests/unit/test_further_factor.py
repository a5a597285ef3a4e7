"""A factor is a folder: one that starts servers under a niceness is planned, kept and named in
reports, and nothing else is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from teiten.errors import UsageError
from teiten.factors.contract import Need
from teiten.factors.registry import _by_folder, rules
from teiten.ledger import codec
from teiten.model.plan import Plan
from teiten.plan.sites.remote import check_remote
from teiten.report.names import Names
from teiten.report.texts import texts
from teiten.study.load import load_study
from tests.fixtures.more_rooms import more_factors
from tests.fixtures.planned import expanded

LEVELS = "factors.niceness=0,5"
OVERRIDES = ("contrast=niceness", "factors.server=18", "clients=1")


@pytest.fixture(autouse=True)
def _further_factor() -> Iterator[None]:
    with more_factors():
        yield


def planned(levels: str = LEVELS) -> Plan:
    return expanded(load_study("observe", profile="quick", overrides=[*OVERRIDES, levels]))


def test_its_levels_are_applied_to_trials_and_kept_in_the_ledger() -> None:
    plan = planned()
    assert {trial.applied for trial in plan.trials} == {
        (("niceness", "0"),),
        (("niceness", "5"),),
    }
    assert codec.decode_plan(codec.encode_plan(plan)) == plan


def test_trials_of_another_level_are_rehearsed_apart() -> None:
    trial = planned().trials[0]
    assert replace(trial, applied=(("niceness", "19"),)).kind != trial.kind


def test_a_level_that_cannot_be_is_refused_with_its_key() -> None:
    with pytest.raises(UsageError, match="niceness: must be a whole number from 0 to 19"):
        planned("factors.niceness=0,20")


def test_it_belongs_to_servers_aliases_and_to_set() -> None:
    study = load_study("observe", profile="quick", overrides=["clients=1", "niceness=0,3"])
    niceness = study.factor("niceness")
    assert niceness is not None and niceness.levels == ("0", "3")


def test_reports_have_its_words() -> None:
    plan = planned()
    for language, factor, side in (
        ("en", "niceness", "a server of niceness 5"),
        ("ja", "nice値", "nice値5のサーバ"),
    ):
        names = Names(plan, texts(language))
        assert names.factor("niceness") == factor
        assert names.side("5").long == side


def test_other_hosts_refuse_it() -> None:
    study = load_study("observe", profile="quick", overrides=[*OVERRIDES, LEVELS])
    with pytest.raises(UsageError, match="niceness"):
        check_remote(study, ())


def test_a_factor_that_is_applied_says_that_it_needs_a_start_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (niceness,) = (rule for rule in rules() if rule.name == "niceness")
    monkeypatch.setattr(type(niceness), "needs", frozenset({Need.START}))
    _by_folder.cache_clear()
    with pytest.raises(AssertionError, match="applied as a server starts"):
        _by_folder()
