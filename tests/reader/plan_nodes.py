"""What a recorded plan holds of each of its nodes: rows, blocks, and the time that it used itself.

Times are exclusive: a node's own are those of all its processes without those of the nodes below,
of which a Gather waits for the leader's part alone.
"""

from __future__ import annotations

import base64
import itertools
import json
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from teiten.kinds.queries.claims.of_workers import WorkersByRule
from teiten.model.plan import PlannedTrial
from tests.reader.campaign import Campaign

Path = tuple[str, ...]
SHOWN = 6
"""Plans that a report names before it counts the others."""
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


# --- workers -----------------------------------------------------------------------------------


def threefold(pages: int, least: int) -> int:
    """One worker from the least size on, one more for each threefold size."""
    workers = 0
    while pages >= least:
        workers, least = workers + 1, least * 3
    return workers


@dataclass(frozen=True)
class Seen:
    """An executed plan, with the sizes and the limits of its server."""

    plan: dict[str, Any]
    sizes: dict[str, dict[str, Any]]
    planner: dict[str, str] | None

    @property
    def gathers(self) -> list[dict[str, Any]]:
        """Those with the most workers first."""
        found = [one for one in nodes(self.plan["Plan"]) if one["Node Type"].startswith("Gather")]
        return sorted(found, key=lambda one: -one["Workers Planned"])

    @property
    def launched(self) -> int:
        return int(self.gathers[0].get("Workers Launched", 0)) if self.gathers else 0

    @property
    def permitted(self) -> int:
        assert self.planner is not None
        names = ("max_parallel_workers_per_gather", "max_parallel_workers", "max_worker_processes")
        return min(int(self.planner[name]) for name in names)

    def by_rule(self, rule: WorkersByRule) -> int | None:
        """Workers that the rule gives; None where it takes what was not recorded."""
        if self.planner is None:
            return None
        if not rule.relation:
            return next(iter(self.by_first_scan()), None)
        if rule.rule.value == "partitions":
            return self._by_partitions(rule.relation)
        return self._by_size(rule.relation)

    @property
    def expected(self) -> set[int]:
        """Workers that the rules give to the first Gather, of which the parameters permit so many."""
        if self.planner is None:
            return set()
        limit = int(self.planner["max_parallel_workers_per_gather"])
        return {min(workers, limit) for workers in self.by_first_scan() if workers is not None}

    def _by_partitions(self, parent: str) -> int | None:
        parts = [size for size in self.sizes.values() if size["parent"] == parent]
        tables = [part for part in parts if part["kind"] == "r"]
        return len(tables).bit_length() if tables else None

    def by_first_scan(self) -> tuple[int | None, ...]:
        """Workers by the size of the table or index that the first process reads first, and by the
        partitions beside it."""
        if not self.gathers:
            return ()
        node, members = self.gathers[0], 0
        while "Relation Name" not in node:
            if node["Node Type"].endswith("Append"):
                members = len(node["Plans"]) + int(node.get("Subplans Removed", 0))
            node = next(one for one in node["Plans"] if one["Parent Relationship"] != "Inner")
        by_size = self._by_size(node.get("Index Name") or node["Relation Name"])
        if not members:
            return (by_size,)
        parent = self.sizes.get(node["Relation Name"], {}).get("parent")
        known = self._by_partitions(parent) if parent else None
        return by_size, members.bit_length() if known is None else known

    def _by_size(self, name: str) -> int | None:
        known = self.sizes.get(name)
        if known is None or not known["pages"] or self.planner is None:
            return None
        of = "index" if known["kind"] == "i" else "table"
        return threefold(known["pages"], int(self.planner[f"min_parallel_{of}_scan_size"]))


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from nodes(below)


def recorded(campaign: Campaign, planned: Sequence[PlannedTrial]) -> list[Seen]:
    """The plans of those of the trials that count."""
    sizes = {
        event.detail["fingerprint"]: {each["name"]: each for each in event.detail["relations"]}
        for event in campaign.events
        if event.kind == "relations"
    }
    found = []
    for trial in planned:
        facts = getattr(campaign.counted.get(trial.number), "facts", {})
        if "plan" in facts:
            document = json.loads(zlib.decompress(base64.b64decode(facts["plan"])))
            known = sizes.get(trial.template.fingerprint, {})
            found.append(Seen(document[0], known, facts.get("planner")))
    return found


def executed(campaign: Campaign, planned: Sequence[PlannedTrial]) -> list[Seen]:
    return [seen for seen in recorded(campaign, planned) if "Execution Time" in seen.plan]


def named_workers(campaign: Campaign) -> Iterator[tuple[str, float]]:
    """Workers planned, launched and by the rule, by the texts that tell them."""
    for workload in campaign.workloads():
        cells: dict[object, list[PlannedTrial]] = defaultdict(list)
        for trial in campaign.planned(workload.name):
            cells[trial.cell].append(trial)
        every = [recorded(campaign, planned) for planned in cells.values()]
        yield from _counts_of_plans(every)
        for seen in itertools.chain.from_iterable(every):
            # at the most those of two plans without a node in common
            count = len(list(nodes(seen.plan["Plan"])))
            yield from (("plan-table.nodes-note count", at) for at in range(count, 2 * count + 2))
            yield from _workers_of(seen)


def _counts_of_plans(every: Sequence[Sequence[Seen]]) -> Iterator[tuple[str, float]]:
    """How many parallel plans of a workload there are, are as the rule expects, and got fewer."""
    typical = []
    for plans in every:
        ran = [seen for seen in plans if "Execution Time" in seen.plan]
        typical += (ran or list(plans))[:1]
    parallel = [seen for seen in typical if seen.gathers]
    known = [seen for seen in parallel if seen.expected]
    differ = [seen for seen in known if seen.gathers[0]["Workers Planned"] not in seen.expected]
    gathers = [seen.gathers[0] for seen in parallel]
    starved = [
        each for each in gathers if each.get("Workers Launched", 99) < each["Workers Planned"]
    ]
    for text in ("all-follow.one", "all-follow.many", "some-follow"):
        yield f"workers.{text} count", len(known)
    yield "workers.some-follow of", len(parallel)
    yield "workers.more-differ of", len(known)
    yield "workers.more-differ count", len(differ) - SHOWN
    yield "workers.more-starved count", len(starved) - SHOWN


def _workers_of(seen: Seen) -> Iterator[tuple[str, float]]:
    for gather in seen.gathers:
        planned, launched = gather["Workers Planned"], gather.get("Workers Launched", 0)
        for text in ("differs", "starved", "limited"):
            yield f"workers.{text} planned", planned
        for text in ("starved", "limited"):
            yield f"workers.{text} launched", launched
        for side in ("old", "new"):
            for text in ("launched", "planned"):
                yield f"plan-change.workers-changed.{text} {side}_planned", planned
            yield f"plan-change.workers-changed.launched {side}_launched", launched
    yield from _by_rule(seen)


def _by_rule(seen: Seen) -> Iterator[tuple[str, float]]:
    """What the rules give to the first Gather of a plan, and what its server permits."""
    for workers in seen.by_first_scan():
        if workers is not None:
            yield "table.sweep.source workers", workers
    for expected in seen.expected:
        yield "workers.differs expected", expected
        for number in ("one", "many"):
            yield f"workers.fewer.{number} count", expected
            yield f"workers.fewer.{number} old_planned", expected
    if seen.planner is not None:
        limits = (seen.planner[name] for name in ("max_parallel_workers", "max_worker_processes"))
        yield "workers.limited limit", min(map(int, limits))
