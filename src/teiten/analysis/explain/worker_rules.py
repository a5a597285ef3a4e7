"""How many workers the planner's rules give a parallel plan, from sizes and parameters.

A table gets one worker from min_parallel_table_scan_size on and one more for each threefold size;
an index the same by min_parallel_index_scan_size (``compute_parallel_worker`` of allpaths.c). A
Parallel Append asks for as many as its greatest member, and for at least the bits of the number of
its members (``fls``). A join has those of its outer side, so that what a Gather gets is decided at
the first table of the plan below it. Sources: 2020 §6.3.5 and §6.5.5.3, PostgreSQL 10 to 18.

The planner's circumstances as a campaign recorded them: sizes of relations, and limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from teiten.analysis.explain.consumers import GATHERS
from teiten.analysis.explain.statistics import JOINS
from teiten.analysis.model.explain import (
    APPENDS,
    ExplainedPlan,
    GatherWorkers,
    PlanNode,
    WorkerLimits,
    WorkerRule,
    WorkerSource,
)
from teiten.model.relations import RELATIONS, Relation, relations_of
from teiten.model.trial import Event

TABLE_SCANS = frozenset({"Seq Scan", "Bitmap Heap Scan"})
INDEX_SCANS = frozenset({"Index Scan", "Index Only Scan"})


def workers_by_size(pages: int, least: int) -> int:
    """One worker from ``least`` blocks on, and one more for each threefold size; 0 below."""
    threshold = max(least, 1)
    if pages < threshold:
        return 0
    workers = 1
    while pages >= threshold * 3:
        workers += 1
        threshold *= 3
    return workers


def workers_by_partitions(members: int) -> int:
    """The bits of the number: 7 of 84."""
    return members.bit_length()


def gather_workers(
    plan: ExplainedPlan, relations: Relations, limits: WorkerLimits | None
) -> tuple[GatherWorkers, ...]:
    """Every Gather of a plan, that with the most workers first."""
    gathers = [
        _of_gather(plan, node, relations, limits) for node in plan.nodes if node.kind in GATHERS
    ]
    return tuple(sorted(gathers, key=lambda gather: (-gather.planned, gather.node)))


def _of_gather(
    plan: ExplainedPlan, gather: PlanNode, relations: Relations, limits: WorkerLimits | None
) -> GatherWorkers:
    below = leading_child(plan, gather)
    source = worker_source(plan, below, relations, limits) if below is not None else None
    expected = min(source.workers, limits.per_gather) if source and limits else None
    return GatherWorkers(
        node=gather.number,
        planned=gather.workers_planned or 0,
        launched=gather.workers_launched,
        source=source,
        expected=expected,
    )


def leading_child(plan: ExplainedPlan, node: PlanNode) -> PlanNode | None:
    """The input that decides how many processes share a node: of a join the outer side."""
    for child in plan.children(node.number):
        if child.relationship in {"Outer", "Subquery", "Member"}:
            return child
    return None


def first_scan(plan: ExplainedPlan, node: PlanNode) -> PlanNode | None:
    """The table, at a node or below it on the outer side, that is read first."""
    scan: PlanNode | None = node
    while scan is not None and not scan.relation:
        scan = leading_child(plan, scan)
    return scan


def worker_source(
    plan: ExplainedPlan, node: PlanNode, relations: Relations, limits: WorkerLimits | None
) -> WorkerSource | None:
    """Find what decides the workers at and below a node; None where it is not known."""
    while (node.kind not in APPENDS and not node.parallel_aware) or node.kind in JOINS:
        below = leading_child(plan, node)
        if below is None:
            return None
        node = below
    if node.kind in APPENDS:
        return _of_append(plan, node, relations, limits)
    return _of_scan(node, relations, limits)


def _of_append(
    plan: ExplainedPlan, append: PlanNode, relations: Relations, limits: WorkerLimits | None
) -> WorkerSource | None:
    members = plan.members(append.number)
    sources = [worker_source(plan, member, relations, limits) for member in members]
    known = [source for source in sources if source is not None]
    greatest = max(known, key=lambda source: source.workers, default=None)
    count = len(members) + append.subplans_removed
    by_count = workers_by_partitions(count) if append.parallel_aware else 0
    parent = _parent(plan, members, relations)
    if greatest is not None and greatest.workers > by_count:
        of_all = greatest.rule is WorkerRule.SET
        return replace(greatest, members=count, relation=parent if of_all else greatest.relation)
    if not by_count:
        return None
    return WorkerSource(WorkerRule.PARTITIONS, parent, None, count, by_count)


def _parent(plan: ExplainedPlan, members: Iterable[PlanNode], relations: Relations) -> str:
    """The partitioned table whose partitions the members read first."""
    for member in members:
        node = first_scan(plan, member)
        if node is not None:
            known = relations.get(node.relation)
            return known.parent if known is not None and known.parent else node.relation
    return ""


def _of_scan(
    scan: PlanNode, relations: Relations, limits: WorkerLimits | None
) -> WorkerSource | None:
    table = relations.get(scan.relation)
    if table is None or limits is None:
        return None
    if table.workers is not None:
        return WorkerSource(WorkerRule.SET, table.name, table.pages, 0, table.workers)
    least = 1 if table.parent else 0  # a partition is never too small to be shared
    by_table = WorkerSource(
        WorkerRule.TABLE,
        table.name,
        table.pages,
        0,
        max(least, workers_by_size(table.pages, limits.table_pages)),
        at_most=scan.kind == "Bitmap Heap Scan",
    )
    if scan.kind in TABLE_SCANS:
        return by_table
    index = relations.get(scan.index)
    if scan.kind not in INDEX_SCANS or index is None:
        return None
    # The planner counts the blocks that the condition leaves to visit; without one it is all.
    limited = any(key == "Index Cond" for key, _ in scan.details)
    by_index = WorkerSource(
        WorkerRule.INDEX,
        index.name,
        index.pages,
        0,
        max(least, workers_by_size(index.pages, limits.index_pages)),
        at_most=limited,
    )
    if scan.kind == "Index Only Scan" or by_index.workers <= by_table.workers:
        return by_index
    return replace(by_table, at_most=limited)


Relations = Mapping[str, Relation]
"""By the name that plans have for them."""
_LAST_NAME = re.compile(r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<bare>[^".]+))$')


def recorded_relations(events: Iterable[Event]) -> dict[str, Relations]:
    """By the template's fingerprint, and then by the names that plans have for them."""
    return {
        str(event.detail.get("fingerprint")): _by_plain_name(relations_of(event.detail))
        for event in events
        if event.kind == RELATIONS
    }


