"""Execution plans as EXPLAIN (FORMAT JSON) gives them, what the analysis finds in them, and their
use of workers, blocks and partitions.

Times are in seconds over all loops, not PostgreSQL's milliseconds per loop; sizes in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from teiten.model.plan import Context
from teiten.model.units import Seconds

LEADER = -1
"""The process that answers the client, beside the workers' numbers from 0."""

HIT = "shared_hit"
READ = "shared_read"
BUFFERS = (
    HIT,
    READ,
    "shared_dirtied",
    "shared_written",
    "local_hit",
    "local_read",
    "local_dirtied",
    "local_written",
    "temp_read",
    "temp_written",
)
"""Counters of blocks, as PostgreSQL names them."""
APPENDS = frozenset({"Append", "Merge Append"})


@dataclass(frozen=True)
class PlanNode:
    """A node of a plan."""

    number: int
    """From 0, in the order in which EXPLAIN prints the nodes; the index in ``ExplainedPlan``."""
    parent: int | None
    """The node below which EXPLAIN prints it."""
    kind: str
    """PostgreSQL's node type, with its strategy where that makes another algorithm of it:
    ``Seq Scan`` (also where ``parallel_aware``), ``HashAggregate``."""
    relationship: str
    """Outer, Inner, Member, Subquery, InitPlan, SubPlan; empty for the root."""
    subplan: str
    """``CTE x``, ``InitPlan 1``, ``SubPlan 2``; empty for other nodes."""
    relation: str
    """The table, function or CTE that is read, without its schema; empty for other nodes."""
    alias: str
    index: str
    join: str
    """Inner, Left, Full, Right, Semi, Anti; empty for other nodes."""
    operation: str
    """Insert, Update, Delete, Merge; empty for other nodes."""
    parallel_aware: bool
    partial: str
    """Partial, Finalize; empty for other nodes."""
    planned_rows: float | None
    """Rows that the planner expected of one loop; None without costs."""
    planned_cost: float | None
    rows: float | None
    """Mean rows of one loop; None where it was not executed with ANALYZE."""
    loops: int | None
    """Executions in all processes; 0: never executed; None without ANALYZE."""
    own_loops: dict[int, int]
    """By process (LEADER, or a worker's number); without workers' figures only LEADER's."""
    seconds: dict[int, float] | None
    """Inclusive time by process; None without ANALYZE or with TIMING off."""
    rounding: float
    """By how many seconds the time over all loops can be wrong, for it is printed per loop."""
    buffers: dict[str, int]
    """Inclusive blocks of all processes, by counter; empty without BUFFERS."""
    io_seconds: float
    """Inclusive, of all reads and writes; 0 without track_io_timing."""
    workers_planned: int | None
    workers_launched: int | None
    subplans_removed: int
    """Children that runtime pruning left out before the first row."""
    details: tuple[tuple[str, Any], ...]
    """Everything else that EXPLAIN says of the node: conditions, sort method, batches, output."""

    @property
    def name(self) -> str:
        """The node's line as EXPLAIN in text begins it, without its costs."""
        parallel = "Parallel" if self.parallel_aware else ""
        kind = _joined(self) if self.join and self.join != "Inner" else self.kind
        words = [self.partial, parallel, kind]
        if self.operation:
            words.append(self.operation)
        if self.index:
            words += ["using" if self.relation else "on", self.index]
        if self.relation:
            words += ["on", self.relation]
            if self.alias and self.alias != self.relation:
                words.append(self.alias)
        elif self.alias:
            words += ["on", self.alias]
        return " ".join(word for word in words if word)

    @property
    def executed(self) -> bool:
        return bool(self.loops)

    @property
    def workers(self) -> int:
        """Workers that executed the node."""
        return sum(1 for process, loops in self.own_loops.items() if process != LEADER and loops)

    @property
    def total_rows(self) -> float | None:
        """Over all loops."""
        return None if self.rows is None or self.loops is None else self.rows * self.loops


