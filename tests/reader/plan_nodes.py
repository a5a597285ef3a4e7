"""What a recorded plan holds of each of its nodes: rows, blocks, and the time that it used itself.

Times are exclusive: a node's own are those of all its processes without those of the nodes below,
of which a Gather waits for the leader's part alone.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from teiten.kinds.queries.claims.of_plans import WorkersByRule
from teiten.model.plan import PlannedTrial
from tests.reader.campaign import Campaign
from tests.reader.document import Table
from tests.reader.language import Language, Printed, printed
from tests.reader.relations import number
from tests.reader.texts import phrase

Path = tuple[str, ...]
SHOWN = 6
"""Plans that a report names before it counts the others."""
Held = Mapping[Path, Sequence[float]]
"""The numbers of a trial."""
OF_TYPES = {
    "nodes-column": "nodes",
    "worker-loops": "worker loops",
    "error": "off",
    **{key: key for key in ("never", "loops", "leader", "workers", "share", "rows", "hit", "read")},
}
"""By the columns of a table by node type, which number of the nodes they have."""
OF_WHOLE = {
    "workers-time": "workers",
    "blocks": "touched",
    "blocks-read": "read",
    **{key: key for key in ("execution", "planning", "cost", "leader", "pruned")},
}
"""The same of the rows of a table of whole plans."""
BLOCKS = {"hit": "Shared Hit Blocks", "read": "Shared Read Blocks"}


@dataclass
class Node:
    """A node with what it used itself, in seconds and blocks."""

    kind: str
    printed: Mapping[str, Any]
    below: list[Node] = field(default_factory=list)
    among: int = 1
    """How many processes shared its time, where the plan does not tell of each."""

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
        return float(sum(each)) / 1000 or self.whole * (1 - 1 / self.among)

    @property
    def whole(self) -> float:
        return float(self.printed.get("Actual Total Time", 0.0)) * self.loops / 1000

    @property
    def leader(self) -> float:
        return max(0.0, self.whole - self.workers)

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


def node_of(printed: Mapping[str, Any], among: int = 1) -> Node:
    kind, plans = str(printed.get("Node Type", "")), printed.get("Plans", ())
    here = among
    if kind.startswith("Gather") and plans:
        hides = not any(each.get("Workers") for each in nodes({"Plans": plans}))
        shared = plans[0].get("Actual Loops", 0) > printed.get("Actual Loops", 0)
        here = 1 + printed.get("Workers Launched", 0) * (hides and shared)
    return Node(kind, printed, [node_of(each, here) for each in plans], among)


def every_node(node: Node) -> Iterator[Node]:
    yield node
    for each in node.below:
        yield from every_node(each)


def numbers_of_plan(plans: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Path, float]]:
    """Every number of the first plan: by node type, of all nodes together, of scans by the number
    of workers that had a part in them; of a plan that its time limit ended what was planned."""
    for document in plans[:1]:
        nodes = list(every_node(node_of(document["Plan"])))
        yield ("whole", "cost"), float(document["Plan"].get("Total Cost", 0.0))
        yield from ((("type", node.kind), 1.0) for node in nodes)
        for name in ("planned", "launched"):
            yield ("whole", name), sum(node.own()[name] for node in nodes)
        if "Execution Time" not in document:
            continue
        yield ("plan", "execution"), document["Execution Time"] / 1000
        yield ("plan", "planning"), document.get("Planning Time", 0.0) / 1000
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
            if name in {"seconds", "rows"}:
                yield ("each", node.kind, name), value
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


# --- tables of plans ----------------------------------------------------------------------------


def _agrees(text: str, values: Iterable[float]) -> bool:
    said = number(text)
    if said is not None and said.bound:
        return text.replace(" ", "") == "<1%"
    return said is None or any(said.is_of(value) for value in values)


def _is_by_type(language: Language, table: Table, at: int, held: Held) -> bool:
    names = {phrase(language, f"plan-table.{key}"): name for key, name in OF_TYPES.items()}
    place = table.column(phrase(language, "plan-table.share")) or 0
    shares = [printed(row[place]).value for row in table.rows if re.search(r"\d", row[place])]
    if place and shares and abs(math.fsum(shares) - 100) > len(shares):
        return False
    for row in table.rows:
        for heading, text in zip(table.columns, row, strict=True):
            name = names.get(heading, "")
            is_nothing = name == "loops" or ("plan", "execution") not in held
            values = held.get(("node", row[0], name), (0.0,) * is_nothing)
            if name == "nodes":
                values = [len(held.get(("type", row[0]), ()))]
            if values and not _agrees(text, values):
                return False
    return ("whole", "cost") in held


def _is_by_workers(language: Language, table: Table, at: int, held: Held) -> bool:
    """Whether as many scans had so many workers, and took so long: together or each process."""
    for workers, *sides in table.rows:
        times = held.get(("scan", workers, "seconds"), ())
        scans, mean = sides[2 * at : 2 * at + 2]
        means = [fmean(times) / processes for processes in (1, 1 + int(workers)) if times]
        if scans != str(len(times) or "—") or not _agrees(mean, means):
            return False
    return True


def _is_whole(language: Language, table: Table, at: int, held: Held) -> bool:
    names = {phrase(language, f"plan-fact.{key}"): name for key, name in OF_WHOLE.items()}
    workers = phrase(language, "plan-fact.workers")
    for row in table.rows:
        name, text = names.get(row[0], ""), row[at + 1]
        values = held.get(("plan", name)) or held.get(("whole", name), ())
        if name and not _agrees(text, values):
            return False
        if row[0] == workers and "whole" in {path[0] for path in held}:
            both = (held["whole", of][0] for of in ("launched", "planned"))
            if text != " / ".join(f"{each:.0f}" for each in both):
                return False
    return True


def _is_side_by_side(language: Language, table: Table, at: int, held: Held) -> bool:
    """Whether the executed nodes, the time and the share of each type are a side's."""
    for row in table.rows:
        nodes, *cells = row[1 + 3 * at : 4 + 3 * at]
        ran = [len(held.get(("type", row[0]), ())) - sum(held.get(("node", row[0], "never"), ()))]
        known = (held.get(("node", row[0], name), ()) for name in ("seconds", "share"))
        of_row = zip((nodes, *cells), (ran, *known), strict=True)
        if not all(_agrees(cell, values) for cell, values in of_row):
            return False
    return True


