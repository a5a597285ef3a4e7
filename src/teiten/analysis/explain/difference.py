"""Two plans of one question, node by node: what was replaced, and what that cost.

Nodes are matched by what they work on: a scan by its table's alias, every other node by the tables
below it and by its class (join, sort, aggregate …). So a join that stands elsewhere, or has another
algorithm, still finds its counterpart, and one without counterpart tells of another join order.
Where a table has partitions in one plan only, the nodes that do its work partition by partition are
matched together. EXPLAIN names no parent of a partition. Its alias is the table's with a number
(``s_1``, ``s_2``; before 13 the first has none), or, where the query gave none, before 13 the
partition's own name.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from teiten.analysis.explain.consumers import is_subplan
from teiten.analysis.explain.statistics import JOINS, SCANS, fingerprint, join_order, statistics
from teiten.analysis.model.explain import (
    APPENDS,
    ExplainedPlan,
    NodeChange,
    NodeGroup,
    PlanDifference,
    PlanNode,
    PlanStatistics,
)

_REPLACED = {"scan": "scan-replaced", "join": "join-replaced"}


def difference(old: ExplainedPlan, new: ExplainedPlan) -> PlanDifference:
    """Compare two plans node by node: what differs from ``old`` to ``new``."""
    matched = match(old, new)
    sides = _Sides(statistics(old), statistics(new), matched)
    return PlanDifference(
        old=sides.old,
        new=sides.new,
        same_structure=fingerprint(old) == fingerprint(new),
        pairs=matched.pairs,
        groups=matched.groups,
        changes=tuple(sorted(sides.all_changes(), key=lambda change: -abs(change.cost or 0.0))),
        old_join_order=join_order(old),
        new_join_order=join_order(new),
    )


class _Sides:
    def __init__(self, old: PlanStatistics, new: PlanStatistics, matched: Match) -> None:
        self.old = old
        self.new = new
        self._match = matched
        self._timed = old.plan.timed and new.plan.timed
        """Else a time of one plan has nothing to be compared with."""

    def all_changes(self) -> Iterator[NodeChange]:
        for pair in self._match.pairs:
            yield from self._changes(*pair)
        for group in self._match.groups:
            yield self._of_group(group)
        yield from self._unmatched()

    def _changes(self, old_number: int, new_number: int) -> Iterator[NodeChange]:
        """How a matched node differs. What it takes more is counted with its first difference, and
        the others have no times."""
        codes = self._differences(self.old.plan.nodes[old_number], self.new.plan.nodes[new_number])
        for at, code in enumerate(codes):
            change = self._change(code, [old_number], [new_number])
            yield replace(change, old_seconds=None, new_seconds=None) if at else change

    def _differences(self, old: PlanNode, new: PlanNode) -> Iterator[str]:
        """The codes of what differs between matched nodes, the weightiest first."""
        if old.kind != new.kind:
            yield _REPLACED.get(class_of(old), "strategy-changed")
        elif old.relation != new.relation:
            yield "relation-changed"
        elif old.index != new.index:
            yield "index-changed"
        if old.kind in JOINS and new.kind in JOINS and self._exchanged(old, new):
            yield "join-sides"
        if old.parallel_aware != new.parallel_aware:
            yield "parallel-changed"
        if _other_workers(old, new):
            yield "workers-changed"
        executed = self.old.plan.analysed and self.new.plan.analysed
        if executed and self.old.plan.pruned(old) != self.new.plan.pruned(new):
            yield "pruning-changed"

    def _of_group(self, group: NodeGroup) -> NodeChange:
        old = self._match.old.any_partition(self.old.plan.nodes[number] for number in group.old)
        new = self._match.new.any_partition(self.new.plan.nodes[number] for number in group.new)
        code = "partitions-changed" if old and new else "partitioned" if new else "unpartitioned"
        return self._change(code, group.old, group.new, group)

    def _unmatched(self) -> Iterator[NodeChange]:
        olds, news = _matched(self._match.pairs, self._match.groups)
        for node in self.old.plan.nodes:
            if node.number not in olds:
                yield self._change("node-removed", [node.number], ())
        for node in self.new.plan.nodes:
            if node.number not in news:
                yield self._change("node-added", (), [node.number])

    def _exchanged(self, old: PlanNode, new: PlanNode) -> bool:
        """Whether one's outer side is the other's inner side."""
        olds, news = _inputs(self._match.old, old), _inputs(self._match.new, new)
        return len(olds) == 2 and olds != news and olds == news[::-1]

    def _change(
        self, code: str, old: Sequence[int], new: Sequence[int], group: NodeGroup | None = None
    ) -> NodeChange:
        first_old, first_new = (next(iter(numbers), None) for numbers in (old, new))
        seconds: tuple[float | None, float | None] = None, None
        if self._timed:
            seconds = self.old.own_seconds(old), self.new.own_seconds(new)
        return NodeChange(code, first_old, first_new, *seconds, group)


def _other_workers(old: PlanNode, new: PlanNode) -> bool:
    """Whether workers differ: those launched only where both plans were executed."""
    executed = None not in (old.workers_launched, new.workers_launched)
    launch_differs = executed and old.workers_launched != new.workers_launched
    return launch_differs or old.workers_planned != new.workers_planned


def _inputs(work: Work, node: PlanNode) -> list[int]:
    """List the numbers that stand for the tables of each of a node's inputs."""
    inputs = [child for child in work.plan.children(node.number) if not is_subplan(child)]
    return [work.tables[child.number] for child in inputs]


