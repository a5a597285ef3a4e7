"""Exclusive figures: what each node of a plan used itself, by process.

Inclusive figures are made consistent from below: a node's are at least those of the nodes that it
waited for (they can be less by the rounding of times per loop). So nothing is ever negative, and
all exclusive figures sum up to the root's and what was executed after it (a data-modifying CTE that
nothing read to its end). Below a Gather the leader's and the workers' time are kept apart: the
Gather waits for the leader's part alone, the workers' is counted beside it. What a Gather that is
ended early (LIMIT, EXISTS) waits for its workers is in its own time or, where it is begun anew, in
that of the node that begins it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import TypeVar

from teiten.analysis.explain.consumers import Consumers, gathers_above, is_subplan
from teiten.analysis.model.explain import LEADER, Accounts, Exclusive, ExplainedPlan, PlanNode

Number = TypeVar("Number", int, float)
Quantities = dict[str, float]
"""By name: seconds of a process (``leader``, ``worker 0``), ``io``, and counters of blocks."""

LEADERS = "leader"
WORKER = "worker "
IO = "io"
CLOCK = 1e-6
"""Seconds by which two readings of the clock may differ without meaning."""


def accounts(plan: ExplainedPlan) -> Accounts:
    """The exclusive figures of every node; zero where a plan has none (without ANALYZE)."""
    gathered = gathers_above(plan)
    unknown = {number for number in gathered.values() if _hides_workers(plan, number)}
    inclusive = [_quantities(plan, node, gathered, unknown) for node in plan.nodes]
    waits = _Waits(plan, inclusive, gathered)
    for node in plan.nodes:
        if node.parent is not None and not is_subplan(node):
            waits.add(node.parent, node.number, inclusive[node.number])
    # Inner subplans are printed, and so numbered, behind those that wait for them: last first.
    for node in reversed(plan.nodes):
        if is_subplan(node):
            waits.assign(node)
    exclusive, total = waits.settle()
    return Accounts(
        nodes=tuple(map(_exclusive, exclusive, plan.nodes)),
        total=_exclusive(total, plan.root),
        leader_known=not unknown,
    )


def _hides_workers(plan: ExplainedPlan, gather: int) -> bool:
    """Whether workers took part of which the plan tells nothing."""
    node = plan.nodes[gather]
    inside = plan.below(gather)[1:]
    if not node.workers_launched or any(len(below.own_loops) > 1 for below in inside):
        return False
    return any((child.loops or 0) > (node.loops or 0) for child in inside[:1])


def _quantities(
    plan: ExplainedPlan, node: PlanNode, gathered: Mapping[int, int], unknown: set[int]
) -> Quantities:
    quantities: Quantities = {name: value for name, value in node.buffers.items() if value}
    quantities[IO] = node.io_seconds
    gather = gathered.get(node.number)
    for process, seconds in (node.seconds or {}).items():
        name = LEADERS if process == LEADER else f"{WORKER}{process}"
        if gather in unknown and gather is not None:
            above = plan.nodes[gather]
            # The workers may have gone on when the Gather wanted no more rows; the leader has not.
            most = (above.seconds or {}).get(LEADER, 0.0)
            quantities[LEADERS] = min(seconds / ((above.workers_launched or 0) + 1), most)
            quantities[f"{WORKER}0"] = seconds - quantities[LEADERS]
        else:
            quantities[name] = seconds
    return quantities


@dataclass
class _Waits:
    """Who waited for whom, and for how much of it."""

    plan: ExplainedPlan
    inclusive: list[Quantities]
    gathered: Mapping[int, int]
    awaited: list[list[tuple[int, Quantities]]] = field(init=False)
    """By waiting node: the awaited nodes, and what of their inclusive figures."""
    waiting: list[list[int]] = field(init=False)
    """By awaited node: those that waited for it."""
    free: list[Quantities] = field(init=False)
    """By node: its inclusive figures, less what those it waited for explain so far."""
    consumers: Consumers = field(init=False)

    def __post_init__(self) -> None:
        self.awaited = [[] for _ in self.plan.nodes]
        self.waiting = [[] for _ in self.plan.nodes]
        self.free = [dict(quantities) for quantities in self.inclusive]
        self.consumers = Consumers(self.plan, self.gathered)

    def add(self, waiting: int, awaited: int, part: Quantities) -> None:
        if not part:
            return
        self.awaited[waiting].append((awaited, part))
        self.waiting[awaited].append(waiting)
        free = self.free[waiting]
        for name, value in part.items():
            if self._counts(waiting, awaited, name):
                free[name] = free.get(name, 0.0) - value

    def assign(self, subplan: PlanNode) -> None:
        """Find the nodes that waited for a subplan: one that can have waited for all of it, else
        several that share it, as the readers of a CTE do."""
        rest = {name: value for name, value in self.inclusive[subplan.number].items() if value > 0}
        if not rest:
            return
        possible = _Possible(self, subplan.number)
        likely = [possible.of(group) for group in self.consumers.likely(subplan)]
        if self._give_to_one(subplan, rest, likely):
            return
        around = [possible.of(self.consumers.around(subplan))]
        if self._give_to_one(subplan, rest, around):
            return
        for group in (*likely, *around):
            rest = self._share(subplan, rest, group)
        printed = self.plan.nodes[subplan.parent or 0]
        if possible.of([printed], executed=False):
            self._place_rest(subplan, rest)

    def _give_to_one(
        self, subplan: PlanNode, rest: Quantities, groups: Iterable[Sequence[PlanNode]]
    ) -> bool:
        """Give all to one node, whose time has room for it; of those to one that has room for the
        blocks too. Blocks for which it has none were asked for by the others of its group."""
        fitting = [
            (group, [node for node in group if self._has_time(subplan, node, rest)])
            for group in groups
        ]
        chosen = next(
            (
                (group, node)
                for group, nodes in fitting
                for node in self._ranked(nodes, rest)
                if all(
                    self.free[node.number].get(name, 0.0) >= rest[name]
                    for name in rest
                    if not _is_time(name)
                )
            ),
            None,
        ) or next(
            ((group, self._ranked(nodes, rest)[0]) for group, nodes in fitting if nodes), None
        )
        if chosen is None:
            return False
        group, node = chosen
        times = {name: value for name, value in rest.items() if _is_time(name)}
        counts = {name: value for name, value in rest.items() if not _is_time(name)}
        part = times | _at_most(counts, self.free[node.number])
        self.add(node.number, subplan.number, part)
        left = _without(counts, part)
        left = self._share(subplan, left, [sharer for sharer in group if sharer is not node])
        self.add(node.number, subplan.number, left)
        return True

    def _share(self, subplan: PlanNode, rest: Quantities, group: Sequence[PlanNode]) -> Quantities:
        """Give each node as much as it can have waited for; returns what is left."""
        for node in self._ranked(group, rest):
            if not rest:
                break
            part = _at_most(rest, self.free[node.number])
            self.add(node.number, subplan.number, part)
            rest = _without(rest, part)
        return rest

    def _ranked(self, group: Iterable[PlanNode], rest: Quantities) -> list[PlanNode]:
        return sorted(group, key=lambda node: -_weight(self.free[node.number], rest))

    def _has_time(self, subplan: PlanNode, node: PlanNode, wanted: Quantities) -> bool:
        """Whether the node's time, but for rounding, has room for the subplan's; without timing,
        whether its blocks have."""
        free = self.free[node.number]
        tolerance = 2 * (subplan.rounding + node.rounding) + CLOCK
        times = [name for name in wanted if _is_time(name)]
        return all(
            free.get(name, 0.0) >= wanted[name] - (tolerance if _is_time(name) else 0)
            for name in times or wanted
        )

    def _place_rest(self, subplan: PlanNode, rest: Quantities) -> None:
        """A data-modifying CTE is executed to its end after the plan, and belongs to no node; any
        other rest stays with the node below which the subplan is printed."""
        modifies = any(node.kind == "ModifyTable" for node in self.plan.below(subplan.number))
        if not modifies and self.plan.timed:
            self.add(subplan.parent or 0, subplan.number, rest)

    def settle(self) -> tuple[list[Quantities], Quantities]:
        """Exclusive figures by node, and the plan's total."""
        settled: dict[int, tuple[Quantities, Quantities]] = {}
        for number in self._bottom_up():
            own = dict(self.inclusive[number])
            used: Quantities = {}
            for awaited, part in self.awaited[number]:
                grown = settled[awaited][0]
                for name, value in part.items():
                    if not self._counts(number, awaited, name):
                        continue
                    # What the awaited node gained by its own correction, its waiter gains too.
                    whole = self.inclusive[awaited].get(name, 0.0)
                    gain = grown.get(name, 0.0) - whole
                    used[name] = (
                        used.get(name, 0.0) + value + gain * (value / whole if whole else 1)
                    )
            total = {name: max(own.get(name, 0.0), used.get(name, 0.0)) for name in own | used}
            settled[number] = (
                total,
                {name: value - used.get(name, 0.0) for name, value in total.items()},
            )
        exclusive = [settled[node.number][1] for node in self.plan.nodes]
        return exclusive, summed(exclusive)

    def _counts(self, waiting: int, awaited: int, name: str) -> bool:
        """A Gather does not wait for its workers' time; it is theirs alone."""
        if not name.startswith(WORKER):
            return True
        return self.gathered.get(waiting) == self.gathered.get(awaited)

    def _bottom_up(self) -> Iterable[int]:
        """The nodes, each behind all that it waited for."""
        awaited = {
            node.number: [number for number, _ in self.awaited[node.number]]
            for node in self.plan.nodes
        }
        return TopologicalSorter(awaited).static_order()


