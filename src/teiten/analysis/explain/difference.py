"""Two plans of one question, node by node: what was replaced, and what that cost.

Nodes are matched by what they work on: a scan by its table's alias, every other node by the tables
below it and by its class (join, sort, aggregate …). So a join that stands elsewhere, or has another
algorithm, still finds its counterpart, and one without counterpart tells of another join order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from teiten.analysis.explain.consumers import is_subplan
from teiten.analysis.explain.statistics import APPENDS, SCANS, pruned, statistics
from teiten.analysis.explain.structure import JOINS, fingerprint, join_order
from teiten.analysis.model.explain import (
    ExplainedPlan,
    NodeChange,
    PlanDifference,
    PlanNode,
    PlanStatistics,
)

Key = tuple[str, frozenset[str], str]
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
_REPLACED = {"scan": "scan-replaced", "join": "join-replaced"}


def difference(old: ExplainedPlan, new: ExplainedPlan) -> PlanDifference:
    """What differs from ``old`` to ``new``."""
    sides = _Sides(statistics(old), statistics(new))
    pairs = tuple(_matched(old, new))
    changes = [change for pair in pairs for change in sides.changes(*pair)]
    changes += sides.unmatched(pairs)
    return PlanDifference(
        old=sides.old,
        new=sides.new,
        same_structure=fingerprint(old) == fingerprint(new),
        pairs=pairs,
        changes=tuple(sorted(changes, key=lambda one: -abs(one.cost or 0.0))),
        old_join_order=join_order(old),
        new_join_order=join_order(new),
    )


class _Sides:
    def __init__(self, old: PlanStatistics, new: PlanStatistics) -> None:
        self.old = old
        self.new = new

    def changes(self, old_number: int, new_number: int) -> Iterator[NodeChange]:
        """How a matched node differs."""
        old, new = self.old.plan.nodes[old_number], self.new.plan.nodes[new_number]
        if old.kind != new.kind:
            code = _REPLACED.get(_class(old), "strategy-changed")
            yield self._change(code, old_number, new_number)
        elif old.index != new.index:
            yield self._change("index-changed", old_number, new_number)
        if old.kind in JOINS and new.kind in JOINS and self._exchanged(old, new):
            yield self._change("join-sides", old_number, new_number)
        if old.parallel_aware != new.parallel_aware:
            yield self._change("parallel-changed", old_number, new_number)
        if _workers(old) != _workers(new):
            yield self._change("workers-changed", old_number, new_number)
        if pruned(self.old.plan, old) != pruned(self.new.plan, new):
            yield self._change("pruning-changed", old_number, new_number)

    def unmatched(self, pairs: tuple[tuple[int, int], ...]) -> Iterator[NodeChange]:
        old_known = {old for old, _ in pairs}
        new_known = {new for _, new in pairs}
        for node in self.old.plan.nodes:
            if node.number not in old_known:
                yield self._change("node-removed", node.number, None)
        for node in self.new.plan.nodes:
            if node.number not in new_known:
                yield self._change("node-added", None, node.number)

    def _exchanged(self, old: PlanNode, new: PlanNode) -> bool:
        """Whether one's outer side is the other's inner side."""
        olds, news = _sides(self.old.plan, old), _sides(self.new.plan, new)
        return len(olds) == 2 and olds != news and olds == news[::-1]

    def _change(self, code: str, old: int | None, new: int | None) -> NodeChange:
        return NodeChange(code, old, new, _own(self.old, old), _own(self.new, new))


def _own(side: PlanStatistics, number: int | None) -> float | None:
    if number is None or not side.plan.timed:
        return None
    return side.accounts.nodes[number].seconds


def _workers(node: PlanNode) -> tuple[int | None, int | None]:
    return node.workers_planned, node.workers_launched


def _sides(plan: ExplainedPlan, node: PlanNode) -> list[frozenset[str]]:
    tables = _tables(plan)
    inputs = [one for one in plan.children(node.number) if not is_subplan(one)]
    return [tables[one.number] for one in inputs]


def _matched(old: ExplainedPlan, new: ExplainedPlan) -> Iterator[tuple[int, int]]:
    """The k-th node of a key is the counterpart of the other plan's k-th: first of the very same
    type and index, then of the same class."""
    waiting: dict[Key, list[PlanNode]] = defaultdict(list)
    for key, node in _keyed(new):
        waiting[key].append(node)
    pairs: dict[int, int] = {}
    for exact in (True, False):
        for key, node in _keyed(old):
            if node.number in pairs:
                continue
            others = waiting[key]
            fitting = [one for one in others if not exact or _same(node, one)]
            if fitting:
                others.remove(fitting[0])
                pairs[node.number] = fitting[0].number
    yield from sorted(pairs.items())


def _same(old: PlanNode, new: PlanNode) -> bool:
    return (old.kind, old.index, old.partial) == (new.kind, new.index, new.partial)


def _keyed(plan: ExplainedPlan) -> Iterator[tuple[Key, PlanNode]]:
    tables, inside = _tables(plan), _subplans(plan)
    for node in plan.nodes:
        yield (_class(node), tables[node.number], inside[node.number]), node


def _class(node: PlanNode) -> str:
    return _CLASSES.get(node.kind, node.kind)


def _tables(plan: ExplainedPlan) -> list[frozenset[str]]:
    """For each node the aliases that it and the nodes below read, without those of subplans."""
    found: list[set[str]] = [_read(node) for node in plan.nodes]
    for node in reversed(plan.nodes):
        if node.parent is not None and not is_subplan(node):
            found[node.parent] |= found[node.number]
    for node in plan.nodes:  # the index scans below a bitmap heap scan belong to its table
        if node.parent is not None and node.kind.startswith("Bitmap") and not found[node.number]:
            found[node.number] = found[node.parent]
    return [frozenset(one) for one in found]


def _read(node: PlanNode) -> set[str]:
    name = node.alias or node.relation
    if not name:
        name = next((str(value) for key, value in node.details if key == "Relations"), "")
    return {name} if name else set()


def _subplans(plan: ExplainedPlan) -> list[str]:
    """For each node the subplan in which it stands."""
    found: list[str] = []
    for node in plan.nodes:
        above = found[node.parent] if node.parent is not None else ""
        name = node.subplan.split(" (returns")[0]
        found.append(f"{above}/{name}" if is_subplan(node) else above)
    return found