def _by_plain_name(relations: Iterable[Relation]) -> dict[str, Relation]:
    """By the name without schema and quotes; without those of which two schemas have one."""
    by_name: dict[str, list[Relation]] = {}
    for relation in relations:
        plain = _LAST_NAME.search(relation.name)
        name = plain["quoted"] or plain["bare"] if plain else relation.name
        by_name.setdefault(name.replace('""', '"'), []).append(relation)
    return {name: namesakes[0] for name, namesakes in by_name.items() if len(namesakes) == 1}


def limits_of(parameters: object) -> WorkerLimits | None:
    """The limits among the parameters that a trial recorded; None where one is missing. 9.6 has
    other names, and no limit of parallel workers apart from that of all background workers."""
    if not isinstance(parameters, Mapping):
        return None
    names = (
        ("max_parallel_workers_per_gather",),
        ("max_parallel_workers", "max_worker_processes"),
        ("max_worker_processes",),
        ("min_parallel_table_scan_size", "min_parallel_relation_size"),
        ("min_parallel_index_scan_size", "min_parallel_relation_size"),
    )
    values = [
        next((parameters[name] for name in spellings if name in parameters), "")
        for spellings in names
    ]
    try:
        return WorkerLimits(*(int(str(value)) for value in values))
    except ValueError:
        return None
