"""Physical copies of a template: which side has which, start by start."""

from __future__ import annotations

from collections import defaultdict

from teiten.cli.campaign.noise import against_itself
from teiten.model.plan import Plan
from teiten.study.sides import Shared, null_study
from tests.fixtures.pairs import ab_plan, side
from tests.fixtures.planned import expanded


def copies(plan: Plan) -> dict[str, list[int]]:
    """Of each side, by start."""
    found = defaultdict(list)
    for trial in sorted(plan.trials, key=lambda one: one.restart):
        found[trial.cell.level(plan.study.contrast) or ""].append(trial.copy)
    return dict(found)


def test_sides_of_one_template_exchange_their_copies_from_start_to_start() -> None:
    sides = (side("a", "18"), side("b", "18", "work_mem=64MB"))
    plan = ab_plan(*sides, way="pairs", blocks=6)
    assert copies(plan) == {"A": [2, 1] * 3, "B": [1, 2] * 3}


def test_pairs_of_a_start_keep_the_copies_whose_servers_are_up() -> None:
    sides = (side("a", "18"), side("b", "18", "work_mem=64MB"))
    plan = ab_plan(*sides, duration="5s", blocks=4, overrides=("slices=5", "restart_every=2"))
    assert copies(plan) == {"A": [2, 2, 1, 1], "B": [1, 1, 2, 2]}


def test_a_server_against_itself_keeps_them_and_two_versions_have_none_to_exchange() -> None:
    plan = expanded(null_study("18", Shared(clients="2", blocks=4, way="pairs")))
    assert against_itself(plan)
    assert copies(plan) == {"A": [1] * 4, "B": [2] * 4}
    assert copies(ab_plan(way="pairs", blocks=4)) == {"17": [1] * 4, "18": [2] * 4}
