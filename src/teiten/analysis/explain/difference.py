"""Two plans of one question, node by node: what was replaced, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from teiten.analysis.explain.consumers import is_subplan
from teiten.analysis.explain.matching import Match, Work, class_of, match
from teiten.analysis.explain.statistics import pruned, statistics
from teiten.analysis.explain.structure import JOINS, fingerprint, join_order
from teiten.analysis.model.explain import (
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
            change = self._change(code, old_number, new_number)
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
        if executed and pruned(self.old.plan, old) != pruned(self.new.plan, new):
            yield "pruning-changed"

    def _of_group(self, group: NodeGroup) -> NodeChange:
        old = self._match.old.any_partition(self.old.plan.nodes[number] for number in group.old)
        new = self._match.new.any_partition(self.new.plan.nodes[number] for number in group.new)
        code = "partitions-changed" if old and new else "partitioned" if new else "unpartitioned"
        return NodeChange(
            code,
            group.old[0],
            group.new[0],
            self._own(self.old, group.old),
            self._own(self.new, group.new),
            group,
        )

    def _unmatched(self) -> Iterator[NodeChange]:
        pairs, groups = self._match.pairs, self._match.groups
        old_known = {old for old, _ in pairs} | {number for group in groups for number in group.old}
        new_known = {new for _, new in pairs} | {number for group in groups for number in group.new}
        for node in self.old.plan.nodes:
            if node.number not in old_known:
                yield self._change("node-removed", node.number, None)
        for node in self.new.plan.nodes:
            if node.number not in new_known:
                yield self._change("node-added", None, node.number)

    def _exchanged(self, old: PlanNode, new: PlanNode) -> bool:
        """Whether one's outer side is the other's inner side."""
        olds, news = _inputs(self._match.old, old), _inputs(self._match.new, new)
        return len(olds) == 2 and olds != news and olds == news[::-1]

    def _change(self, code: str, old: int | None, new: int | None) -> NodeChange:
        return NodeChange(
            code,
            old,
            new,
            None if old is None else self._own(self.old, [old]),
            None if new is None else self._own(self.new, [new]),
        )

    def _own(self, side: PlanStatistics, numbers: Iterable[int]) -> float | None:
        if not self._timed:
            return None
        return sum(side.accounts.nodes[number].seconds for number in numbers)


def _other_workers(old: PlanNode, new: PlanNode) -> bool:
    """Whether workers differ: those launched only where both plans were executed."""
    if None in (old.workers_launched, new.workers_launched):
        return old.workers_planned != new.workers_planned
    return (old.workers_planned, old.workers_launched) != (
        new.workers_planned,
        new.workers_launched,
    )


def _inputs(work: Work, node: PlanNode) -> list[int]:
    """List the numbers that stand for the tables of each of a node's inputs."""
    inputs = [child for child in work.plan.children(node.number) if not is_subplan(child)]
    return [work.tables[child.number] for child in inputs]
