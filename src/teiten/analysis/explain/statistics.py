"""A plan in numbers: by node type as in 2020 §6.5.5 (tables 6.30 to 6.33), workers, pruning."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from teiten.analysis.explain.accounts import accounts, summed
from teiten.analysis.explain.consumers import GATHERS
from teiten.analysis.model.explain import (
    LEADER,
    READ,
    Accounts,
    ExplainedPlan,
    KindStatistics,
    PlanNode,
    PlanStatistics,
)

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
    total = exclusive.total
    return PlanStatistics(
        plan=plan,
        accounts=exclusive,
        kinds=_by_kind(plan, exclusive),
        workers_planned=sum(node.workers_planned or 0 for node in plan.nodes),
        workers_launched=sum(node.workers_launched or 0 for node in plan.nodes),
        pruned=sum(map(plan.pruned, plan.nodes)),
        blocks=total.blocks,
        blocks_read=total.buffers.get(READ, 0),
        io_seconds=total.io_seconds,
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
