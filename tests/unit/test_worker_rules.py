"""The planner's rules for workers, against printed tables and real plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from teiten.analysis.explain.read import plan_of
from teiten.analysis.explain.worker_rules import (
    gather_workers,
    workers_by_partitions,
    workers_by_size,
)
from teiten.analysis.model.explain import ExplainedPlan, WorkerLimits, WorkerRule
from teiten.model.relations import Relation
from tests.fixtures.plan_corpus import corpus, plan, servers

MIB_PAGES = 128
LIMITS = WorkerLimits(per_gather=16, parallel=16, processes=16)


def pages(mebibytes: float) -> int:
    return round(mebibytes * MIB_PAGES)


def relation(name: str, mebibytes: float, **more: Any) -> Relation:
    return Relation(name, "r", pages(mebibytes), 0.0, **more)


def found(*relations: Relation) -> dict[str, Relation]:
    return {one.name: one for one in relations}


@pytest.mark.parametrize(
    ("mebibytes", "workers"),
    [
        (0.49, 0),
        (0.5, 1),
        (1.5, 2),
        (4.5, 3),
        (13.5, 4),
        (40.5, 5),
        (121.5, 6),
        (364.5, 7),
        (1093.5, 8),
        (3280.5, 9),
        (3966.5, 9),
        (9841.5, 10),
    ],
)
def test_by_the_size_of_an_index_as_in_table_6_9(mebibytes: float, workers: int) -> None:
    assert workers_by_size(pages(mebibytes), pages(0.5)) == workers


@pytest.mark.parametrize(
    ("mebibytes", "workers"), [(7.9, 0), (8, 1), (23.9, 1), (24, 2), (60613.3, 9)]
)
def test_by_the_size_of_a_table(mebibytes: float, workers: int) -> None:
    assert workers_by_size(pages(mebibytes), pages(8)) == workers


@pytest.mark.parametrize(("members", "workers"), [(1, 1), (12, 4), (64, 7), (84, 7), (128, 8)])
def test_by_the_number_of_partitions(members: int, workers: int) -> None:
    assert workers_by_partitions(members) == workers


def scan(relation: str, **more: Any) -> dict[str, Any]:
    return {
        "Node Type": "Seq Scan",
        "Parent Relationship": "Outer",
        "Relation Name": relation,
        "Parallel Aware": True,
        **more,
    }


def join(outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    return {
        "Node Type": "Hash Join",
        "Parent Relationship": "Outer",
        "Parallel Aware": True,
        "Plans": [
            {**outer, "Parent Relationship": "Outer"},
            {
                "Node Type": "Hash",
                "Parent Relationship": "Inner",
                "Parallel Aware": True,
                "Plans": [{**inner, "Parent Relationship": "Outer"}],
            },
        ],
    }


def gathered(below: dict[str, Any], planned: int = 4, launched: int | None = None) -> ExplainedPlan:
    gather: dict[str, Any] = {
        "Node Type": "Gather",
        "Workers Planned": planned,
        "Plans": [{**below, "Parent Relationship": "Outer"}],
    }
    if launched is not None:
        gather["Workers Launched"] = launched
    return plan_of({"Plan": gather})


def append(*members: dict[str, Any], aware: bool = True, removed: int = 0) -> dict[str, Any]:
    return {
        "Node Type": "Append",
        "Parallel Aware": aware,
        "Subplans Removed": removed,
        "Plans": [{**member, "Parent Relationship": "Member"} for member in members],
    }


def test_a_join_has_the_workers_of_its_outer_side() -> None:
    tables = found(relation("lineorder", 60613.3), relation("part", 156.7))
    (one,) = gather_workers(gathered(join(scan("lineorder"), scan("part")), 9), tables, LIMITS)
    assert one.source is not None
    assert (one.source.rule, one.source.relation) == (WorkerRule.TABLE, "lineorder")
    assert (one.expected, one.follows, one.starved) == (9, True, False)
    (other,) = gather_workers(gathered(join(scan("part"), scan("lineorder")), 9), tables, LIMITS)
    assert other.source is not None and other.source.relation == "part"
    assert (other.expected, other.follows) == (3, False)


def test_limits_hold_planned_and_launched_workers() -> None:
    tables = found(relation("lineorder", 60613.3))
    limits = WorkerLimits(per_gather=4, parallel=8, processes=2)
    (one,) = gather_workers(gathered(scan("lineorder"), 4, 2), tables, limits)
    assert (one.expected, one.follows, one.starved) == (4, True, True)


def test_partitions_ask_for_the_bits_of_their_number() -> None:
    months = [f"lineorder_{month}" for month in range(1, 85)]
    tables = found(*(relation(month, 780, parent="lineorder") for month in months))
    (one,) = gather_workers(gathered(append(*map(scan, months)), 7), tables, LIMITS)
    assert one.source is not None
    assert (one.source.rule, one.source.members) == (WorkerRule.PARTITIONS, 84)
    assert (one.source.relation, one.expected, one.follows) == ("lineorder", 7, True)
    removed = gathered(append(*map(scan, months[:4]), removed=80), 7)
    assert gather_workers(removed, tables, LIMITS)[0].expected == 7


def test_a_great_partition_and_a_set_number_count_more_than_the_bits() -> None:
    tables = found(relation("a", 780, parent="t"), relation("b", 10, parent="t"))
    (one,) = gather_workers(gathered(append(scan("a"), scan("b")), 5), tables, LIMITS)
    assert one.source is not None
    assert (one.source.rule, one.source.relation, one.expected) == (WorkerRule.TABLE, "a", 5)
    known = found(relation("a", 1, parent="t", workers=9), relation("b", 1, parent="t"))
    (other,) = gather_workers(gathered(append(scan("a"), scan("b")), 9), known, LIMITS)
    assert other.source is not None
    assert (other.source.rule, other.expected) == (WorkerRule.SET, 9)


def test_without_parallel_append_the_greatest_member_decides() -> None:
    tables = found(relation("a", 1, parent="t"), relation("b", 24, parent="t"))
    members = append(scan("a"), scan("b"), scan("b"), scan("b"), aware=False)
    (one,) = gather_workers(gathered(members, 2), tables, LIMITS)
    assert (one.expected, one.follows) == (2, True)


def test_an_index_gives_what_its_blocks_to_visit_give_at_most() -> None:
    tables = found(relation("lineorder", 60613.3), relation("i", 3966.5))
    index = {"Node Type": "Index Only Scan", "Index Name": "i"}
    (whole,) = gather_workers(gathered(scan("lineorder", **index), 9), tables, LIMITS)
    assert whole.source is not None and whole.source.rule is WorkerRule.INDEX
    assert (whole.expected, whole.follows) == (9, True)
    part = scan("lineorder", **index, **{"Index Cond": "(lo_orderdate > 5)"})
    (some,) = gather_workers(gathered(part, 3), tables, LIMITS)
    assert (some.expected, some.follows) == (9, True)


def test_what_is_not_known_is_not_predicted() -> None:
    (one,) = gather_workers(gathered(scan("t")), {}, LIMITS)
    assert (one.source, one.expected, one.follows) == (None, None, None)
    (other,) = gather_workers(gathered(scan("t")), found(relation("t", 9)), None)
    assert other.expected is None
    months = gathered(append(*[scan(f"m{at}") for at in range(84)]), 7)
    assert gather_workers(months, {}, LIMITS)[0].expected == 7


@pytest.mark.parametrize("server", servers())
def test_every_gather_of_real_plans_is_found(server: str) -> None:
    for query in corpus(server):
        shown = plan(server, query)
        gathers = gather_workers(shown, {}, LIMITS)
        assert len(gathers) == json.dumps(shown.document).count('"Workers Planned"')
