"""The plan analysis held against plans of real servers, PostgreSQL 10 to 18."""

from __future__ import annotations

import json

import pytest

from teiten.analysis.explain.accounts import accounts
from teiten.analysis.explain.consumers import GATHERS
from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.statistics import fingerprint, statistics
from teiten.analysis.model.explain import LEADER, ExplainedPlan
from teiten.cli.printed.form import jsonable
from teiten.cli.printed.plan_difference import json_plan_difference
from teiten.report.blocks import of_kind
from teiten.report.plans.page import difference_page
from teiten.report.tables import Table
from tests.fixtures.plan_corpus import all_plans, corpus, plan, servers

AFTER_THE_PLAN = frozenset({"writable-cte-unread", "writable-cte-part"})
"""What the plan did not read of a data-modifying CTE, PostgreSQL executes after the plan's root
has ended: it is in the execution time, and in no inclusive time but the CTE's own."""
CLOCK = 1e-5


def tolerance(one: ExplainedPlan) -> float:
    """Times are printed per loop, with three decimals of a millisecond."""
    return sum(node.rounding for node in one.nodes) + CLOCK


def test_the_corpus_has_every_version_and_kind_of_node() -> None:
    assert servers() == [*(f"pg{major}" for major in range(10, 16)), "pg15-jit", *(
        f"pg{major}" for major in range(16, 19)
    )]  # fmt: skip
    kinds = {node.kind for each in all_plans() for node in plan(*each).nodes}
    assert {
        *("CTE Scan", "Recursive Union", "Memoize", "Incremental Sort", "Index Only Scan"),
        *("BitmapAnd", "BitmapOr", "Gather Merge", "ModifyTable", "Foreign Scan", "Append"),
        *("Merge Append", "WindowAgg", "HashSetOp", "ProjectSet", "Tid Range Scan", "Sample Scan"),
    } <= kinds
    assert any(plan(*each).jit for each in all_plans())


@pytest.mark.parametrize("server", servers())
def test_exclusive_times_sum_up_and_none_is_negative(server: str) -> None:
    for query in corpus(server):
        one = plan(server, query)
        found = accounts(one)
        assert all(own.leader >= 0 and own.workers >= 0 for own in found.nodes), query
        if one.root.seconds is None:
            continue
        total = sum(own.leader for own in found.nodes)
        assert total == pytest.approx(found.total.leader)
        if query not in AFTER_THE_PLAN:
            assert total == pytest.approx(one.root.seconds[LEADER], abs=tolerance(one)), query
        assert one.execution is not None
        assert total <= one.execution + tolerance(one), query


@pytest.mark.parametrize("server", servers())
def test_workers_time_is_that_of_the_nodes_below_the_gathers(server: str) -> None:
    for query in corpus(server):
        one = plan(server, query)
        found = accounts(one)
        if not one.timed or not found.leader_known:
            continue
        below = [
            node
            for node in one.nodes
            if node.parent is not None
            and one.nodes[node.parent].kind in GATHERS
            and node.relationship != "InitPlan"
        ]
        seconds = sum(
            value
            for node in below
            for process, value in (node.seconds or {}).items()
            if process != LEADER
        )
        assert found.total.workers == pytest.approx(seconds, abs=tolerance(one)), query


@pytest.mark.parametrize("server", servers())
def test_buffers_sum_up_exactly(server: str) -> None:
    for query in corpus(server):
        one = plan(server, query)
        found = accounts(one)
        assert all(value >= 0 for own in found.nodes for value in own.buffers.values()), query
        if query not in AFTER_THE_PLAN:
            kept = {name: found.total.buffers.get(name, 0) for name in one.root.buffers}
            assert kept == one.root.buffers, query


@pytest.mark.parametrize("server", servers())
def test_a_plan_does_not_differ_from_itself(server: str) -> None:
    for query in corpus(server):
        one = plan(server, query)
        found = difference(one, one)
        assert found.same_structure, query
        assert found.changes == (), query
        assert found.pairs == tuple((node.number, node.number) for node in one.nodes), query


