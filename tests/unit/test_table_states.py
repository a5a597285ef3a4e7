"""The factor state: what a plan makes of its levels, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.errors import TeitenError, UsageError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.factors.state import OF_BOTH, OF_NEW, recipes
from teiten.ledger.codec import decode_plan, encode_plan
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.study.load import load_study
from tests.fixtures.planned import expanded, planned
from tests.fixtures.synthetic_plan import make_installation

QUEUE = ("workloads=queue,point-primary", "blocks=2")


def of_states(*levels: str, **flags: object) -> Plan:
    changes = (*QUEUE, f"state={','.join(levels)}")
    study = load_study("operations", profile="quick", overrides=changes, **flags)  # type: ignore[arg-type]
    return expanded(study, named=template_fingerprint)


def test_each_state_is_a_template_of_its_own_with_what_it_needs() -> None:
    plan = of_states("fresh", "bloated", "pinned")
    assert len(plan.templates) == 3 * 2
    for trial in plan.trials:
        state, settings = trial.template.data.state, dict(trial.settings)
        assert state is not None and state.level == trial.cell.level("state")
        assert ("max_prepared_transactions" in settings) == (state.level == "pinned")
    sizes = {one.data.state.level: one.expected_bytes for one in plan.templates if one.data.state}
    assert sizes["fresh"] < sizes["bloated"] < sizes["pinned"]
    assert decode_plan(encode_plan(plan)) == plan


def test_the_first_servers_cluster_is_upgraded_to_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_programs(version: str) -> Installation:
        return replace(make_installation(version), programs=frozenset({*OF_BOTH, *OF_NEW}))

    with pytest.raises(UsageError, match=r"needs pg_upgrade, and 17\.4 has no pg_controldata"):
        of_states("upgraded")
    monkeypatch.setattr("tests.fixtures.planned.make_installation", with_programs)
    plan = of_states("fresh", "upgraded")
    made = {
        (one.installation.name, one.data.state.level if one.data.state else ""): one
        for one in plan.templates
    }
    assert set(made) == {("17.4", "fresh"), ("18.4", "fresh"), ("18.4", "upgraded")}
    origins = {key: one.origin and one.origin.name for key, one in made.items()}
    assert origins == {
        ("17.4", "fresh"): None,
        ("18.4", "fresh"): None,
        ("18.4", "upgraded"): "17.4",
    }
    assert len({one.fingerprint for one in plan.templates}) == 3
    assert decode_plan(encode_plan(plan)) == plan
    with pytest.raises(UsageError, match=r"18\.4, the first server, is newer than 17\.4"):
        of_states("upgraded", servers=["18,17"])


def test_readers_begin_with_a_new_copy_where_they_would_change_the_state() -> None:
    reader = of_states("fresh").study.workload("point-primary")
    assert not of_states("fresh", "no-statistics").study.restores(reader)
    assert of_states("fresh", "bloated").study.restores(reader)
    assert not planned(*QUEUE, study="operations").study.restores(reader)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"gucs": ["autovacuum=on"]}, "the state bloated does not last with autovacuum"),
        ({}, "must be one of fresh, bloated, pinned"),
    ],
)
def test_what_cannot_be_is_refused(flags: dict[str, object], words: str) -> None:
    levels = ("fresh", "bloated") if flags else ("swollen",)
    with pytest.raises(TeitenError, match=words):
        of_states(*levels, **flags)


def test_each_state_says_by_what_it_is_known() -> None:
    for recipe in recipes().values():
        assert recipe.confirmed, recipe.name
        assert bool(recipe.state.recipe) == (recipe.name != "fresh")
        assert bool(recipe.steps) == (recipe.name not in ("fresh", "just-upgraded"))
    just = recipes()["just-upgraded"]
    shares = [just.bounds(major)["analysed_tables_share"] for major in (17, 18)]
    assert shares == [(0.0, 0.0), (1.0, 1.0)] and just.bounds(17).keys() == just.bounds(18).keys()