class _Possible:
    """Which nodes can have waited for a subplan: none for which it waited itself."""

    def __init__(self, waits: _Waits, subplan: int) -> None:
        self._waits = waits
        self._subplan = subplan
        self._free_of_it: set[int] = set()

    def of(self, group: Iterable[PlanNode], *, executed: bool = True) -> list[PlanNode]:
        return [
            node
            for node in group
            if (node.loops != 0 or not executed) and not self._awaited(node.number)
        ]

    def _awaited(self, number: int) -> bool:
        """Whether the subplan waited for a node, maybe by way of others."""
        seen: set[int] = set()
        open_ends = [number]
        while open_ends:
            current = open_ends.pop()
            if current == self._subplan:
                return True
            if current not in seen and current not in self._free_of_it:
                seen.add(current)
                open_ends += self._waits.waiting[current]
        self._free_of_it |= seen
        return False


def _at_most(wanted: Quantities, free: Quantities) -> Quantities:
    part = {name: min(value, max(0.0, free.get(name, 0.0))) for name, value in wanted.items()}
    return {name: value for name, value in part.items() if value > 0}


def _without(wanted: Quantities, part: Quantities) -> Quantities:
    rest = {name: value - part.get(name, 0.0) for name, value in wanted.items()}
    return {name: value for name, value in rest.items() if value > (CLOCK if _is_time(name) else 0)}


def _weight(free: Quantities, wanted: Quantities) -> float:
    """How much of what is wanted a node can have waited for: time, without timing blocks."""
    times = [name for name in wanted if _is_time(name)] or list(wanted)
    return sum(max(0.0, free.get(name, 0.0)) for name in times)


def _is_time(name: str) -> bool:
    return name == LEADERS or name.startswith(WORKER)


def summed(parts: Iterable[Mapping[str, Number]]) -> dict[str, Number]:
    """Numbers by name, added up."""
    total: dict[str, Number] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def _exclusive(figures: Quantities, node: PlanNode | None = None) -> Exclusive:
    blocks = {name for name in figures if name != IO and not _is_time(name)}
    return Exclusive(
        leader=figures.get(LEADERS, 0.0),
        workers=sum(value for name, value in figures.items() if name.startswith(WORKER)),
        buffers={
            name: round(figures.get(name, 0)) for name in (*(node.buffers if node else ()), *blocks)
        },
        io_seconds=figures.get(IO, 0.0),
    )
