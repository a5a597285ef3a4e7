"""The plan analysis on plans that no server ever made: nothing negative, nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.analysis.explain.accounts import accounts
from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.read import plan_of, read_plan
from teiten.analysis.explain.statistics import statistics
from teiten.analysis.explain.text import PlanTextError
from teiten.analysis.model.explain import LEADER

KINDS = ("Seq Scan", "Hash Join", "Append", "Gather", "CTE Scan", "Sort", "ModifyTable", "Result")
RELATIONS = ("Outer", "Inner", "Member", "InitPlan", "SubPlan")
TIMES = st.floats(0, 1e4).map(lambda value: round(value, 3))
LOOPS = st.integers(0, 50)


@st.composite
def nodes(draw: st.DrawFn, children: st.SearchStrategy[dict[str, Any]] | None) -> dict[str, Any]:
    relation = draw(st.sampled_from(RELATIONS))
    number = draw(st.integers(1, 3))
    loops = draw(LOOPS)
    node: dict[str, Any] = {
        "Node Type": draw(st.sampled_from(KINDS)),
        "Parent Relationship": relation,
        "Actual Total Time": draw(TIMES),
        "Actual Rows": draw(st.integers(0, 1000)),
        "Actual Loops": loops,
        "Plan Rows": draw(st.integers(0, 1000)),
        "Shared Hit Blocks": draw(st.integers(0, 1000)),
        "Filter": f"(a > ${number})",
    }
    if relation in ("InitPlan", "SubPlan"):
        node["Subplan Name"] = draw(
            st.sampled_from([f"CTE c{number}", f"InitPlan {number} (returns ${number})"])
        )
    if node["Node Type"] == "CTE Scan":
        node["CTE Name"] = f"c{number}"
    if node["Node Type"] == "Gather":
        node |= {"Workers Planned": 2, "Workers Launched": draw(st.integers(0, 2))}
    if draw(st.booleans()):
        node["Workers"] = [
            {
                "Worker Number": worker,
                "Actual Total Time": draw(TIMES),
                "Actual Loops": draw(st.integers(0, 10)),
            }
            for worker in range(draw(st.integers(0, 2)))
        ]
    if children is not None:
        node["Plans"] = draw(st.lists(children, max_size=3))
    return node


PLANS = st.recursive(nodes(None), nodes, max_leaves=12)


@settings(max_examples=150, deadline=None)
@given(PLANS)
def test_exclusive_figures_are_never_negative_and_sum_up(raw: dict[str, Any]) -> None:
    plan = plan_of({"Plan": raw})
    found = accounts(plan)
    assert all(own.leader >= -1e-9 and own.workers >= -1e-9 for own in found.nodes)
    assert all(value >= 0 for own in found.nodes for value in own.buffers.values())
    assert sum(own.seconds for own in found.nodes) == pytest.approx(found.total.seconds)
    root = (plan.root.seconds or {}).get(LEADER, 0.0)
    assert found.total.leader >= root - 1e-9 or found.total.leader == pytest.approx(root)
    shares = [kind.share for kind in statistics(plan).kinds if kind.share is not None]
    assert not shares or sum(shares) == pytest.approx(1)


@settings(max_examples=100, deadline=None)
@given(PLANS, PLANS)
def test_every_node_of_two_plans_is_matched_once_or_named(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    found = difference(plan_of({"Plan": old}), plan_of({"Plan": new}))
    gone = [change.old for change in found.changes if change.new is None]
    added = [change.new for change in found.changes if change.old is None]
    olds = [pair[0] for pair in found.pairs]
    news = [pair[1] for pair in found.pairs]
    assert sorted([*olds, *[one for one in gone if one is not None]]) == [
        node.number for node in found.old.plan.nodes
    ]
    assert sorted([*news, *[one for one in added if one is not None]]) == [
        node.number for node in found.new.plan.nodes
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.just("Seq Scan"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Plan", "Plans", "Node Type", "Workers", "Actual Loops", "Triggers"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(JSON | st.text(max_size=200))
def test_whatever_is_given_is_read_or_refused_in_words(value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        statistics(read_plan(text))
    except PlanTextError as error:
        assert str(error) and error.hint
