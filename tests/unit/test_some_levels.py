"""Starts that have the base and some of the other levels, because they cannot have all."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.plan.text import loaded_text
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.starts import FIRST_SECONDS
from teiten.model.text import Language
from teiten.model.units import GIB, Bytes, Seconds
from teiten.plan.ordering import sides_in_memory
from teiten.report.forms import render_markdown
from teiten.report.render.markdown import TEXT
from teiten.study.load import load_study
from tests.fixtures.pairs import carry_on, new_ledger
from tests.fixtures.planned import expanded, planned
from tests.fixtures.synthetic_plan import HOST

LEVELS = [f"{number}MB" for number in range(1, 13)]
BASE, *OTHERS = LEVELS
FACTOR = "guc:work_mem"


def twelve(
    *overrides: str, levels: list[str] = LEVELS, clients: str = "1,2", **flags: object
) -> Plan:
    given = (
        *("way=pairs", f"contrast={FACTOR}", f"{FACTOR}={','.join(levels)}", "server=18"),
        *("workloads=read", f"clients={clients}", *overrides),
    )
    return planned(*given, **flags)  # type: ignore[arg-type]


def levels_by_block(plan: Plan) -> dict[int, set[str]]:
    blocks: dict[int, set[str]] = {}
    for trial in plan.trials:
        blocks.setdefault(trial.block, set()).add(trial.cell.level(FACTOR) or "")
    return blocks


def test_each_level_has_as_many_starts_and_the_base_is_in_all() -> None:
    plan = twelve("blocks=6")
    blocks = levels_by_block(plan)
    assert len(blocks) == plan.study.measure.blocks == 6 * 2
    assert all(BASE in levels for levels in blocks.values())
    counted = Counter(level for levels in blocks.values() for level in levels - {BASE})
    assert counted == dict.fromkeys(OTHERS, 6), "balanced"
    for first in range(1, 12, 2):
        assert blocks[first] | blocks[first + 1] == set(LEVELS), "each once in the blocks of all"
        assert blocks[first] & blocks[first + 1] == {BASE}
        assert sorted(map(len, (blocks[first], blocks[first + 1]))) == [6, 7], "of one size"
    assert len({frozenset(levels) for levels in blocks.values()}) > 6, "drawn anew"


def test_a_start_is_one_block_and_one_number_of_clients_with_the_same_levels() -> None:
    plan = twelve("blocks=2")
    for trial in plan.trials:
        pair = plan.pair_of(trial)
        assert {one.restart for one in pair} == {trial.restart}
        assert {one.cell.level("clients") for one in pair} == {trial.cell.level("clients")}
        assert {one.cell.level(FACTOR) for one in pair} == levels_by_block(plan)[trial.block]
        assert len({one.copy for one in pair}) == len(pair) <= 8
        assert sorted(turn for one in pair for turn in one.turns) == [*range(1, len(pair) + 1)]


def test_levels_meet_one_another_equally_often_in_the_long_run() -> None:
    blocks = levels_by_block(twelve("blocks=300", clients="1")).values()
    met = Counter(pair for levels in blocks for pair in combinations(sorted(levels - {BASE}), 2))
    expected = 300 * (6 * 5 / 2 + 5 * 4 / 2) / (11 * 10 / 2)
    assert len(met) == 11 * 10 / 2
    assert all(abs(count - expected) < 5 * expected**0.5 for count in met.values())


def test_the_order_is_reproducible_and_depends_on_the_seed() -> None:
    assert levels_by_block(twelve(seed=7)) == levels_by_block(twelve(seed=7))
    assert levels_by_block(twelve(seed=7)) != levels_by_block(twelve(seed=8))


def test_starts_are_planned_for_the_sides_that_they_have() -> None:
    design = ("until_decided=yes", "budget=2h")
    plan = twelve(*design, profile="standard")
    seven = twelve(*design, levels=LEVELS[:7], profile="standard")
    measure = plan.study.measure
    assert measure.sides == 7 and seven.study.measure.sides is None, "6 and 5 are 11 in two parts"
    assert measure.duration == seven.study.measure.duration == Seconds(FIRST_SECONDS * 7 / 2)
    assert plan.needs.memory == seven.needs.memory
    assert measure.blocks == pytest.approx(seven.study.measure.blocks, rel=0.15), "as long ones"
    text = loaded_text(plan)
    assert "a start has 1MB and at most 6 of the 11 other levels" in text
    assert "2 blocks have each of them once" in text
    assert "at most" not in loaded_text(seven)


def with_memory(size: Bytes) -> HostFacts:
    return replace(HOST, memory=replace(HOST.memory, total=size))


@pytest.mark.parametrize("way", ["pairs", "statements"])
def test_fewer_sides_are_up_where_memory_is_less(way: str) -> None:
    given = (f"way={way}", f"contrast={FACTOR}", f"{FACTOR}={','.join(LEVELS[:6])}", "server=18")
    own = ("guc:shared_buffers=2GB", "scale=1", "blocks=2")
    study = "observe" if way == "pairs" else "parallel"
    workload = "workloads=read" if way == "pairs" else "workloads=ssb"
    loaded = load_study(study, profile="quick", overrides=(*given, *own, workload))
    plan = expanded(loaded)
    assert sides_in_memory(plan, with_memory(Bytes(64 * GIB))) is None
    sides = sides_in_memory(plan, with_memory(Bytes(10 * GIB)))
    assert sides == 3, "of 8 GB, 0.4 of which are Teiten's"
    fewer = expanded(replace(loaded, measure=replace(loaded.measure, sides=sides)))
    assert fewer.needs.memory <= 8 * GIB < plan.needs.memory
    assert {len(levels) for levels in levels_by_block(fewer).values()} == {2, 3}
    assert sides_in_memory(fewer, with_memory(Bytes(4 * GIB))) == 2, "the least"


def test_one_server_of_all_and_other_ways_have_all_levels() -> None:
    given = (f"contrast={FACTOR}", f"{FACTOR}={','.join(LEVELS)}", "server=18", "workloads=ssb")
    shared = planned(*given, "way=statements", study="parallel", by_session=["work_mem"])
    assert shared.study.measure.sides is None and shared.study.measure.by_session
    classic = planned(*given, "way=classic", study="parallel")
    assert classic.study.measure.sides is None
    for plan in (shared, classic):
        assert all(levels == set(LEVELS) for levels in levels_by_block(plan).values())


def test_each_level_is_compared_with_the_base_of_its_own_starts(tmp_path: Path) -> None:
    """The base gets faster from block to block, as a machine does; levels differ by their place."""
    plan = twelve("blocks=6", clients="1")

    def tps(trial: PlannedTrial) -> float:
        place = LEVELS.index(trial.cell.level(FACTOR) or "")
        noise = random.Random(trial.number).gauss(0.0, 0.001)
        return 1000.0 * 1.1**trial.block * 1.05**place * math.exp(noise)

    with new_ledger(tmp_path / "some", plan) as ledger:
        carry_on(ledger, tps)
        analysis = analyse_campaign(ledger)
    judged = {one.new: one.overall for one in analysis.contrasts if one.metric.name == "tps"}
    assert list(judged) == OTHERS
    for place, level in enumerate(OTHERS, start=1):
        effect = judged[level].effect
        assert judged[level].pairs == 6 and effect is not None
        assert effect.ratio == pytest.approx(1.05**place, rel=0.005), "no drift is in it"
    expected = {
        "en": "at most 6 of the 11 others, drawn anew so that 2 blocks have each of them once",
        "ja": "残り11条件のうち最大6条件。2ブロックで各条件が1回ずつ現れる",
    }
    languages: tuple[Language, ...] = ("en", "ja")
    for language in languages:
        text = render_markdown(analysis, language)[TEXT].decode().replace("\u00a0", " ")
        assert expected[language] in text
