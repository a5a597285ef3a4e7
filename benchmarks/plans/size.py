"""Time of a comparison by number of nodes: n log n, told as ratios to a tenth of the nodes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.read import read_plan
from teiten.cli.verbs.explain_diff import as_lines, collector_at_rest

Node = dict[str, Any]
DEEP = 300
"""Joins on top of one another; deeper plans are refused."""


def node(kind: str, relationship: str = "Member", **more: Any) -> Node:
    return {
        "Node Type": kind,
        "Parent Relationship": relationship,
        "Total Cost": 1.0,
        "Plan Rows": 1,
        "Actual Total Time": 0.01,
        "Actual Rows": 1.0,
        "Actual Loops": 1,
        "Shared Hit Blocks": 3,
        **more,
    }


def scan(number: int, relationship: str = "Member", **more: Any) -> Node:
    names = {"Relation Name": f"t{number}", "Alias": f"t_{number}"}
    return node("Seq Scan", relationship, **names, **more)


def partitions(count: int) -> Node:
    return node("Append", Plans=[scan(number) for number in range(count)])


def values(count: int) -> Node:
    return node("Append", Plans=[node("Result") for _ in range(count)])


def named(relationship: str, name: str, *plans: Node) -> Node:
    """A subplan of this name, over other nodes."""
    below = {"Plans": [*plans]} if plans else {}
    return node("Result", relationship, **{"Subplan Name": name}, **below)


def correlated(count: int) -> Node:
    names = [f"SubPlan {number}" for number in range(count // 2)]
    plans = [named("SubPlan", name, scan(at, "Outer")) for at, name in enumerate(names)]
    return node("Result", Output=[f"({name})" for name in names], Plans=plans)


def initial(count: int) -> Node:
    scans = (scan(at, "Outer", Filter=f"(a = ${at + 1})") for at in range(count // 2))
    plans = [named("InitPlan", f"InitPlan {at} (returns ${at})", s) for at, s in enumerate(scans)]
    return node("Result", Plans=plans)


def common(count: int) -> Node:
    names = [f"c{number}" for number in range(count // 2)]
    ctes = [named("InitPlan", f"CTE {name}") for name in names]
    scans = [node("CTE Scan", **{"CTE Name": name, "Alias": name}) for name in names]
    return node("Append", Plans=[*ctes, *scans])


def joins(count: int) -> Node:
    return node("Append", Plans=list(_towers(count)))


def _towers(count: int) -> Iterator[Node]:
    for first in range(0, max(1, count // 2), DEEP):
        tower = scan(first, "Outer")
        for number in range(first + 1, first + DEEP):
            inner = scan(number, "Inner")
            names = {"Join Type": "Inner", "Plans": [tower, inner]}
            tower = node("Nested Loop", "Outer", **names)
        yield {**tower, "Parent Relationship": "Member"}


SHAPES: dict[str, Callable[[int], Node]] = {
    "partitions": partitions,
    "UNION ALL": values,
    "SubPlans": correlated,
    "InitPlans": initial,
    "CTEs": common,
    "joins": joins,
}


def text_of(shape: Callable[[int], Node], count: int) -> str:
    root = shape(count) | {"Actual Total Time": 0.02 * count}
    return json.dumps([{"Plan": root, "Execution Time": 0.02 * count}])


def seconds(text: str) -> float:
    """Processor time to read two plans, compare them and say it."""
    begun = time.process_time()
    with collector_at_rest():
        compared = difference(read_plan(text), read_plan(text))
        list(as_lines(compared, ("a", "b"), "en"))
    return time.process_time() - begun


def size(nodes: int) -> None:
    """Each shape at ``nodes`` and at a tenth: ten times the nodes should take about ten times."""
    for name, shape in SHAPES.items():
        few, many = (seconds(text_of(shape, count)) for count in (nodes // 10, nodes))
        sys.stdout.write(
            f"{name}: {nodes:,} nodes take {many / few:.1f} times as long as {nodes // 10:,}"
            f" ({many:.1f} s against {few:.1f} s of a processor, for two plans)\n"
        )
        sys.stdout.flush()
