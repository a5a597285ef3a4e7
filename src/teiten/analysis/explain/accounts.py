"""Exclusive figures: what each node of a plan used itself, by process.

Inclusive figures are made consistent from below: a node's are at least those of the nodes that it
waited for (they can be less by the rounding of times per loop). So nothing is ever negative, and
all exclusive figures sum up to the root's. Below a Gather the leader's and the workers' time are
kept apart: the Gather waits for the leader's part alone, the workers' is counted beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from teiten.analysis.explain.consumers import below, candidates, is_subplan
from teiten.analysis.model.explain import LEADER, Accounts, Exclusive, ExplainedPlan, PlanNode

Quantities = dict[str, float]
"""By name: seconds of a process (``leader``, ``worker 0``), ``io``, and counters of blocks."""

LEADERS = "leader"
WORKER = "worker "
IO = "io"
CLOCK = 1e-6
"""Seconds by which two readings of the clock may differ without meaning."""
GATHERS = frozenset({"Gather", "Gather Merge"})


def accounts(plan: ExplainedPlan) -> Accounts:
    """The exclusive figures of every node; zero where a plan has none (without ANALYZE)."""
    gathered = _gathered(plan)
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
        nodes=tuple(_exclusive(one) for one in exclusive),
        total=_exclusive(total),
        leader_known=not unknown,
    )


def _gathered(plan: ExplainedPlan) -> dict[int, int]:
    """For each node whose work is shared with workers: the Gather above it. InitPlans printed at a
    Gather are executed by the leader before the workers start."""
    found: dict[int, int] = {}
    for node in plan.nodes:
        if node.parent is None:
            continue
        above = plan.nodes[node.parent]
        if above.kind in GATHERS and node.relationship != "InitPlan":
            found[node.number] = above.number
        elif above.number in found:
            found[node.number] = found[above.number]
    return found


def _hides_workers(plan: ExplainedPlan, gather: int) -> bool:
    """Whether workers took part of which the plan tells nothing."""
    node = plan.nodes[gather]
    inside = [one for one in below(plan, gather) if one.number != gather]
    if not node.workers_launched or any(len(one.own_loops) > 1 for one in inside):
        return False
    return any((one.loops or 0) > (node.loops or 0) for one in inside[:1])


def _quantities(
    plan: ExplainedPlan, node: PlanNode, gathered: Mapping[int, int], unknown: set[int]
) -> Quantities:
    found: Quantities = dict(node.buffers)
    found[IO] = node.io_seconds
    gather = gathered.get(node.number)
    for process, seconds in (node.seconds or {}).items():
        name = LEADERS if process == LEADER else f"{WORKER}{process}"
        if gather in unknown and gather is not None:
            workers = plan.nodes[gather].workers_launched or 0
            found[LEADERS] = seconds / (workers + 1)
            found[f"{WORKER}0"] = seconds - found[LEADERS]
        else:
            found[name] = seconds
    return found


@dataclass
class _Waits:
    """Who waited for whom, and for how much of it."""

    plan: ExplainedPlan
    inclusive: list[Quantities]
    gathered: Mapping[int, int]
    awaited: dict[int, list[tuple[int, Quantities]]] = field(default_factory=dict)
    """By waiting node: the awaited node, and what of its inclusive figures."""

    def add(self, waiting: int, awaited: int, part: Quantities) -> None:
        if part:
            self.awaited.setdefault(waiting, []).append((awaited, part))

    def free(self, number: int) -> Quantities:
        """What of a node's inclusive figures is not yet explained by those it waited for."""
        rest = dict(self.inclusive[number])
        for awaited, part in self.awaited.get(number, ()):
            for name, value in part.items():
                if self._counts(number, awaited, name):
                    rest[name] = rest.get(name, 0.0) - value
        return rest

    def assign(self, subplan: PlanNode) -> None:
        """Find the nodes that waited for a subplan: one that can have waited for all of it, else
        several that share it, as the readers of a CTE do."""
        rest = {name: value for name, value in self.inclusive[subplan.number].items() if value > 0}
        own = self._awaited_by(subplan.number)
        groups = [
            [node for node in group if node.loops != 0 and node.number not in own]
            for group in candidates(self.plan, subplan)
        ]
        frees = {node.number: self.free(node.number) for group in groups for node in group}
        for group in groups:
            ranked = sorted(group, key=lambda node: -_weight(frees[node.number], rest))
            if ranked and self._suffices(subplan, ranked[0], frees[ranked[0].number], rest):
                self.add(ranked[0].number, subplan.number, rest)
                return
        for group in groups:
            for node in sorted(group, key=lambda node: -_weight(frees[node.number], rest)):
                part = _at_most(rest, frees[node.number])
                self.add(node.number, subplan.number, part)
                rest = _without(rest, part)
        if subplan.parent is not None and subplan.parent not in own:
            self._place_rest(subplan, rest)

    def _awaited_by(self, number: int) -> set[int]:
        """The node and all that it waited for: none of them can have waited for it."""
        found: set[int] = set()
        open_ends = [number]
        while open_ends:
            current = open_ends.pop()
            if current not in found:
                found.add(current)
                open_ends += [one for one, _ in self.awaited.get(current, ())]
        return found

    def _suffices(
        self, subplan: PlanNode, node: PlanNode, free: Quantities, wanted: Quantities
    ) -> bool:
        """Whether the node's time, but for rounding, has room for the subplan's."""
        tolerance = 2 * (subplan.rounding + node.rounding) + CLOCK
        times = [name for name in wanted if _is_time(name)]
        return all(
            free.get(name, 0.0) >= wanted[name] - (tolerance if _is_time(name) else 0)
            for name in times or wanted
        )

    def _place_rest(self, subplan: PlanNode, rest: Quantities) -> None:
        """A data-modifying CTE is executed to its end after the plan, and belongs to no node; any
        other rest stays with the node below which the subplan is printed."""
        modifies = any(one.kind == "ModifyTable" for one in below(self.plan, subplan.number))
        if not modifies and self.plan.timed:
            self.add(subplan.parent or 0, subplan.number, rest)

    def settle(self) -> tuple[list[Quantities], Quantities]:
        """Exclusive figures by node, and the plan's total."""
        settled: dict[int, tuple[Quantities, Quantities]] = {}
        for number in self._bottom_up():
            own = dict(self.inclusive[number])
            used: Quantities = {}
            for awaited, part in self.awaited.get(number, ()):
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
        return exclusive, _sum(exclusive)

    def _counts(self, waiting: int, awaited: int, name: str) -> bool:
        """A Gather does not wait for its workers' time; it is theirs alone."""
        if not name.startswith(WORKER):
            return True
        return self.gathered.get(waiting) == self.gathered.get(awaited)

    def _bottom_up(self) -> Iterable[int]:
        done: dict[int, None] = {}

        def visit(number: int) -> None:
            stack = [(number, False)]
            while stack:
                current, ready = stack.pop()
                if current in done:
                    continue
                if ready:
                    done[current] = None
                    continue
                stack.append((current, True))
                stack += [(one, False) for one, _ in self.awaited.get(current, ())]

        for node in self.plan.nodes:
            visit(node.number)
        return done


