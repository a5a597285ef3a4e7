"""What a recorded plan holds of each of its nodes: rows, blocks, and the time that it used itself.

Times are exclusive: a node's own are those of all its processes without those of the nodes below,
of which a Gather waits for the leader's part alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str, ...]
BLOCKS = {"hit": "Shared Hit Blocks", "read": "Shared Read Blocks"}


@dataclass
class Node:
    """A node with what it used itself, in seconds and blocks."""

    kind: str
    printed: Mapping[str, Any]
    below: list[Node] = field(default_factory=list)

    @property
    def loops(self) -> float:
        return float(self.printed.get("Actual Loops", 0))

    @property
    def of_workers(self) -> Sequence[Mapping[str, Any]]:
        return list(self.printed.get("Workers", ()))

    @property
    def workers(self) -> float:
        """Seconds of the workers, with what is below."""
        each = (
            one.get("Actual Total Time", 0.0) * one.get("Actual Loops", 0)
            for one in self.of_workers
        )
        return float(sum(each)) / 1000

    @property
    def leader(self) -> float:
        whole = self.printed.get("Actual Total Time", 0.0) * self.loops / 1000
        return max(0.0, float(whole) - self.workers)

    def blocks(self, name: str) -> float:
        return float(self.printed.get(BLOCKS[name], 0))

    def own(self) -> dict[str, float]:
        is_gather = self.kind.startswith("Gather")
        leader = self.leader - sum(each.leader for each in self.below)
        workers = self.workers - sum(each.workers for each in self.below) * (not is_gather)
        rows, planned = self.printed.get("Actual Rows"), self.printed.get("Plan Rows")
        found = {
            "nodes": 1.0,
            "loops": self.loops,
            "worker loops": float(sum(one.get("Actual Loops", 0) for one in self.of_workers)),
            "leader": max(0.0, leader),
            "workers": max(0.0, workers),
            "seconds": max(0.0, leader) + max(0.0, workers),
            "rows": float(rows or 0) * self.loops,
            "planned": float(self.printed.get("Workers Planned", 0)),
            "launched": float(self.printed.get("Workers Launched", 0)),
            "pruned": float(self.printed.get("Subplans Removed", 0)),
            "never": float(self.loops == 0),
        }
        for name in BLOCKS:
            found[name] = self.blocks(name) - sum(each.blocks(name) for each in self.below)
        found["touched"] = found["hit"] + found["read"]
        if self.loops and rows is not None and planned:
            actual, expected = max(float(rows), 1.0), max(float(planned), 1.0)
            found["off"] = max(actual / expected, expected / actual)
        return found


def node_of(printed: Mapping[str, Any]) -> Node:
    below = [node_of(each) for each in printed.get("Plans", ())]
    return Node(str(printed.get("Node Type", "")), printed, below)


def every_node(node: Node) -> Iterator[Node]:
    yield node
    for each in node.below:
        yield from every_node(each)


def numbers_of_plan(plans: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Path, float]]:
    """Every number of the first plan: by node type, of all nodes together, of scans by the number
    of workers that had a part in them; nothing of a plan that its time limit ended."""
    for document in plans[:1] if plans and "Execution Time" in plans[0] else ():
        yield ("plan", "execution"), document["Execution Time"] / 1000
        yield ("plan", "planning"), document.get("Planning Time", 0.0) / 1000
        nodes = list(every_node(node_of(document["Plan"])))
        yield from _by_type(nodes)
        for node in nodes:
            if "Scan" in node.kind and node.loops:
                yield ("scan", str(len(node.of_workers)), "seconds"), node.leader + node.workers
            table = node.printed.get("Relation Name")
            if table:
                yield ("table", str(table), "touched"), node.blocks("hit") + node.blocks("read")


def _by_type(nodes: Sequence[Node]) -> Iterator[tuple[Path, float]]:
    whole: dict[str, float] = defaultdict(float)
    kinds: dict[tuple[str, str], float] = defaultdict(float)
    for node in nodes:
        for name, value in node.own().items():
            if name == "off":
                kinds[node.kind, name] = max(kinds[node.kind, name], value)
            else:
                kinds[node.kind, name] += value
                whole[name] += value
    yield from ((("plan", name), value) for name, value in whole.items())
    for (kind, name), value in kinds.items():
        yield ("node", kind, name), value
        if name == "seconds" and whole["seconds"]:
            yield ("node", kind, "share"), value / whole["seconds"]