def _joined(node: PlanNode) -> str:
    if node.kind == "Nested Loop":
        return f"Nested Loop {node.join} Join"
    return f"{node.kind.removesuffix(' Join')} {node.join} Join"


@dataclass(frozen=True)
class Trigger:
    """A trigger's time; of an AFTER trigger it is not part of any node's."""

    name: str
    relation: str
    seconds: float
    calls: int


@dataclass(frozen=True)
class ExplainedPlan:
    """One EXPLAIN (FORMAT JSON)."""

    nodes: tuple[PlanNode, ...]
    """Nodes as EXPLAIN prints them: the root first, behind each node those below it."""
    planning: Seconds | None
    execution: Seconds | None
    """The whole execution, triggers and JIT included; None without ANALYZE."""
    triggers: tuple[Trigger, ...] = ()
    jit: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """Parameters that differ from their defaults (EXPLAIN SETTINGS)."""
    query: str = ""
    """Text of the query, where auto_explain gives it."""
    document: Any = None
    """The JSON from which it was read, for a viewer."""

    @property
    def root(self) -> PlanNode:
        return self.nodes[0]

    @property
    def analysed(self) -> bool:
        """Whether it was executed (EXPLAIN ANALYZE)."""
        return self.root.loops is not None

    @property
    def timed(self) -> bool:
        return self.root.seconds is not None

    def children(self, number: int) -> Sequence[PlanNode]:
        return self._children[number]

    def members(self, number: int) -> Sequence[PlanNode]:
        """The children of an Append whose rows it gives one after the other."""
        return [child for child in self.children(number) if child.relationship == "Member"]

    def pruned(self, node: PlanNode) -> int:
        """How many children of an Append pruning at run time left out, before or while it ran."""
        if node.kind not in APPENDS or not node.loops:
            return 0
        return node.subplans_removed + sum(child.loops == 0 for child in self.members(node.number))

    def below(self, number: int) -> Sequence[PlanNode]:
        """The node and all below it, as they are printed."""
        return self.nodes[number : self.ends[number]]

    @cached_property
    def ends(self) -> Sequence[int]:
        """For each node the number behind the last node below it."""
        ends = [node.number + 1 for node in self.nodes]
        for node in reversed(self.nodes):
            if node.parent is not None:
                ends[node.parent] = max(ends[node.parent], ends[node.number])
        return ends

    @cached_property
    def _children(self) -> Sequence[Sequence[PlanNode]]:
        children: list[list[PlanNode]] = [[] for _ in self.nodes]
        for node in self.nodes:
            if node.parent is not None:
                children[node.parent].append(node)
        return children


@dataclass(frozen=True)
class Exclusive:
    """Time, blocks and I/O of a node itself, without the nodes whose work it waited for."""

    leader: float
    """Seconds of the process that answers the client; all of a serial plan."""
    workers: float
    """Seconds of all workers together."""
    buffers: dict[str, int]
    io_seconds: float

    @property
    def seconds(self) -> float:
        """Exclusive seconds of all processes."""
        return self.leader + self.workers

    @property
    def blocks(self) -> int:
        """Blocks of tables and indexes, found in shared buffers or read."""
        return self.buffers.get(HIT, 0) + self.buffers.get(READ, 0)


@dataclass(frozen=True)
class Accounts:
    """Exclusive figures of all nodes of a plan; they sum up to ``total``."""

    nodes: tuple[Exclusive, ...]
    """By node number."""
    total: Exclusive
    """``leader``: the root's inclusive time, and that of data-modifying CTEs that the rest of the
    plan did not read to their end, which PostgreSQL executes after it."""
    leader_known: bool
    """False where a parallel plan tells nothing of its workers (EXPLAIN without VERBOSE): then
    every process is taken to have used the same time."""


@dataclass(frozen=True, kw_only=True)
class KindStatistics(Exclusive):
    """All nodes of one type in a plan (2020 §6.5.5, tables 6.30 to 6.33)."""

    kind: str
    nodes: int
    never_executed: int
    loops: int
    """Executions in all processes."""
    worker_loops: int
    share: float | None
    """Share of the exclusive time of all processes; None without timing."""
    rows: float
    """Over all loops of all nodes."""
    estimate_error: float | None
    """The largest of the nodes' factors by which the planner was wrong, 1 or more; None where
    no node of the type was executed, or without costs."""
    workers_planned: int
    workers_launched: int
    pruned: int
    """Children that partition pruning at run time left out, or never executed."""