Key = tuple[str, int, str]
"""The class, the tables below, and the subplan in which the node stands."""

_CLASSES = {
    **dict.fromkeys(SCANS, "scan"),
    **dict.fromkeys(JOINS, "join"),
    **dict.fromkeys(APPENDS, "append"),
    **dict.fromkeys(("Sort", "Incremental Sort"), "sort"),
    **dict.fromkeys(("Gather", "Gather Merge"), "gather"),
    **dict.fromkeys(("HashSetOp", "SetOp"), "set operation"),
    **dict.fromkeys(
        ("Aggregate", "HashAggregate", "GroupAggregate", "MixedAggregate", "Group", "Unique"),
        "aggregate",
    ),
}


@dataclass(frozen=True)
class Match:
    """Counterparts; what is in neither has none."""

    pairs: tuple[tuple[int, int], ...]
    """In the old plan's order."""
    groups: tuple[NodeGroup, ...]
    old: Work
    new: Work


def match(old: ExplainedPlan, new: ExplainedPlan) -> Match:
    """Every node is in one pair or group at most."""
    works = tuple(map(Work, (old, new), comparable_names(old, new)))
    keyed = [work.by_key() for work in works]
    pairs: list[tuple[int, int]] = []
    groups: list[NodeGroup] = []
    for key, olds in keyed[0].items():
        news = keyed[1].get(key, [])
        if news and (works[0].any_partition(olds) or works[1].any_partition(news)):
            groups.append(NodeGroup(_numbers(olds), _numbers(news)))
        elif news:
            pairs += _paired(olds, news)
    return Match(
        pairs=tuple(sorted(pairs)),
        groups=tuple(_with_bitmaps(old, new, groups, pairs)),
        old=works[0],
        new=works[1],
    )


def class_of(node: PlanNode) -> str:
    """Name the kind of work that a node does, whatever its algorithm."""
    return _CLASSES.get(node.kind, node.kind)


def _numbers(nodes: Iterable[PlanNode]) -> tuple[int, ...]:
    return tuple(node.number for node in nodes)


def _paired(olds: Sequence[PlanNode], news: Sequence[PlanNode]) -> list[tuple[int, int]]:
    """The k-th node of a key is the counterpart of the other plan's k-th: first of the very same
    type and index, then of the same class."""
    exact: dict[tuple[str, str, str], deque[PlanNode]] = defaultdict(deque)
    for node in news:
        exact[_type(node)].append(node)
    pairs: list[tuple[int, int]] = []
    rest: list[PlanNode] = []
    for node in olds:
        same = exact[_type(node)]
        if same:
            pairs.append((node.number, same.popleft().number))
        else:
            rest.append(node)
    left = sorted(node.number for nodes in exact.values() for node in nodes)
    return [*pairs, *zip(_numbers(rest), left, strict=False)]


