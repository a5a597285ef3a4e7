"""The numbers that findings take from plans of real servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from teiten.analysis.claims.numbers import with_numbers
from teiten.analysis.explain.statistics import statistics
from teiten.analysis.model.claims import Claim, ClaimNeeds
from teiten.analysis.model.findings import TrialView
from teiten.kinds.queries.claims.of_plans import PlanHas, PlanValue, WorkersByRule
from teiten.kinds.queries.claims.of_plans import RuleOfWorkers as WorkerRule
from teiten.kinds.queries.claims.of_queries import QueryBounds
from teiten.kinds.queries.plan_numbers import LAUNCHED, PERMITTED, SERIAL
from teiten.model.relations import PLANNER, RELATIONS, Relation, relations_as_detail
from teiten.model.trial import Event, Outcome, pack
from tests.fixtures.invented_claims import a_claim
from tests.fixtures.invented_ssb import ssb_plan
from tests.fixtures.plan_corpus import corpus, plan

PLAN = ssb_plan(
    "partition-parallel", "layout", {"layout": ("plain", "monthly")}, workloads={"ssb": ("q2.1",)}
)
MONTHS = tuple(Relation(f"monthly_{at}", "r", 22, 1e3, parent="monthly") for at in range(12))
RELATIONS_THERE = (
    Relation("monthly", "p", 0, 0.0),
    *MONTHS,
    Relation("facts", "r", 3072, 1e5),
    Relation("facts_key", "i", 64, 1e5, table="facts"),
)
EVENT = Event(
    1.0,
    RELATIONS,
    None,
    None,
    {
        "fingerprint": PLAN.trials[0].template.fingerprint,
        "relations": relations_as_detail(RELATIONS_THERE),
    },
)
LIMITS = {
    "max_parallel_workers_per_gather": "16",
    "max_parallel_workers": "16",
    "max_worker_processes": "16",
    "min_parallel_table_scan_size": "1024",
    "min_parallel_index_scan_size": "64",
}


def view(server: str, name: str, at: int = 0, **facts: Any) -> TrialView:
    """A trial that executed a plan of the corpus."""
    planned = PLAN.trials[at]
    packed = pack(corpus(server)[name]["plan"])
    return TrialView(
        number=planned.number,
        attempt=1,
        block=planned.block,
        workload="ssb",
        levels=planned.cell.levels,
        outcome=Outcome.COUNTED,
        problems=(),
        started_at=0.0,
        finished_at=1.0,
        metrics={},
        series=(),
        histogram=(),
        facts={"plan": packed, "plan_executed": True, PLANNER: LIMITS, **facts},
        evidence=(),
    )


def about(metric: str, predicate: object = None, **changes: object) -> Claim:
    bounds = PlanValue((QueryBounds(0.1, None, ("q2.1",)),))
    values: dict[str, object] = {
        "workload": "ssb",
        "metric": metric,
        "predicate": predicate or bounds,
        "contrast": None,
        "needs": ClaimNeeds(),
    }
    return a_claim(**(values | changes))


def numbers(claim: Claim, one: TrialView) -> Mapping[str, float]:
    (read,) = with_numbers([claim], PLAN, [one], [EVENT])
    return read.metrics


@pytest.mark.parametrize("server", ["pg13", "pg18"])
def test_what_plans_say(server: str) -> None:
    one = view(server, "parallel-partitions")
    assert numbers(about("plan_blocks:monthly"), one) == {"plan_blocks:monthly": 264.0}
    alone = numbers(about("plan_alone:monthly"), one)["plan_alone:monthly"]
    assert 0 < alone <= 1
    kinds = {kind.kind: kind for kind in statistics(plan(server, "parallel-partitions")).kinds}
    seconds = numbers(about("plan_seconds:Seq Scan"), one)["plan_seconds:Seq Scan"]
    assert seconds == pytest.approx(kinds["Seq Scan"].seconds)
    share = numbers(about("plan_share:Append"), one)["plan_share:Append"]
    assert share == pytest.approx(max(kinds["Append"].share or 0.0, 1e-4))


@pytest.mark.parametrize("server", ["pg13", "pg18"])
def test_what_the_leader_scans_alone(server: str) -> None:
    """Against the same, added up by hand from the nodes of the plan."""
    one = view(server, "parallel-partitions")
    share = numbers(about("plan_leader:monthly"), one)["plan_leader:monthly"]
    nodes = plan(server, "parallel-partitions").nodes
    scans = [node for node in nodes if node.relation.startswith("monthly") and node.loops]
    alone = sum(sum(node.seconds.values()) for node in scans if node.seconds and not node.workers)
    (append,) = (node for node in nodes if node.kind == "Append")
    assert append.seconds is not None
    assert share == pytest.approx(max(alone / max(append.seconds.values()), 1e-4))
    assert 0 < share <= 1.01
    assert numbers(about("plan_leader:facts"), view(server, "parallel-seq-scan")) == {}


def test_a_type_that_the_plan_has_not() -> None:
    one = view("pg18", "seq-scan")
    assert numbers(about("plan_share:Append"), one) == {"plan_share:Append": 1e-4}
    assert numbers(about("plan_seconds:Append"), one) == {}


def test_workers_by_the_number_of_partitions() -> None:
    rule = WorkersByRule(WorkerRule.PARTITIONS, relation="monthly")
    found = numbers(about("query_seconds", rule), view("pg18", "parallel-partitions"))
    assert found == {LAUNCHED: 2.0, rule.metric: 4.0, PERMITTED: 16.0}


@pytest.mark.parametrize(("relation", "workers"), [("facts", 2.0), ("facts_key", 1.0)])
def test_workers_by_the_size_of_a_table_or_an_index(relation: str, workers: float) -> None:
    rule = WorkersByRule(WorkerRule.SIZE, relation=relation)
    found = numbers(about("query_seconds", rule), view("pg18", "parallel-seq-scan"))
    assert found[rule.metric] == workers


def test_without_sizes_or_limits_there_is_no_rule() -> None:
    rule = WorkersByRule(WorkerRule.SIZE, relation="elsewhere")
    claim = about("query_seconds", rule)
    assert rule.metric not in numbers(claim, view("pg18", "parallel-seq-scan"))
    unlimited = view("pg18", "parallel-seq-scan", planner=None)
    assert numbers(claim, unlimited) == {LAUNCHED: 2.0}


def test_parallel_nodes() -> None:
    has = PlanHas(("Parallel Index Scan", "Parallel Index Only Scan"))
    claim = about("query_seconds", has)
    for name, expected in (
        ("parallel-index", 1.0),
        ("parallel-index-only", 1.0),
        ("parallel-seq-scan", 0.0),
        ("index-scan", 0.0),
    ):
        assert numbers(claim, view("pg13", name)) == {has.metric: expected}, name


def test_only_executed_plans_of_the_claims_queries_and_levels_are_read() -> None:
    claim = about("plan_blocks:monthly")
    estimated = view("pg18", "parallel-partitions", plan_executed=False)
    assert numbers(claim, estimated) == {}
    other = about("plan_blocks:monthly", PlanValue((QueryBounds(0.1, None, ("q1.1",)),)))
    assert numbers(other, view("pg18", "parallel-partitions")) == {}
    monthly = about("plan_blocks:monthly", at=(("layout", "monthly"),))
    assert numbers(monthly, view("pg18", "parallel-partitions")) == {}
    assert numbers(monthly, view("pg18", "parallel-partitions", at=1)) != {}
    assert numbers(about("query_seconds"), view("pg18", "parallel-partitions")) == {}


def test_a_serial_plan_is_told_from_one_without_sizes() -> None:
    rule = WorkersByRule(WorkerRule.SIZE)
    claim = about("query_seconds", rule)
    name = next(one for one in corpus("pg18") if "Gather" not in corpus("pg18")[one]["plan"])
    assert numbers(claim, view("pg18", name)) == {LAUNCHED: 0.0, SERIAL: 1.0, PERMITTED: 16.0}
    assert SERIAL not in numbers(claim, view("pg18", "parallel-seq-scan"))
