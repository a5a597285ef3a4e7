"""The table of evidence has one answer for what is not there."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from teiten.analysis.model.claims import FIRST, LAST, MIDDLE, ClaimContrast
from teiten.analysis.model.evidence import EvidenceTable, block_means, log_changes
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.sides import places_of
from teiten.model.progress import levels_of, with_more
from tests.fixtures.invented_claims import a_claim
from tests.fixtures.synthetic_plan import make_plan

PLAN = make_plan(3 * 2 * 6, servers=("13", "14"), clients=("1", "2", "4"))
READ = PLAN.study.workloads[0].name
ALONE = make_plan(18, servers=("13",), clients=("1", "2", "4"))


def table(**values: float) -> EvidenceTable:
    """Each planned trial has 100 times its clients, or what is said of its block and clients."""
    contrast = PLAN.study.contrast
    return EvidenceTable(
        PLAN,
        [
            Observation(
                trial.cell.workload,
                trial.cell.context(contrast),
                trial.cell.level(contrast) or "",
                trial.block,
                {"tps": values.get(key, 100.0 * clients), "step_seconds:vacuum": 2.0},
            )
            for trial in PLAN.trials
            for clients in [int(trial.cell.level("clients") or 0)]
            for key in [f"block_{trial.block}_clients_{clients}_{trial.cell.level(contrast)}"]
        ],
    )


def blocks(found: EvidenceTable, server: str, clients: str) -> dict[int, float]:
    return dict(found.blocks(READ, {"server": server, "clients": clients}, "tps"))


def test_a_number_is_found_by_place_quantity_part_and_block() -> None:
    found = table()
    assert blocks(found, "13", "2") == {1: 200.0, 2: 200.0, 3: 200.0}
    place = {"server": "13", "clients": "2"}
    assert set(found.blocks(READ, place, "step_seconds:vacuum").values()) == {2.0}
    assert not found.blocks(READ, place, "step_seconds:analyze")


def test_nan_is_a_missing_value_and_a_ratio_needs_both_sides() -> None:
    found = table(block_2_clients_1_13=math.nan, block_3_clients_1_14=math.nan)
    old, new = blocks(found, "13", "1"), blocks(found, "14", "1")
    assert (list(old), list(new)) == ([1, 3], [1, 2])
    assert log_changes(old, new) == {1: 0.0}


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf])
def test_a_value_without_a_logarithm_stays_and_says_nothing(value: float) -> None:
    found = table(block_2_clients_1_13=value)
    changes = log_changes(blocks(found, "13", "1"), blocks(found, "14", "1"))
    assert list(changes) == [1, 2, 3] and math.isnan(changes[2])


def test_a_mean_over_places_is_of_the_blocks_that_have_them_all() -> None:
    assert block_means([{1: 1.0, 2: 3.0}, {2: 5.0, 3: 1.0}]) == {2: 4.0}
    assert not block_means([])


def test_blocks_that_a_collection_gave_at_different_times_are_no_pair() -> None:
    """Between one and the other hours may lie; both sides of a level ran together."""
    one, two = ((READ, (("clients", clients),)) for clients in "12")
    given = with_more(with_more(with_more({}, levels_of(PLAN), 1), {one}, 2), {two}, 2)
    starts = {1: 1, 2: 2, 3: 2}
    of_times = replace(table(block_3_clients_1_14=math.e * 100), given=given, starts=starts)
    first, second = blocks(of_times, "13", "1"), blocks(of_times, "13", "2")
    assert len(first) == len(second) == 3
    assert list(log_changes(first, second)) == [1]
    sides = log_changes(first, blocks(of_times, "14", "1"))
    assert list(sides.values()) == pytest.approx([0.0, 0.0, 1.0])
    assert list(of_times.alone(sides).values()) == pytest.approx([0.0, 0.5]), "blocks of one start"


def test_a_planned_place_without_counted_trials_has_no_blocks() -> None:
    assert not EvidenceTable(PLAN, []).blocks(READ, {"server": "13", "clients": "1"}, "tps")


def test_levels_have_names_and_ends() -> None:
    found = table()
    named = [found.level(READ, "clients", one) for one in (FIRST, MIDDLE, LAST, "2")]
    assert named == ["1", "2", "4", "2"]
    for factor, level, code in (
        ("clients", "3", "contrast"),
        ("server", MIDDLE, "contrast"),
        ("guc:work_mem", FIRST, "factor"),
    ):
        with pytest.raises(UnmetError) as refused:
            found.level(READ, factor, level)
        assert refused.value.reason.code == code


def test_of_a_factor_that_is_not_varied_there_is_nothing_to_name() -> None:
    alone = EvidenceTable(ALONE, [])
    assert alone.place(READ, [("guc:work_mem", FIRST), ("clients", LAST)]) == {"clients": "4"}
    with pytest.raises(UnmetError):
        alone.place(READ, [("guc:work_mem", "4MB")])


def test_a_place_that_leaves_a_factor_open_is_refused() -> None:
    with pytest.raises(ValueError, match="more than one place"):
        table().blocks(READ, {"clients": "1"}, "tps")


def test_what_a_question_leaves_open_is_gone_through_or_refused() -> None:
    found = table()
    assert found.contexts(READ, {"server", "clients"}) == [{}]
    assert found.contexts(READ, {"clients"}, free={"server"}) == [
        {"server": "13"},
        {"server": "14"},
    ]
    with pytest.raises(UnmetError) as refused:
        found.contexts(READ, {"clients"}, free=())
    assert refused.value.reason.code == "factors"


def test_the_places_of_a_claim() -> None:
    found = table()
    contrast = ClaimContrast("clients", FIRST, LAST)
    places = list(places_of(a_claim(contrast=contrast), found))
    assert [place.server for place in places] == ["13", "14"]
    old, new = places[0].sides
    assert (old.label, new.label) == ("1", "4")
    assert set(new.blocks(found, "tps").values()) == {400.0}
    versions = a_claim(contrast=ClaimContrast("server", "13", "14"))
    (place,) = places_of(versions, found, along=("clients",))
    assert [side.at for side in place.sides] == [{"server": "13"}, {"server": "14"}]
