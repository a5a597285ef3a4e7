"""Two execution plans: what ``explain-diff`` prints as JSON, in seconds and blocks, unrounded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from teiten.analysis.model.explain import (
    NodeChange,
    NodeGroup,
    PlanDifference,
    PlanNode,
    PlanStatistics,
)
from teiten.cli.printed.form import Count, From, Names, Positive, taken

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


def _inclusive_seconds(node: PlanNode) -> float | None:
    return math.fsum(node.seconds.values()) if node.seconds else None


@dataclass(frozen=True)
class JsonPlanNode:
    number: Count
    parent: Count | None
    name: str
    kind: str
    loops: Count | None
    workers: Count
    rows: Annotated[float | None, From("total_rows")]
    planned_rows: float | None
    inclusive_seconds: Annotated[float | None, From(_inclusive_seconds)]
    leader_seconds: float | None
    worker_seconds: float | None
    buffers: _Blocks
    io_seconds: Positive


@dataclass(frozen=True)
class JsonPlanSide:
    name: str
    join_order: str
    execution_seconds: Annotated[float | None, From("plan.execution")]
    planning_seconds: Annotated[float | None, From("plan.planning")]
    leader_seconds: float | None
    worker_seconds: float | None
    leader_known: Annotated[
        bool, "The workers' times are printed, and taken off.", From("accounts.leader_known")
    ]
    workers_planned: Count
    workers_launched: Count
    pruned: Annotated[Count, "Subplans that were not executed."]
    buffers: Annotated[_Blocks, From("accounts.total.buffers")]
    io_seconds: Annotated[Positive, From("accounts.total.io_seconds")]
    settings: Annotated[Names, From("plan.settings")]
    kinds: tuple[JsonNodeKind, ...]
    nodes: tuple[JsonPlanNode, ...]


@dataclass(frozen=True)
class JsonNodeChange:
    code: str
    old: str | None
    new: str | None
    old_node: Annotated[Count | None, From("old")]
    new_node: Annotated[Count | None, From("new")]
    old_nodes: Annotated[tuple[Count, ...] | None, From("group.old")]
    new_nodes: Annotated[tuple[Count, ...] | None, From("group.new")]
    old_seconds: float | None
    new_seconds: float | None
    cost_seconds: Annotated[float | None, From("cost")]


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
        changes=[_change(difference, change) for change in difference.changes],
    )


def _side(side: PlanStatistics, name: str, join_order: str) -> JsonPlanSide:
    total, timed = side.accounts.total, side.plan.timed
    return taken(
        JsonPlanSide,
        side,
        name=name,
        join_order=join_order,
        kinds=[
            taken(JsonNodeKind, kind, **_seconds(kind.leader, kind.workers, timed=timed))
            for kind in side.kinds
        ],
        nodes=[_node(side, node) for node in side.plan.nodes],
        **_seconds(total.leader, total.workers, timed=timed),
    )


def _seconds(leader: float, workers: float, *, timed: bool) -> dict[str, float | None]:
    """The exclusive times of a plan, or of nodes of it, where it was timed."""
    return {
        "leader_seconds": leader if timed else None,
        "worker_seconds": workers if timed else None,
    }


def _node(side: PlanStatistics, node: PlanNode) -> JsonPlanNode:
    own = side.accounts.nodes[node.number]
    return taken(
        JsonPlanNode,
        node,
        buffers=own.buffers,
        io_seconds=own.io_seconds,
        **_seconds(own.leader, own.workers, timed=side.plan.timed),
    )


def _change(difference: PlanDifference, change: NodeChange) -> JsonNodeChange:
    old, new = difference.old.plan.nodes, difference.new.plan.nodes
    return taken(
        JsonNodeChange,
        change,
        old=None if change.old is None else old[change.old].name,
        new=None if change.new is None else new[change.new].name,
    )
