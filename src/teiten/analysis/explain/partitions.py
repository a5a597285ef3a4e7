"""Which scans of a plan read the partitions of a table that the other plan reads as a whole.

EXPLAIN names no parent of a partition. Its alias is the table's with a number (``s_1``, ``s_2``;
before 13 the first has none), or, where the query gave none, before 13 the partition's own name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from teiten.analysis.explain.statistics import SCANS
from teiten.analysis.model.explain import APPENDS, ExplainedPlan, PlanNode

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
    sides = _Side(old), _Side(new)
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


class _Side:
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


def _both_partitioned(old: _Side, new: _Side) -> Iterator[tuple[_Partitions, _Partitions]]:
    """The k-th table of a name with the other plan's k-th; those are taken out."""
    for base in [alias for alias in old.partitioned if alias in new.partitioned]:
        pairs = list(zip(old.partitioned[base], new.partitioned[base], strict=False))
        if not base:
            pairs = [pair for pair in pairs if pair[0].relations & pair[1].relations]
        for first, second in pairs:
            old.partitioned[base].remove(first)
            new.partitioned[base].remove(second)
            yield first, second


def _partitioned_here(side: _Side, counterpart: _Side) -> Iterator[tuple[_Partitions, str]]:
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