@dataclass(frozen=True)
class PlanStatistics:
    """A plan in numbers."""

    plan: ExplainedPlan
    accounts: Accounts
    kinds: tuple[KindStatistics, ...]
    """The largest share first."""
    workers_planned: int
    workers_launched: int
    pruned: int
    scans_by_workers: tuple[tuple[int, int, float], ...]
    """Scans below a Gather: number of workers, how many scans had that many, and the mean of their
    seconds over all processes (2020, table 6.38)."""

    def own_seconds(self, numbers: Sequence[int]) -> float | None:
        """The exclusive time of nodes together; None of no nodes, and without timing."""
        if not numbers or not self.plan.timed:
            return None
        return sum(self.accounts.nodes[number].seconds for number in numbers)


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that do one work partition by partition, and the other plan's that do the same work."""

    old: tuple[int, ...]
    new: tuple[int, ...]


@dataclass(frozen=True)
class NodeChange:
    """A difference between two plans at one place.

    ``code``: scan-replaced, index-changed, join-replaced, join-sides (outer and inner exchanged),
    strategy-changed, parallel-changed, workers-changed, node-added, node-removed, pruning-changed,
    relation-changed (another partition or table under the same alias); and of groups of nodes
    partitioned, unpartitioned, partitions-changed.
    """

    code: str
    old: int | None
    """The node's number in the old plan, of a group the first one; None where it is new."""
    new: int | None
    old_seconds: float | None
    """Exclusive, of all processes and nodes; None where not timed, not there, or counted with
    another difference of the same nodes."""
    new_seconds: float | None
    group: NodeGroup | None = None
    """The nodes of both plans, where they are several."""

    @property
    def cost(self) -> float | None:
        """Seconds that the new plan's nodes take more; None where not timed."""
        if self.old_seconds is None and self.new_seconds is None:
            return None
        return (self.new_seconds or 0.0) - (self.old_seconds or 0.0)


@dataclass(frozen=True)
class PlanDifference:
    """Two plans node by node."""

    old: PlanStatistics
    new: PlanStatistics
    same_structure: bool
    """Whether both have the same nodes in the same places; costs, rows and times may differ."""
    pairs: tuple[tuple[int, int], ...]
    """Node numbers that do the same work, old and new, in the old plan's order."""
    groups: tuple[NodeGroup, ...]
    """Nodes that do the same work together, for a table has partitions in one of the plans. Every
    node is in one pair, in one group, or in one change as new or gone."""
    changes: tuple[NodeChange, ...]
    """The costliest first."""
    old_join_order: str
    """``((a ⋈ b) ⋈ c)``; empty without a join."""
    new_join_order: str

    @property
    def joins_reordered(self) -> bool:
        return self.old_join_order != self.new_join_order


@dataclass(frozen=True)
class PlanVariant:
    """One structure that repetitions of a query had."""

    fingerprint: str
    occurrences: tuple[int, ...]
    """Indexes of the repetitions, ascending."""
    execution: Seconds | None
    """The median of their execution times."""


@dataclass(frozen=True)
class PlanStability:
    """Whether repetitions of a query kept to one plan; one that flips is not averaged."""

    variants: tuple[PlanVariant, ...]
    """The most frequent first."""

    @property
    def stable(self) -> bool:
        return len(self.variants) <= 1


@dataclass(frozen=True)
class SidePlans:
    """A query's plans on one side of a contrast."""

    side: str
    stability: PlanStability
    """Structures of the plan over the counted trials, in block order."""
    typical: PlanStatistics
    """Execution of the most frequent structure that is nearest to its median."""
    executed: bool
    """False where every execution exceeded the time limit, and only the estimate is known."""