def _type(node: PlanNode) -> tuple[str, str, str]:
    return node.kind, node.index, node.partial


def _with_bitmaps(
    old: ExplainedPlan,
    new: ExplainedPlan,
    groups: Sequence[NodeGroup],
    pairs: Sequence[tuple[int, int]],
) -> list[NodeGroup]:
    """Scans of a bitmap belong to the scan of the table where the other plan has none."""
    olds, news = _matched(pairs, groups)
    return [
        NodeGroup(
            (*group.old, *_bitmaps(old, group.old, olds)),
            (*group.new, *_bitmaps(new, group.new, news)),
        )
        for group in groups
    ]


def _matched(
    pairs: Iterable[tuple[int, int]], groups: Iterable[NodeGroup]
) -> tuple[set[int], set[int]]:
    """The nodes of both plans that have a counterpart."""
    sides = [([old], [new]) for old, new in pairs]
    sides += [([*group.old], [*group.new]) for group in groups]
    return {node for old, _ in sides for node in old}, {node for _, new in sides for node in new}


def _bitmaps(plan: ExplainedPlan, scans: Iterable[int], known: set[int]) -> list[int]:
    """Adds what it returns to ``known``: no node is in two groups."""
    bitmaps: list[int] = []
    for scan in scans:
        if plan.nodes[scan].kind == "Bitmap Heap Scan":
            new = [node for node in plan.below(scan) if node.kind.startswith("Bitmap")]
            bitmaps += [node.number for node in new if node.number not in known]
            known.update(bitmaps)
    return bitmaps


@dataclass
class Work:
    """The tables and partitions that the nodes of a plan work on."""

    plan: ExplainedPlan
    names: TableNames
    tables: list[int] = field(init=False)
    """For each node what stands for the tables that it and the nodes below read."""
    _partitions: set[int] = field(init=False)
    """Nodes that do a part of the work on a table that the other plan has as a whole."""

    def __post_init__(self) -> None:
        self.tables = _tables(self.plan, self.names)
        others = self._reads_others()
        self._partitions = {
            number
            for append in self.names.appends
            for number in range(append, self.plan.ends[append])
            if not others[number]
        }

    def any_partition(self, nodes: Iterable[PlanNode]) -> bool:
        return any(node.number in self._partitions for node in nodes)

    def by_key(self) -> Mapping[Key, list[PlanNode]]:
        nodes: dict[Key, list[PlanNode]] = defaultdict(list)
        inside = _subplans(self.plan)
        for node in self.plan.nodes:
            nodes[self._class(node), self.tables[node.number], inside[node.number]].append(node)
        return nodes

    def _reads_others(self) -> list[bool]:
        """For each node whether it reads, or one below, what is no partition of such a table."""
        reads = [
            bool(name := _read(node)) and name not in self.names.whole for node in self.plan.nodes
        ]
        for node in reversed(self.plan.nodes):
            if node.parent is not None and not is_subplan(node):
                reads[node.parent] = reads[node.parent] or reads[node.number]
        return reads

    def _class(self, node: PlanNode) -> str:
        """An Append over partitions does the work of what is below it, as the scans of a bitmap do
        the work of the table's."""
        if node.kind.startswith("Bitmap") and node.number in self._partitions:
            return "scan"
        while node.kind in APPENDS and node.number in self._partitions:
            members = self.plan.children(node.number)
            if not members:
                break
            node = members[0]
        return class_of(node)


