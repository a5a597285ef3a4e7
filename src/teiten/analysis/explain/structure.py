"""The structure of a plan without its numbers: what stays the same from run to run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from statistics import median

from teiten.analysis.model.explain import ExplainedPlan, PlanNode, PlanStability, PlanVariant
from teiten.model.units import Seconds

JOINS = frozenset({"Nested Loop", "Hash Join", "Merge Join"})
INPUTS = frozenset({"Outer", "Inner", "Member", "Subquery", ""})
"""Relationships of children from which a node reads rows; not those of its subplans."""
_SUBPLAN = re.compile(r" \(returns .*\)$")


def fingerprint(plan: ExplainedPlan) -> str:
    """Hash a plan's structure: nodes, tables, indexes, joins, subplans, and which parts are
    parallel; not the number of workers, nor children that pruning left out."""
    rows = [
        (
            node.parent,
            node.kind,
            node.partial,
            node.parallel_aware,
            node.relationship,
            _SUBPLAN.sub("", node.subplan),
            node.relation,
            node.alias,
            node.index,
            node.join,
            node.operation,
        )
        for node in plan.nodes
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def stability(plans: Sequence[ExplainedPlan]) -> PlanStability:
    """Whether repetitions of one query kept to one plan."""
    by_structure: dict[str, list[int]] = {}
    for index, plan in enumerate(plans):
        by_structure.setdefault(fingerprint(plan), []).append(index)
    variants = [
        PlanVariant(
            fingerprint=print_,
            occurrences=tuple(indexes),
            execution=_median([plans[index].execution for index in indexes]),
        )
        for print_, indexes in by_structure.items()
    ]
    return PlanStability(tuple(sorted(variants, key=lambda variant: -len(variant.occurrences))))


def join_order(plan: ExplainedPlan) -> str:
    """``((a ⋈ b) ⋈ c)``, the outer side first; the joins of subplans are left out. Partitions and
    other members of an Append are ``[a, b]``, of many the first and how many more."""
    texts = [""] * len(plan.nodes)
    for node in reversed(plan.nodes):
        inputs = [
            child.number for child in plan.children(node.number) if child.relationship in INPUTS
        ]
        texts[node.number] = _order(node, [texts[number] for number in inputs if texts[number]])
        for number in inputs:
            texts[number] = ""
    return texts[0] if "⋈" in texts[0] else ""


def _order(node: PlanNode, parts: list[str]) -> str:
    if node.kind in JOINS:
        return f"({' ⋈ '.join(parts)})"
    if not parts:
        return node.alias or node.relation
    if len(parts) == 1:
        return parts[0]
    parts.sort()  # an Append sorts its members by cost, which says nothing of the joins
    shown = parts if len(parts) <= 3 else [parts[0], f"… {len(parts) - 1} more"]
    return f"[{', '.join(shown)}]"


def _median(values: Sequence[Seconds | None]) -> Seconds | None:
    known = [value for value in values if value is not None]
    return Seconds(median(known)) if known else None