def _at_most(wanted: Quantities, free: Quantities) -> Quantities:
    found = {name: min(value, max(0.0, free.get(name, 0.0))) for name, value in wanted.items()}
    return {name: value for name, value in found.items() if value > 0}


def _without(wanted: Quantities, part: Quantities) -> Quantities:
    rest = {name: value - part.get(name, 0.0) for name, value in wanted.items()}
    return {name: value for name, value in rest.items() if value > (CLOCK if _is_time(name) else 0)}


def _weight(free: Quantities, wanted: Quantities) -> float:
    """How much of what is wanted a node can have waited for: time, without timing blocks."""
    times = [name for name in wanted if _is_time(name)] or list(wanted)
    return sum(max(0.0, free.get(name, 0.0)) for name in times)


def _is_time(name: str) -> bool:
    return name == LEADERS or name.startswith(WORKER)


def _sum(parts: Iterable[Quantities]) -> Quantities:
    total: Quantities = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0.0) + value
    return total


def _exclusive(figures: Quantities) -> Exclusive:
    return Exclusive(
        leader=figures.get(LEADERS, 0.0),
        workers=sum(value for name, value in figures.items() if name.startswith(WORKER)),
        buffers={
            name: round(value)
            for name, value in figures.items()
            if name != IO and not _is_time(name)
        },
        io_seconds=figures.get(IO, 0.0),
    )
