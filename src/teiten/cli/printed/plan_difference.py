"""Two execution plans: what ``explain-diff`` prints as JSON, in seconds and blocks, unrounded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from teiten.analysis.model.explain import (
    KindStatistics,
    NodeChange,
    NodeGroup,
    PlanDifference,
    PlanNode,
    PlanStatistics,
)
from teiten.cli.printed.form import Count, Names, Positive, taken

_Blocks = Annotated[Mapping[str, float], "Blocks, by EXPLAIN's name of their use."]


@dataclass(frozen=True)
class JsonNodeKind:
    """All nodes of one type."""

    kind: str
    nodes: Count
    never_executed: Count
    loops: Count
    worker_loops: Count
    leader_seconds: float | None
    worker_seconds: float | None
    share: Annotated[float | None, "Of the plan's time."]
    rows: float
    estimate_error: float | None
    buffers: _Blocks
    io_seconds: Positive
    workers_planned: Count
    workers_launched: Count
    pruned: Count


@dataclass(frozen=True)
class JsonPlanNode:
    number: Count
    parent: Count | None
    name: str
    kind: str
    loops: Count | None
    workers: Count
    rows: float | None
    planned_rows: float | None
    inclusive_seconds: float | None
    leader_seconds: float | None
    worker_seconds: float | None
    buffers: _Blocks
    io_seconds: Positive


@dataclass(frozen=True)
class JsonPlanSide:
    name: str
    join_order: str
    execution_seconds: float | None
    planning_seconds: float | None
    leader_seconds: float | None
    worker_seconds: float | None
    leader_known: Annotated[bool, "The workers' times are printed, and taken off."]
    workers_planned: Count
    workers_launched: Count
    pruned: Annotated[Count, "Subplans that were not executed."]
    buffers: _Blocks
    io_seconds: Positive
    settings: Names
    kinds: tuple[JsonNodeKind, ...]
    nodes: tuple[JsonPlanNode, ...]


@dataclass(frozen=True)
class JsonNodeChange:
    code: str
    old: str | None
    new: str | None
    old_node: Count | None
    new_node: Count | None
    old_nodes: tuple[Count, ...] | None
    new_nodes: tuple[Count, ...] | None
    old_seconds: float | None
    new_seconds: float | None
    cost_seconds: float | None


@dataclass(frozen=True)
class JsonPlanDifference:
    same_structure: bool
    joins_reordered: bool
    old: JsonPlanSide
    new: JsonPlanSide
    changes: tuple[JsonNodeChange, ...]
    pairs: Annotated[tuple[tuple[Count, Count], ...], "Numbers of nodes that are the same in both."]
    groups: tuple[NodeGroup, ...]


def json_plan_difference(difference: PlanDifference, names: tuple[str, str]) -> JsonPlanDifference:
    """``names``: of the old plan and of the new one."""
    return taken(
        JsonPlanDifference,
        difference,
        old=_side(difference.old, names[0], difference.old_join_order),
        new=_side(difference.new, names[1], difference.new_join_order),
        changes=tuple(_change(difference, change) for change in difference.changes),
    )


def _side(side: PlanStatistics, name: str, join_order: str) -> JsonPlanSide:
    plan, accounts = side.plan, side.accounts
    return taken(
        JsonPlanSide,
        side,
        name=name,
        join_order=join_order,
        execution_seconds=plan.execution,
        planning_seconds=plan.planning,
        leader_seconds=accounts.total.leader if plan.timed else None,
        worker_seconds=accounts.total.workers if plan.timed else None,
        leader_known=accounts.leader_known,
        buffers=accounts.total.buffers,
        settings=plan.settings,
        kinds=tuple(_kind(kind, timed=plan.timed) for kind in side.kinds),
        nodes=tuple(_node(side, node) for node in plan.nodes),
    )


def _kind(kind: KindStatistics, *, timed: bool) -> JsonNodeKind:
    return taken(
        JsonNodeKind,
        kind,
        leader_seconds=kind.leader if timed else None,
        worker_seconds=kind.workers if timed else None,
    )


def _node(side: PlanStatistics, node: PlanNode) -> JsonPlanNode:
    own = side.accounts.nodes[node.number]
    return taken(
        JsonPlanNode,
        node,
        rows=node.total_rows,
        inclusive_seconds=math.fsum(node.seconds.values()) if node.seconds else None,
        leader_seconds=own.leader if side.plan.timed else None,
        worker_seconds=own.workers if side.plan.timed else None,
        buffers=own.buffers,
        io_seconds=own.io_seconds,
    )


def _change(difference: PlanDifference, change: NodeChange) -> JsonNodeChange:
    old, new = difference.old.plan.nodes, difference.new.plan.nodes
    return taken(
        JsonNodeChange,
        change,
        old=None if change.old is None else old[change.old].name,
        new=None if change.new is None else new[change.new].name,
        old_node=change.old,
        new_node=change.new,
        old_nodes=change.group.old if change.group else None,
        new_nodes=change.group.new if change.group else None,
        cost_seconds=change.cost,
    )