def _tables(plan: ExplainedPlan, names: TableNames) -> list[int]:
    """Add up for each node the hashes of names of tables read at or below it, without subplans'.

    Sets of names would be as many for each node as stand below it; of two sets that are joined the
    smaller is added to the larger.
    """
    sums = [0] * len(plan.nodes)
    sets: list[set[str] | None] = [None] * len(plan.nodes)
    for node in reversed(plan.nodes):
        known = sets[node.number]
        name = names.of(_read(node))
        if known is None:
            known = sets[node.number] = set()
        if name and name not in known:
            known.add(name)
            sums[node.number] += _hash(name)
        if node.parent is not None and not is_subplan(node):
            _join(sets, sums, node.parent, node.number)
        sets[node.number] = None
    for node in plan.nodes:  # the index scans below a bitmap heap scan belong to its table
        if node.parent is not None and node.kind.startswith("Bitmap") and not sums[node.number]:
            sums[node.number] = sums[node.parent]
    return sums


def _join(sets: list[set[str] | None], sums: list[int], above: int, below: int) -> None:
    ours, theirs = sets[above] or set(), sets[below] or set()
    total = sums[above]
    if len(theirs) > len(ours):
        ours, theirs, total = theirs, ours, sums[below]
    for name in theirs:
        if name not in ours:
            ours.add(name)
            total += _hash(name)
    sets[above], sums[above] = ours, total


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "replace"), digest_size=16).digest(), "big")


def _read(node: PlanNode) -> str:
    return (
        node.alias
        or node.relation
        or next((str(value) for key, value in node.details if key == "Relations"), "")
    )


def _subplans(plan: ExplainedPlan) -> list[str]:
    """For each node the subplan in which it stands."""
    subplans: list[str] = []
    for node in plan.nodes:
        above = subplans[node.parent] if node.parent is not None else ""
        name = node.subplan.split(" (returns")[0]
        subplans.append(f"{above}/{name}" if is_subplan(node) else above)
    return subplans


_NUMBERED = re.compile(r"(?P<base>.+)_\d+$")


@dataclass(frozen=True)
class TableNames:
    """Names for the tables of a plan by which those of both plans can be compared."""

    by_alias: dict[str, str] = field(default_factory=dict)
    """Table names by alias, for aliases that do not stand for themselves."""
    whole: frozenset[str] = frozenset()
    """Aliases of partitions that are compared as a whole, not one by one."""
    appends: tuple[int, ...] = ()
    """The Appends below which ``whole`` stand."""

    def of(self, alias: str) -> str:
        return self.by_alias.get(alias, alias)


@dataclass(frozen=True)
class _Partitions:
    append: int
    base: str
    """The table's alias; empty where the partitions' names do not tell it."""
    scans: tuple[PlanNode, ...]

    @property
    def relations(self) -> frozenset[str]:
        return frozenset(scan.relation for scan in self.scans)


def comparable_names(old: ExplainedPlan, new: ExplainedPlan) -> tuple[TableNames, TableNames]:
    """The names of both plans' tables."""
    sides = _KnownTables(old), _KnownTables(new)
    names: tuple[dict[str, str], dict[str, str]] = ({}, {})
    wholes: tuple[list[_Partitions], list[_Partitions]] = ([], [])
    for first, second in _both_partitioned(*sides):
        if first.relations & second.relations:
            for own, known in zip((first, second), names, strict=True):
                known.update({scan.alias: f"partition {scan.relation}" for scan in own.scans})
        else:
            for own, known, whole in zip((first, second), names, wholes, strict=True):
                known.update(dict.fromkeys(_aliases(own.scans), first.base))
                whole.append(own)
    for index, (side, counterpart) in enumerate((sides, sides[::-1])):
        for partitions, alias in _partitioned_here(side, counterpart):
            names[index].update(dict.fromkeys(_aliases(partitions.scans), alias))
            wholes[index].append(partitions)
    return _names(names[0], wholes[0]), _names(names[1], wholes[1])


def _names(by_alias: dict[str, str], wholes: Sequence[_Partitions]) -> TableNames:
    return TableNames(
        by_alias,
        frozenset(alias for whole in wholes for alias in _aliases(whole.scans)),
        tuple(whole.append for whole in wholes),
    )


