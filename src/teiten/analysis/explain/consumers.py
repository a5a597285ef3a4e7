"""Which nodes waited for an InitPlan, a SubPlan or a CTE.

EXPLAIN prints such a subplan below one node, but its work is done inside another: a CTE's when a
CTE Scan asks for a row, an InitPlan's when its value is needed first, maybe many nodes below.
There its time is part of the inclusive time, and from there it must be taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from teiten.analysis.explain.read import SUBPLANS
from teiten.analysis.model.explain import ExplainedPlan, PlanNode

_RETURNS = re.compile(r"^(?P<name>.*?) \(returns (?P<parameters>[$\d,]+)\)$")
_APPENDS = frozenset({"Append", "Merge Append"})


def is_subplan(node: PlanNode) -> bool:
    """Whether the node is the root of an InitPlan, SubPlan or CTE."""
    return node.relationship in SUBPLANS and node.parent is not None


def below(plan: ExplainedPlan, number: int) -> Iterator[PlanNode]:
    """The node and all below it, as they are printed."""
    yield plan.nodes[number]
    for node in plan.nodes[number + 1 :]:
        parent = node.parent
        while parent is not None and parent > number:
            parent = plan.nodes[parent].parent
        if parent != number:
            return
        yield node


def candidates(plan: ExplainedPlan, subplan: PlanNode) -> tuple[tuple[PlanNode, ...], ...]:
    """Groups of nodes that may have waited for a subplan, the most probable group first."""
    inside = {node.number for node in below(plan, subplan.number)}
    others = [node for node in plan.nodes if node.number not in inside]
    if subplan.subplan.startswith("CTE "):
        name = subplan.subplan.removeprefix("CTE ")
        return (tuple(one for one in others if one.kind == "CTE Scan" and one.relation == name),)
    printed = plan.nodes[subplan.parent or 0]  # a subplan is never the root
    users = _users(plan, subplan, others)
    around = [node for node in below(plan, printed.number) if node.number not in inside]
    own = (printed,)
    if subplan.relationship == "SubPlan":
        return (own, users, tuple(around))
    return (*_gathers(subplan, others), users, own, tuple(around))


def _users(
    plan: ExplainedPlan, subplan: PlanNode, others: Sequence[PlanNode]
) -> tuple[PlanNode, ...]:
    """Nodes whose expressions name the subplan, and the Appends above, which prune by it."""
    pattern = _pattern(subplan)
    found = {node.number for node in others if any(pattern.search(text) for text in _texts(node))}
    appends = {
        node.parent
        for node in others
        if node.number in found
        and node.parent is not None
        and plan.nodes[node.parent].kind in _APPENDS
    }
    return tuple(node for node in others if node.number in found | appends)


def _pattern(subplan: PlanNode) -> re.Pattern[str]:
    match = _RETURNS.match(subplan.subplan)
    if match is None:
        return re.compile(rf"\b{re.escape(subplan.subplan)}\b")
    names = [re.escape(one) for one in match["parameters"].split(",")]
    return re.compile(rf"(?:{'|'.join(names)})(?!\d)|\b{re.escape(match['name'])}\b")


def _gathers(subplan: PlanNode, others: Sequence[PlanNode]) -> tuple[tuple[PlanNode, ...], ...]:
    """A Gather that says that it evaluates the InitPlan for its workers surely does."""
    pattern = _pattern(subplan)
    found = tuple(
        node
        for node in others
        if any(
            key == "Params Evaluated" and any(pattern.search(str(one)) for one in value)
            for key, value in node.details
        )
    )
    return (found,) if found else ()


def _texts(node: PlanNode) -> Iterator[str]:
    for _, value in node.details:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))
