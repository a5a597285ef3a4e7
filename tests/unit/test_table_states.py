"""The factor state: what a plan makes of its levels, and what it refuses."""

from __future__ import annotations

import pytest

from teiten.errors import TeitenError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.factors.state.states import recipes
from teiten.ledger.codec import decode_plan, encode_plan
from teiten.model.plan import Plan
from teiten.study.load import load_study
from tests.fixtures.planned import expanded, planned

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
        assert bool(recipe.steps) == bool(recipe.state.recipe) == (recipe.name != "fresh")
