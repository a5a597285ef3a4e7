"""Use of tables by an executed plan: blocks touched, partitions scanned and left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from teiten.analysis.explain.consumers import GATHERS
from teiten.analysis.explain.statistics import SCANS
from teiten.analysis.explain.worker_rules import Relations, first_scan
from teiten.analysis.model.explain import (
    APPENDS,
    ExplainedPlan,
    PartitionUse,
    PlanNode,
    PlanStatistics,
    SharedScans,
    TableUse,
)
from teiten.model.plan import Context
from teiten.model.units import Seconds

BITMAP = "Bitmap Index Scan"
TABLE = "r"
"""pg_class.relkind"""
_NUMBERED = re.compile(r"_(?:\d+|p\d+|default)$")


@dataclass
class _Use:
    """Scans, partitions and blocks that a plan has of one table or family of partitions."""

    nodes: list[PlanNode] = field(default_factory=list)
    """Its scans."""
    members: dict[str, bool] = field(default_factory=dict)
    """Partition, and whether any scan of it was executed."""
    removed: int = 0
    blocks: int = 0


def greatest_table(plans: Iterable[PlanStatistics], relations: Iterable[Relations]) -> str | None:
    """The table of which the plans touch the most blocks: of a star schema the fact table."""
    most: dict[str, int] = defaultdict(int)
    for plan, known in zip(plans, relations, strict=True):
        for table, use in _uses(plan, known).items():
            most[table] = max(most[table], use.blocks)
    return max(most, key=lambda table: most[table], default=None)


def table_use(
    statistics: PlanStatistics, table: str, relations: Relations, context: Context, side: str
) -> TableUse:
    """Find how an executed plan used a table: blocks, partitions, and scans that workers shared."""
    use = _uses(statistics, relations).get(table, _Use())
    return TableUse(
        context=context,
        side=side,
        table=table,
        blocks=use.blocks if statistics.accounts.total.buffers else None,
        partitions=_partitions(table, use, relations),
        shared=_shared(statistics.plan, use),
    )


def _uses(statistics: PlanStatistics, relations: Relations) -> dict[str, _Use]:
    plan = statistics.plan
    uses: dict[str, _Use] = defaultdict(_Use)
    for node in plan.nodes:
        if node.kind in SCANS and node.relation:
            table = _table(node.relation, relations)
            use = uses[table]
            use.nodes.append(node)
            read = [node]
            if node.kind == "Bitmap Heap Scan":
                read += [below for below in plan.below(node.number) if below.kind == BITMAP]
            use.blocks += sum(statistics.accounts.nodes[part.number].blocks for part in read)
            if table != node.relation:
                executed = use.members.get(node.relation, False)
                use.members[node.relation] = executed or node.executed
        elif node.kind in APPENDS and node.subplans_removed:
            first = first_scan(plan, node)
            if first is not None:
                uses[_table(first.relation, relations)].removed += node.subplans_removed
    return uses


def _table(relation: str, relations: Relations) -> str:
    """The partitioned table of a partition; where relations were not recorded, the name without
    the number that partitions have behind it."""
    known = relations.get(relation)
    if known is not None:
        return known.parent or relation
    return relation if relations else _NUMBERED.sub("", relation)


def _partitions(table: str, use: _Use, relations: Relations) -> PartitionUse | None:
    every = sum(
        relation.parent == table and relation.kind == TABLE for relation in relations.values()
    )
    if not use.members and not every:
        return None
    scanned = sum(use.members.values())
    return PartitionUse(
        partitions=every or None,
        scanned=scanned,
        skipped=len(use.members) - scanned + use.removed,
    )


def share_of_leader(statistics: PlanStatistics, table: str, relations: Relations) -> float | None:
    """The time of a partitioned table's scans that no worker had a part in, by that of the slowest
    process of the Append above them (2020, table 6.38); None of a plan that does not tell, or where
    no partition was scanned below a Gather. Of several Appends the one that takes the longest."""
    plan = statistics.plan
    scans: dict[int, list[PlanNode]] = defaultdict(list)
    for node in _shared_scans(plan, _uses(statistics, relations).get(table, _Use())):
        append = _append_above(plan, node)
        if append is not None:
            scans[append].append(node)
    took = {append: max((plan.nodes[append].seconds or {0: 0.0}).values()) for append in scans}
    longest = max(took, key=lambda append: took[append], default=None)
    if longest is None or not took[longest]:
        return None
    alone = (scan for scan in scans[longest] if not scan.workers)
    return sum(sum((scan.seconds or {}).values()) for scan in alone) / took[longest]


def _append_above(plan: ExplainedPlan, node: PlanNode) -> int | None:
    parent = node.parent
    while parent is not None and plan.nodes[parent].kind not in APPENDS:
        parent = plan.nodes[parent].parent
    return parent


def _shared_scans(plan: ExplainedPlan, use: _Use) -> Iterator[PlanNode]:
    """The executed scans of partitions below a Gather."""
    shared = {
        node.number
        for gather in plan.nodes
        if gather.kind in GATHERS
        for node in plan.below(gather.number)
    }
    for node in use.nodes:
        if node.number in shared and use.members and node.seconds and _processes(node):
            yield node


def _processes(node: PlanNode) -> int:
    return sum(loops > 0 for loops in node.own_loops.values())


def _shared(plan: ExplainedPlan, use: _Use) -> tuple[SharedScans, ...]:
    """The executed scans of partitions below a Gather, by number of workers."""
    times: Mapping[int, list[float]] = defaultdict(list)
    for node in _shared_scans(plan, use):
        times[node.workers].append(sum((node.seconds or {}).values()) / _processes(node))
    return tuple(
        SharedScans(workers, len(seconds), Seconds(fmean(seconds)))
        for workers, seconds in sorted(times.items(), reverse=True)
    )