class _KnownTables:
    """The tables of a plan: those with partitions, and the others."""

    def __init__(self, plan: ExplainedPlan) -> None:
        self.partitioned: dict[str, list[_Partitions]] = defaultdict(list)
        """By the tables' aliases; in the plan's order."""
        self.plain: dict[str, list[PlanNode]] = defaultdict(list)
        """By alias without its number: the scans of other tables, in the plan's order."""
        self.relations: dict[str, str] = {}
        seen: set[str] = set()
        for node in plan.nodes:
            if node.kind in APPENDS:
                for partitions in _partitions_of(plan, node):
                    if not seen.intersection(_aliases(partitions.scans)):
                        self.partitioned[partitions.base].append(partitions)
                        seen.update(_aliases(partitions.scans))
        for node in plan.nodes:
            if node.kind in SCANS and node.alias:
                self.relations[node.alias] = node.relation
                if node.alias not in seen:
                    self.plain[_base(node.alias)].append(node)


def _partitions_of(plan: ExplainedPlan, append: PlanNode) -> Iterator[_Partitions]:
    members = plan.members(append.number)
    scans = [
        [node for node in plan.below(member.number) if node.kind in SCANS and node.alias]
        for member in members
    ]
    buckets: dict[str, list[PlanNode]] = defaultdict(list)
    for of_member in scans:
        for scan in of_member:
            buckets[_base(scan.alias)].append(scan)
    if len(buckets) == len(members) > 1 and all(len(of_member) == 1 for of_member in scans):
        yield _Partitions(append.number, "", tuple(of_member[0] for of_member in scans))
        return
    for base, bucket in buckets.items():
        if len({node.relation for node in bucket}) == len(bucket):
            yield _Partitions(append.number, base, tuple(bucket))


def _both_partitioned(
    old: _KnownTables, new: _KnownTables
) -> Iterator[tuple[_Partitions, _Partitions]]:
    """The k-th table of a name with the other plan's k-th; those are taken out."""
    for base in [alias for alias in old.partitioned if alias in new.partitioned]:
        pairs = list(zip(old.partitioned[base], new.partitioned[base], strict=False))
        if not base:
            pairs = [pair for pair in pairs if pair[0].relations & pair[1].relations]
        for first, second in pairs:
            old.partitioned[base].remove(first)
            new.partitioned[base].remove(second)
            yield first, second


def _partitioned_here(
    side: _KnownTables, counterpart: _KnownTables
) -> Iterator[tuple[_Partitions, str]]:
    """Tables that have partitions on this side only, with their aliases on the other."""
    unnamed = list(side.partitioned.get("", ()))
    for base, tables in side.partitioned.items():
        if not base:
            continue
        for partitions, plain in zip(tables, counterpart.plain.get(base, ()), strict=False):
            if len(partitions.scans) > 1 or plain.relation not in partitions.relations:
                yield partitions, plain.alias
    strange = {
        plain.relation: plain
        for plains in counterpart.plain.values()
        for plain in plains
        if plain.alias not in side.relations and _base(plain.alias) not in side.partitioned
    }
    read = set(counterpart.relations.values())
    for partitions in unnamed:
        if partitions.relations & read:
            continue  # a UNION ALL of tables that the other plan reads too
        named = [name for name in _named_before(partitions.relations) if name in strange]
        alone = list(strange) if len(strange) == len(unnamed) == 1 else []
        if named or alone:
            yield partitions, strange.pop([*named, *alone][0]).alias


def _named_before(partitions: Iterable[str]) -> list[str]:
    """List what all names can have begun with: ``sales`` of ``sales_2020`` and ``sales_2021``."""
    first, *others = partitions
    starts = [first[:end] for end, letter in enumerate(first) if letter == "_" and end]
    return [start for start in starts if all(name.startswith(f"{start}_") for name in others)]


def _base(alias: str) -> str:
    match = _NUMBERED.match(alias)
    return match["base"] if match else alias


def _aliases(scans: Iterable[PlanNode]) -> list[str]:
    return [scan.alias for scan in scans]
