"""Use of workers, blocks and partitions by an executed plan.

Times are in seconds, sizes in blocks of the server.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.observations import Context
from teiten.model.units import Seconds

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
