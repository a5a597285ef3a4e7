"""A comparison of two plans as JSON values: seconds, blocks, unrounded."""

from __future__ import annotations

import math
from typing import Any

from teiten.analysis.model.explain import (
    KindStatistics,
    NodeChange,
    PlanDifference,
    PlanNode,
    PlanStatistics,
)


def difference_as_json(found: PlanDifference, sides: tuple[str, str]) -> dict[str, Any]:
    """Everything that the comparison found."""
    return {
        "same_structure": found.same_structure,
        "joins_reordered": found.joins_reordered,
        "old": {"name": sides[0], "join_order": found.old_join_order, **_plan(found.old)},
        "new": {"name": sides[1], "join_order": found.new_join_order, **_plan(found.new)},
        "changes": [_change(found, change) for change in found.changes],
        "pairs": [list(pair) for pair in found.pairs],
        "groups": [{"old": list(group.old), "new": list(group.new)} for group in found.groups],
    }


def _plan(one: PlanStatistics) -> dict[str, Any]:
    timed = one.plan.timed
    return {
        "execution_seconds": one.plan.execution,
        "planning_seconds": one.plan.planning,
        "leader_seconds": one.accounts.total.leader if timed else None,
        "worker_seconds": one.accounts.total.workers if timed else None,
        "leader_known": one.accounts.leader_known,
        "workers_planned": one.workers_planned,
        "workers_launched": one.workers_launched,
        "pruned": one.pruned,
        "buffers": one.accounts.total.buffers,
        "io_seconds": one.io_seconds,
        "settings": one.plan.settings,
        "kinds": [_kind(kind, timed=timed) for kind in one.kinds],
        "nodes": [_node(one, node) for node in one.plan.nodes],
    }


def _kind(one: KindStatistics, *, timed: bool) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "nodes": one.nodes,
        "never_executed": one.never_executed,
        "loops": one.loops,
        "worker_loops": one.worker_loops,
        "leader_seconds": one.leader if timed else None,
        "worker_seconds": one.workers if timed else None,
        "share": one.share,
        "rows": one.rows,
        "estimate_error": one.estimate_error,
        "buffers": one.buffers,
        "io_seconds": one.io_seconds,
        "workers_planned": one.workers_planned,
        "workers_launched": one.workers_launched,
        "pruned": one.pruned,
    }


def _node(one: PlanStatistics, node: PlanNode) -> dict[str, Any]:
    own = one.accounts.nodes[node.number]
    return {
        "number": node.number,
        "parent": node.parent,
        "name": node.name,
        "kind": node.kind,
        "loops": node.loops,
        "workers": node.workers,
        "rows": node.total_rows,
        "planned_rows": node.planned_rows,
        "inclusive_seconds": math.fsum(node.seconds.values()) if node.seconds else None,
        "leader_seconds": own.leader if one.plan.timed else None,
        "worker_seconds": own.workers if one.plan.timed else None,
        "buffers": own.buffers,
        "io_seconds": own.io_seconds,
    }


def _change(found: PlanDifference, one: NodeChange) -> dict[str, Any]:
    return {
        "code": one.code,
        "old": None if one.old is None else found.old.plan.nodes[one.old].name,
        "new": None if one.new is None else found.new.plan.nodes[one.new].name,
        "old_node": one.old,
        "new_node": one.new,
        "old_nodes": None if one.group is None else list(one.group.old),
        "new_nodes": None if one.group is None else list(one.group.new),
        "old_seconds": one.old_seconds,
        "new_seconds": one.new_seconds,
        "cost_seconds": one.cost,
    }
