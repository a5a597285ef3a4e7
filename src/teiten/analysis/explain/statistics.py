"""A plan in numbers: by node type as in 2020 §6.5.5 (tables 6.30 to 6.33), workers, pruning; and
its structure without them: what stays the same from run to run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from statistics import fmean, median

from teiten.analysis.explain.accounts import accounts, summed
from teiten.analysis.explain.consumers import GATHERS
from teiten.analysis.model.explain import (
    LEADER,
    Accounts,
    ExplainedPlan,
    KindStatistics,
    PlanNode,
    PlanStability,
    PlanStatistics,
    PlanVariant,
)
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


SCANS = frozenset(
    (
        *("Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan"),
        *("Tid Range Scan", "Sample Scan", "Foreign Scan", "Custom Scan"),
    )
)
"""Types of nodes that read a table."""


def statistics(plan: ExplainedPlan) -> PlanStatistics:
    """The numbers of a plan, executed or not."""
    exclusive = accounts(plan)
    return PlanStatistics(
        plan=plan,
        accounts=exclusive,
        kinds=_by_kind(plan, exclusive),
        workers_planned=sum(node.workers_planned or 0 for node in plan.nodes),
        workers_launched=sum(node.workers_launched or 0 for node in plan.nodes),
        pruned=sum(map(plan.pruned, plan.nodes)),
        scans_by_workers=_scans_by_workers(plan),
    )


def estimate_error(node: PlanNode) -> float | None:
    """The factor by which the planner's rows of one loop were wrong, 1 or more.

    None where the node was not executed, or where there is nothing to compare. Fewer than one row
    counts as one, because the planner estimates no less.
    """
    if not node.loops or node.rows is None or not node.planned_rows:
        return None
    actual, planned = max(node.rows, 1.0), max(node.planned_rows, 1.0)
    return max(actual / planned, planned / actual)


def _by_kind(plan: ExplainedPlan, exclusive: Accounts) -> tuple[KindStatistics, ...]:
    groups: dict[str, list[PlanNode]] = {}
    for node in plan.nodes:
        groups.setdefault(node.kind, []).append(node)
    kinds = [_kind(plan, kind, nodes, exclusive) for kind, nodes in groups.items()]
    return tuple(sorted(kinds, key=lambda kind: (-kind.seconds, -kind.nodes, kind.kind)))


def _kind(
    plan: ExplainedPlan, kind: str, nodes: Sequence[PlanNode], exclusive: Accounts
) -> KindStatistics:
    own = [exclusive.nodes[node.number] for node in nodes]
    seconds = sum(node.seconds for node in own)
    errors = [error for error in map(estimate_error, nodes) if error is not None]
    return KindStatistics(
        kind=kind,
        nodes=len(nodes),
        never_executed=sum(1 for node in nodes if node.loops == 0),
        loops=sum(node.loops or 0 for node in nodes),
        worker_loops=sum(
            loops
            for node in nodes
            for process, loops in node.own_loops.items()
            if process != LEADER
        ),
        leader=sum(node.leader for node in own),
        workers=sum(node.workers for node in own),
        share=seconds / exclusive.total.seconds if exclusive.total.seconds > 0 else None,
        rows=sum(node.total_rows or 0.0 for node in nodes),
        estimate_error=max(errors, default=None),
        buffers=summed(node.buffers for node in own),
        io_seconds=sum(node.io_seconds for node in own),
        workers_planned=sum(node.workers_planned or 0 for node in nodes),
        workers_launched=sum(node.workers_launched or 0 for node in nodes),
        pruned=sum(map(plan.pruned, nodes)),
    )


def _scans_by_workers(plan: ExplainedPlan) -> tuple[tuple[int, int, float], ...]:
    by_workers: dict[int, list[float]] = {}
    for gather in (node for node in plan.nodes if node.kind in GATHERS):
        for node in plan.below(gather.number):
            if node.kind in SCANS and node.seconds is not None and node.loops:
                by_workers.setdefault(node.workers, []).append(sum(node.seconds.values()))
    return tuple(
        (workers, len(seconds), fmean(seconds)) for workers, seconds in sorted(by_workers.items())
    )