@dataclass(frozen=True)
class QueryPlans:
    """A query's plans on all sides."""

    workload: str
    context: Context
    """The levels of all factors but the contrasted one, the query among them."""
    text: str
    sides: tuple[SidePlans, ...]
    """In the order of the contrast's levels; a side without a plan is missing."""
    difference: PlanDifference | None
    """The difference from the first side to the last; None with fewer than two."""


BLOCK = 8192
"""Bytes of a block, as every server of PostgreSQL's own packages has it."""


@dataclass(frozen=True)
class WorkerLimits:
    """The parameters that bound the workers of a query."""

    per_gather: int
    """max_parallel_workers_per_gather"""
    parallel: int
    """max_parallel_workers"""
    processes: int
    """max_worker_processes"""
    table_pages: int = 1024
    """min_parallel_table_scan_size in blocks"""
    index_pages: int = 64
    """min_parallel_index_scan_size in blocks"""

    @property
    def free(self) -> int:
        """Workers that can run at the same time."""
        return min(self.parallel, self.processes)


class WorkerRule(StrEnum):
    """Rules that decide how many workers the planner plans."""

    TABLE = "table"
    """The size of the table that is scanned in parallel: one worker from
    min_parallel_table_scan_size on, one more for each threefold size."""
    INDEX = "index"
    """The size of the index that is scanned in parallel, as for a table, but from
    min_parallel_index_scan_size on."""
    PARTITIONS = "partitions"
    """The number of partitions of a Parallel Append: the bits of that number (fls)."""
    SET = "set"
    """The table's own storage parameter parallel_workers."""


@dataclass(frozen=True)
class WorkerSource:
    """The rule and the relation in a plan that decide the number of workers of a Gather."""

    rule: WorkerRule
    relation: str
    """The table or index whose size or setting decides; of partitions their parent."""
    pages: int | None
    """Its size; None where it was not recorded or does not matter."""
    members: int
    """Partitions below the Append; 0 without one."""
    workers: int
    """By the rule, before any limit."""
    at_most: bool = False
    """The planner counts the blocks that it expects to visit, which may be fewer than all."""


@dataclass(frozen=True)
class GatherWorkers:
    """The workers of one Gather or Gather Merge."""

    node: int
    planned: int
    launched: int | None
    """None where the plan was not executed."""
    source: WorkerSource | None
    """None where the plan does not tell, or a size is not known."""
    expected: int | None
    """By the rule, at most max_parallel_workers_per_gather."""

    @property
    def follows(self) -> bool | None:
        """Whether as many were planned as the rule says; None without a rule."""
        if self.expected is None or self.source is None:
            return None
        if self.source.at_most:
            return self.planned <= self.expected
        return self.planned == self.expected

    @property
    def starved(self) -> bool:
        """Fewer were launched than planned."""
        return self.launched is not None and self.launched < self.planned


@dataclass(frozen=True)
class PartitionUse:
    """Numbers of a table's partitions that a plan scanned, skipped and left out."""

    partitions: int | None
    """All of the table's; None where they were not recorded."""
    scanned: int
    """Executed at least once."""
    skipped: int
    """In the plan, but left out or never executed."""

    @property
    def pruned(self) -> int | None:
        """Left out of the plan by the planner."""
        if self.partitions is None:
            return None
        return max(0, self.partitions - self.scanned - self.skipped)


@dataclass(frozen=True)
class SharedScans:
    """Scans of partitions that as many workers had a part in."""

    workers: int
    """0: the leader alone."""
    scans: int
    seconds: Seconds
    """The mean over the scans of the mean time of a process (2020, table 6.38)."""


@dataclass(frozen=True)
class TableUse:
    """Use of a table by a query's execution on one side."""

    context: Context
    side: str
    table: str
    """Name of the table; for partitions that of their parent."""
    blocks: int | None
    """Touched in the table and its indexes, in buffers or read; None without BUFFERS."""
    partitions: PartitionUse | None
    """None of a table without partitions."""
    shared: tuple[SharedScans, ...]
    """The partitions' scans below a Gather, the most workers first."""
