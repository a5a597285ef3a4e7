"""Blocks and partitions of real and of printed plans."""

from __future__ import annotations

from typing import Any

import pytest

from teiten.analysis.explain.read import plan_of
from teiten.analysis.explain.statistics import statistics
from teiten.analysis.explain.table_use import greatest_table, table_use
from teiten.analysis.model.explain import HIT, READ
from teiten.model.relations import Relation
from tests.fixtures.plan_corpus import corpus, plan, servers

MONTHS = {
    f"lineorder_{month:02}": Relation(f"lineorder_{month:02}", "r", 1000, 1e5, parent="lineorder")
    for month in range(1, 13)
}


def scan(relation: str, loops: int = 1, blocks: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "Node Type": "Seq Scan",
        "Relation Name": relation,
        "Actual Loops": loops,
        "Actual Rows": 1,
        "Actual Total Time": 10.0,
        "Shared Hit Blocks": blocks,
        "Shared Read Blocks": 0,
        **more,
    }


def appended(*members: dict[str, Any], removed: int = 0) -> dict[str, Any]:
    return {
        "Node Type": "Append",
        "Actual Loops": 1,
        "Actual Rows": 1,
        "Actual Total Time": 100.0,
        "Subplans Removed": removed,
        "Shared Hit Blocks": sum(member["Shared Hit Blocks"] for member in members),
        "Shared Read Blocks": 0,
        "Plans": [{**member, "Parent Relationship": "Member"} for member in members],
    }


def test_partitions_scanned_left_out_and_pruned() -> None:
    root = appended(
        scan("lineorder_01", blocks=1000), scan("lineorder_02", loops=0), scan("lineorder_03", 0)
    )
    use = table_use(statistics(plan_of({"Plan": root})), "lineorder", MONTHS, (), "monthly")
    assert use.blocks == 1000
    assert use.partitions is not None
    assert (use.partitions.scanned, use.partitions.skipped) == (1, 2)
    assert (use.partitions.partitions, use.partitions.pruned) == (12, 9)


def test_children_removed_at_the_start_are_left_out_too() -> None:
    root = appended(scan("lineorder_01", blocks=7), removed=11)
    use = table_use(statistics(plan_of({"Plan": root})), "lineorder", MONTHS, (), "monthly")
    assert use.partitions is not None
    assert (use.partitions.scanned, use.partitions.skipped, use.partitions.pruned) == (1, 11, 0)


def test_a_table_without_partitions_has_none() -> None:
    plain = {"lineorder": Relation("lineorder", "r", 12000, 1e6)}
    one = statistics(plan_of({"Plan": scan("lineorder", blocks=12000)}))
    use = table_use(one, "lineorder", plain, (), "plain")
    assert (use.blocks, use.partitions, use.shared) == (12000, None, ())


def test_without_recorded_relations_partitions_go_by_their_names() -> None:
    root = appended(scan("lineorder_199401", blocks=5), scan("lineorder_199402", blocks=6))
    one = statistics(plan_of({"Plan": root}))
    assert greatest_table([one], [{}]) == "lineorder"
    use = table_use(one, "lineorder", {}, (), "monthly")
    assert use.blocks == 11
    assert use.partitions is not None
    assert (use.partitions.scanned, use.partitions.partitions, use.partitions.pruned) == (
        2,
        None,
        None,
    )


def test_the_greatest_table_is_that_of_most_blocks_on_any_side() -> None:
    plain = statistics(plan_of({"Plan": scan("lineorder", blocks=900)}))
    pruned = statistics(plan_of({"Plan": appended(scan("date", blocks=5), scan("lineorder_01"))}))
    assert greatest_table([plain, pruned], [{}, MONTHS]) == "lineorder"
    assert greatest_table([], []) is None


@pytest.mark.parametrize(
    "server", [one for one in servers() if one >= "pg11" and "parallel-partitions" in corpus(one)]
)
def test_real_scans_of_partitions_by_workers(server: str) -> None:
    one = statistics(plan(server, "parallel-partitions"))
    use = table_use(one, "monthly", {}, (), "")
    assert use.partitions is not None and use.partitions.scanned > 1
    assert sum(each.scans for each in use.shared) == use.partitions.scanned
    assert [each.workers for each in use.shared] == sorted(
        (each.workers for each in use.shared), reverse=True
    )
    total = one.accounts.total.buffers
    assert use.blocks == total.get(HIT, 0) + total.get(READ, 0)