@pytest.mark.parametrize("server", ["pg10", "pg15-jit", "pg18"])
def test_every_plan_can_be_shown(server: str) -> None:
    for query in corpus(server):
        one = plan(server, query)
        found = difference(one, plan(server, next(iter(corpus(server)))))
        for language in ("en", "ja"):
            assert of_kind(difference_page(found, ("a", "b"), language).sections[0].blocks, Table)
        json.dumps(jsonable(json_plan_difference(found, ("a", "b"))), allow_nan=False)


@pytest.mark.parametrize("server", [one for one in servers() if one != "pg15-jit"])
class TestWhereTheTimeIs:
    """Arithmetic whose result is known from what the query does."""

    def own(self, server: str, query: str, kind: str, which: int = 0) -> float:
        one = plan(server, query)
        found = accounts(one)
        numbers = [node.number for node in one.nodes if node.kind == kind]
        return found.nodes[numbers[which]].seconds

    def test_a_cte_is_taken_from_its_scan_and_not_from_the_root(self, server: str) -> None:
        one = plan(server, "cte-twice")
        produced = next(node for node in one.nodes if node.subplan == "CTE x")
        assert produced.seconds is not None
        scans = [node for node in one.nodes if node.kind == "CTE Scan"]
        own = [accounts(one).nodes[node.number].seconds for node in scans]
        inclusive = [sum((node.seconds or {}).values()) for node in scans]
        assert sum(inclusive) - sum(own) == pytest.approx(
            produced.seconds[LEADER], abs=tolerance(one)
        )

    def test_an_initplan_is_taken_from_the_scan_that_compares_with_it(self, server: str) -> None:
        one = plan(server, "initplan-filter")
        scan = next(node for node in one.nodes if dict(node.details).get("Filter"))
        initplan = next(node for node in one.nodes if node.relationship == "InitPlan")
        assert scan.seconds is not None and initplan.seconds is not None
        expected = scan.seconds[LEADER] - initplan.seconds[LEADER]
        own = accounts(one).nodes[scan.number].seconds
        assert own == pytest.approx(expected, abs=tolerance(one))

    def test_a_correlated_subplan_is_taken_from_its_node(self, server: str) -> None:
        one = plan(server, "subplan-seq")
        root = next(node for node in one.nodes if node.relation == "products")
        assert root.seconds is not None
        assert accounts(one).nodes[root.number].seconds < root.seconds[LEADER] / 2

    def test_never_executed_nodes_are_counted_and_cost_nothing(self, server: str) -> None:
        found = statistics(plan(server, "never-executed"))
        assert sum(kind.never_executed for kind in found.kinds) >= 1
        one = found.plan
        for node in one.nodes:
            if not node.executed:
                assert found.accounts.nodes[node.number].seconds == 0

    def test_runtime_pruning_is_counted(self, server: str) -> None:
        if server != "pg10":  # since 11
            assert statistics(plan(server, "partition-pruned-initplan")).pruned == 11

    def test_workers_are_those_that_were_launched(self, server: str) -> None:
        found = statistics(plan(server, "parallel-not-launched"))
        assert (found.workers_planned, found.workers_launched) == (2, 0)
        assert found.accounts.total.workers == 0

    def test_without_verbose_the_leaders_share_is_not_known(self, server: str) -> None:
        one = plan(server, "parallel-terse")
        launched = one.root.loops and any(node.workers_launched for node in one.nodes)
        shared = any((node.loops or 0) > 1 for node in one.nodes)
        assert accounts(one).leader_known == (not (launched and shared))

    def test_an_estimate_has_no_times(self, server: str) -> None:
        found = statistics(plan(server, "estimated"))
        assert not found.plan.analysed
        assert all(kind.share is None and kind.seconds == 0 for kind in found.kinds)

    def test_ctes_of_one_name_are_told_apart_by_their_queries(self, server: str) -> None:
        one = plan(server, "cte-same-name")
        own = [exclusive.seconds for exclusive in accounts(one).nodes]
        assert one.root.seconds is not None
        assert sum(own) == pytest.approx(one.root.seconds[LEADER], abs=tolerance(one))
        outer, inner = (node.number for node in one.nodes if node.subplan == "CTE a")
        assert own[outer] == pytest.approx(0.05, abs=0.015)
        assert own[inner] == pytest.approx(0.02, abs=0.015)

    def test_ctes_that_moved_to_one_node_are_told_apart(self, server: str) -> None:
        one = plan(server, "cte-same-name-moved")
        own = {node.number: accounts(one).nodes[node.number].seconds for node in one.nodes}
        ctes = [node for node in one.nodes if node.subplan.startswith("CTE ")]
        assert len(ctes) == 3
        assert sum(own.values()) == pytest.approx((one.root.seconds or {})[LEADER], abs=1e-3)
        reads = next(node for node in one.nodes if node.subplan == "CTE b")
        assert own[reads.number] == pytest.approx(0.02, abs=0.008)

    def test_blocks_of_a_cte_are_shared_by_its_readers(self, server: str) -> None:
        one = plan(server, "cte-blocks-shared")
        total = accounts(one).total.buffers
        assert total["shared_hit"] == one.root.buffers["shared_hit"]
        readers = [node for node in one.nodes if node.kind == "CTE Scan"]
        assert len(readers) == 2
        assert all(accounts(one).nodes[node.number].buffers["shared_hit"] == 0 for node in readers)

    def test_workers_that_go_on_do_not_lengthen_the_plan(self, server: str) -> None:
        """Without VERBOSE, and with a Gather that wants no more rows."""
        one = plan(server, "cte-parallel-unfinished")
        total = accounts(one).total.leader
        assert total == pytest.approx((one.root.seconds or {})[LEADER], abs=tolerance(one))

    @pytest.mark.parametrize("query", ["whole-scan", "whole-join"])
    def test_partitions_are_matched_with_the_whole_table(self, server: str, query: str) -> None:
        whole, parts = plan(server, query), plan(server, f"{query}-partitioned")
        for old, new, code in ((whole, parts, "partitioned"), (parts, whole, "unpartitioned")):
            found = difference(old, new)
            (change,) = [change for change in found.changes if change.code == code]
            assert change.group is not None
            several = change.group.new if code == "partitioned" else change.group.old
            kinds = [parts.nodes[number].kind for number in several]
            assert kinds.count("Append") == 1
            scans = [node.number for node in parts.nodes if node.relation.startswith("monthly")]
            assert set(scans) <= set(several)
            for one in found.changes:
                alone = one.new if one.old is None else one.old if one.new is None else None
                side = new if one.old is None else old
                assert alone is None or side is not parts or alone not in several