def _is_node_by_node(language: Language, table: Table, at: int, held: Held) -> bool:
    """Whether each row has the time and the rows of a node of its type, or of several together."""
    kinds = sorted({path[1] for path in held if path[0] == "each"}, key=len, reverse=True)
    for row in table.rows:
        named = [kind for kind in kinds if kind in row[at]]
        if not named:
            continue
        read = [number(cell) for cell in row[2:5]]
        known = [each for each, cell in zip(read, row[2:5], strict=True) if each or cell == "—"]
        old, new, off = (each or Printed(0.0, 0.0) for each in read)
        if (
            read[2]
            and len(known) == 3
            and abs(new.value - old.value - off.value) > old.step + new.step + off.step + 1e-9
        ):
            return False
        counts = map(int, re.findall(r"(\d+) ×", row[at]))
        several = "×" in row[at] or ", " in row[at]
        times = [held["each", kind, "seconds"] for kind in (named if several else named[:1])]
        seconds = [math.fsum(map(math.fsum, times))] if several else times[0]
        rows = [value for kind in named for value in held["each", kind, "rows"]]
        if (
            not _agrees(row[at + 2], seconds)
            or not _agrees(row[at + 5], rows)
            or max(counts, default=1) > max(map(len, times))
        ):
            return False
    return True


SHOWN_PLANS: dict[str, Callable[[Language, Table, int, Held], bool]] = {
    "table.nodes.gain": _is_side_by_side,
    "table.nodes.loss": _is_side_by_side,
    "table.shared.caption": _is_by_workers,
    "plan-table.summary": _is_whole,
    "plan-table.kinds": _is_by_type,
    "plan-table.scans": _is_by_workers,
    "plan-table.nodes": _is_node_by_node,
}
"""By their captions' keys, whether a side's numbers of a table of plans are those of a trial's."""


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

    def has_workers(self, text: str) -> bool:
        """Whether ``9 → 2 / 2+1 / 2+0`` are the expected, the planned and the launched workers."""
        parts = [map(int, re.findall(r"\d+", part)) for part in text.split(" / ")]
        numbers = [sorted(filter(None, part)) for part in parts]  # a serial plan has none
        of_plan = [
            sorted(each[name] for each in self.gathers if each.get(name))
            for name in ("Workers Planned", "Workers Launched")
        ]
        by_rule = {*self.expected, *self.by_first_scan()} if self.planner else set()
        return numbers[1:] == of_plan and {*numbers[0]} <= by_rule

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
    yield "workers.(all-follow.one|all-follow.many|some-follow) count", len(known)
    yield "workers.some-follow of", len(parallel)
    yield "workers.more-differ of", len(known)
    yield "workers.more-differ count", len(differ) - SHOWN
    yield "workers.more-starved count", len(starved) - SHOWN


def _workers_of(seen: Seen) -> Iterator[tuple[str, float]]:
    for gather in seen.gathers:
        planned, launched = gather["Workers Planned"], gather.get("Workers Launched", 0)
        yield "workers.(differs|starved|limited) planned", planned
        yield "workers.(starved|limited) launched", launched
        yield "plan-change.workers-changed.(launched|planned) (old|new)_planned", planned
        yield "plan-change.workers-changed.launched (old|new)_launched", launched
    yield from _by_rule(seen)


def _by_rule(seen: Seen) -> Iterator[tuple[str, float]]:
    """What the rules give to the first Gather of a plan, and what its server permits."""
    for count in Counter(each.get("parent") for each in seen.sizes.values()).values():
        yield "worker-source.partitions count", count
    for workers in seen.by_first_scan():
        if workers is not None:
            yield "table.sweep.source.(one|many) workers", workers
    for expected in seen.expected:
        yield "workers.differs expected", expected
        yield "workers.fewer.(one|many) (count|old_planned)", expected
    if seen.planner is not None:
        limits = (seen.planner[name] for name in ("max_parallel_workers", "max_worker_processes"))
        yield "workers.limited limit", min(map(int, limits))
