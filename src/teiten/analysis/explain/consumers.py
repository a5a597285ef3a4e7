"""Which nodes waited for an InitPlan, a SubPlan or a CTE.

EXPLAIN prints such a subplan below one node, but its work is done inside another: a CTE's when a
CTE Scan asks for a row, an InitPlan's when its value is needed first, maybe many nodes below.
There its time is part of the inclusive time, and from there it must be taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from teiten.analysis.explain.read import SUBPLANS
from teiten.analysis.model.explain import APPENDS, ExplainedPlan, PlanNode

CTE = "CTE "
_RETURNS = re.compile(r"^(?P<name>.*?) \(returns (?P<parameters>[$\d,]+)\)$")
_USE = re.compile(r"\$\d+|\b(?:InitPlan|SubPlan) \w+")
"""How expressions name a subplan: by its parameters until 16, by its name since 17."""
MOST_LOOKS = 1_000_000
"""Nodes that are looked at for subplans that nothing names: their number could be the square of the
plan's nodes."""
GATHERS = frozenset({"Gather", "Gather Merge"})
Group = Sequence[PlanNode]


def gathers_above(plan: ExplainedPlan) -> dict[int, int]:
    """For each node whose work is shared with workers: the Gather above it. InitPlans printed at a
    Gather are executed by the leader before the workers start."""
    gathered: dict[int, int] = {}
    for node in plan.nodes:
        if node.parent is None:
            continue
        above = plan.nodes[node.parent]
        if above.kind in GATHERS and node.relationship != "InitPlan":
            gathered[node.number] = above.number
        elif above.number in gathered:
            gathered[node.number] = gathered[above.number]
    return gathered


def is_subplan(node: PlanNode) -> bool:
    """Whether the node is the root of an InitPlan, SubPlan or CTE."""
    return node.relationship in SUBPLANS and node.parent is not None


class Consumers:
    """Who may have waited for the subplans of a plan; a node is looked at once for all of them."""

    def __init__(self, plan: ExplainedPlan, gathered: Mapping[int, int]) -> None:
        self._plan = plan
        self._gathered = gathered
        self._looks = MOST_LOOKS

    def likely(self, subplan: PlanNode) -> tuple[Group, ...]:
        """Groups of nodes that may have waited for a subplan, the most probable group first."""
        if subplan.subplan.startswith(CTE):
            return (self._readers.get(subplan.number, ()),)
        own = (self._plan.nodes[subplan.parent or 0],)  # a subplan is never the root
        users = self._named_in(self._uses, subplan, appends=True)
        if subplan.relationship == "SubPlan":
            return (own, users)
        return (self._evaluating(subplan), users, own)

    def around(self, subplan: PlanNode) -> Group:
        """All nodes below the one where it is printed, for those whose text does not name it; none
        any more where a plan with very many subplans has used up what may be looked at."""
        nodes = self._plan.below(subplan.parent or 0)
        self._looks -= len(nodes)
        if subplan.subplan.startswith(CTE) or self._looks < 0:
            return ()
        return tuple(self._outside(subplan, nodes))

    def _outside(self, subplan: PlanNode, nodes: Iterable[PlanNode]) -> Iterator[PlanNode]:
        inside = range(subplan.number, self._plan.ends[subplan.number])
        return (node for node in nodes if node.number not in inside)

    def _evaluating(self, subplan: PlanNode) -> Group:
        """Gathers that evaluate an InitPlan before their workers start, for the nodes below them.

        From 11 to 16 they say so (``Params Evaluated``). Since 17 they do not, and still do so for
        every InitPlan that is printed at them or above and used below them."""
        numbers = {node.number for node in self._named_in(self._evaluations, subplan)}
        for user in self._named_in(self._uses, subplan):
            gather = self._gathered.get(user.number)
            while gather is not None and gather >= (subplan.parent or 0):
                numbers.add(gather)
                gather = self._gathered.get(gather)
        return tuple(self._plan.nodes[number] for number in sorted(numbers))

    def _named_in(
        self, texts: dict[str, list[int]], subplan: PlanNode, *, appends: bool = False
    ) -> Group:
        """Nodes whose texts name the subplan, and the Appends above, which prune by it."""
        nodes = self._plan.nodes
        naming = (nodes[number] for name in _names(subplan) for number in texts.get(name, ()))
        outside = {node.number for node in self._outside(subplan, naming)}
        if appends:
            parents = {nodes[number].parent for number in outside}
            outside |= {
                parent for parent in parents if parent is not None and nodes[parent].kind in APPENDS
            }
        return tuple(self._outside(subplan, (nodes[number] for number in sorted(outside))))

    @cached_property
    def _uses(self) -> dict[str, list[int]]:
        """By a subplan's name or parameter: the nodes that have it in an expression."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for node in self._plan.nodes:
            for name in {use for text in _texts(node) for use in _USE.findall(text)}:
                numbers[name].append(node.number)
        return numbers

    @cached_property
    def _evaluations(self) -> dict[str, list[int]]:
        """Gathers by the subplan or parameter that they evaluate before their workers start."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for node in self._plan.nodes:
            for key, value in node.details:
                if key == "Params Evaluated" and isinstance(value, list):
                    for name in {use for text in value for use in _USE.findall(str(text))}:
                        numbers[name].append(node.number)
        return numbers

    @cached_property
    def _readers(self) -> dict[int, list[PlanNode]]:
        """By the number of a CTE's subplan: the nodes that scan it."""
        readers: dict[int, list[PlanNode]] = defaultdict(list)
        for node in self._plan.nodes:
            if node.kind == "CTE Scan":
                read = self._cte_read_by(node)
                if read is not None:
                    readers[read].append(node)
        return readers

    @cached_property
    def _ctes(self) -> dict[str, dict[int, list[int]]]:
        """By name, and by the node where they are printed: the CTEs' subplans."""
        ctes: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for node in self._plan.nodes:
            if is_subplan(node) and node.subplan.startswith(CTE):
                ctes[node.subplan.removeprefix(CTE)][node.parent or 0].append(node.number)
        return ctes

    def _cte_read_by(self, scan: PlanNode) -> int | None:
        """The CTE of that name in the innermost query around the scan, as SQL finds it.

        Where PostgreSQL left a subquery's own node out, the CTEs of two queries are printed at one
        node, the outer query's first: the main part reads the last one, a CTE one before itself.
        """
        ctes = self._ctes.get(scan.relation, {})
        below: int | None = None
        above: int | None = scan.number
        while above is not None and ctes:
            printed = [number for number in ctes.get(above, ()) if number != below]
            if printed:
                inside = below is not None and is_subplan(self._plan.nodes[below])
                before = [number for number in printed if below is not None and number < below]
                return (before[-1] if before else printed[0]) if inside else printed[-1]
            below, above = above, self._plan.nodes[above].parent
        return None


def _names(subplan: PlanNode) -> list[str]:
    """How expressions can name it."""
    match = _RETURNS.match(subplan.subplan)
    if match is None:
        return [subplan.subplan]
    return [*match["parameters"].split(","), match["name"]]


def _texts(node: PlanNode) -> Iterator[str]:
    for _, value in node.details:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (text for text in value if isinstance(text, str))