@pytest.mark.parametrize(
    ("server", "query"),
    [each for each in all_plans() if each[1].startswith("initplan-gather") and each[0] != "pg10"],
)
def test_an_initplan_is_taken_from_the_gather_that_evaluates_it(server: str, query: str) -> None:
    """By 17 and 18 too, which do not say that it does, though the scan's time would have room."""
    one = plan(server, query)
    gather = next(node for node in one.nodes if node.kind in GATHERS)
    child = next(node for node in one.children(gather.number) if node.relationship == "Outer")
    own = accounts(one).nodes
    below = sum(own[node.number].leader for node in one.below(child.number))
    assert (child.seconds or {})[LEADER] > 0.005
    assert below == pytest.approx((child.seconds or {})[LEADER], abs=tolerance(one))


def test_a_leader_that_takes_no_part_uses_no_time() -> None:
    one = plan("pg18", "parallel-without-leader")
    found = accounts(one)
    scan = next(node for node in one.nodes if node.kind == "Seq Scan")
    assert found.nodes[scan.number].leader == 0
    assert found.nodes[scan.number].workers > 0


def test_the_same_query_has_the_same_structure_again() -> None:
    assert fingerprint(plan("pg16", "hash-joins")) == fingerprint(plan("pg17", "hash-joins"))
    assert fingerprint(plan("pg17", "hash-joins")) != fingerprint(plan("pg17", "merge-join"))


def test_workers_twice_in_one_object_are_joined() -> None:
    """Before 13 a Sort below a Gather has the key Workers twice."""
    one = plan("pg12", "gather-merge")
    assert corpus("pg12")["gather-merge"]["plan"].count('"Workers"') > len(
        [node for node in one.nodes if node.workers]
    )
    assert any(node.workers for node in one.nodes if node.kind == "Sort")
