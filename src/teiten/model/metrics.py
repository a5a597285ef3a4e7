"""Metrics: their type, and those that trials of every kind have; a kind has its own (``kinds``).

Latencies are stored in seconds, sizes in bytes, CPU as shares of all cores (0 to 1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


RATE = "tps"
"""The unit of throughput."""


@dataclass(frozen=True)
class Metric:
    """A number that each trial has one of. ``unit``: tps, s, B, 1 (a count or a share), B/s."""

    name: str
    unit: str
    better: Better = Better.NEITHER
    judged: bool = False
    """The question is about this metric; each kind of workload has one such."""
    exceeded: str = ""
    """The metric that a trial has instead where it was cut off at a limit: that limit."""

    @property
    def is_throughput(self) -> bool:
        """The question is about how much is done, which needs no further word."""
        return self.judged and self.unit == RATE


_FIRST_NODE = 1
_OF_NODE = re.compile(r"^node_(\d+)_")


def of_node(node: int, name: str) -> str:
    """The name of a metric of another node than the first."""
    return f"node_{node}_{name}"


def of_any_node(name: str) -> str:
    """The name of a metric without the node that it is of."""
    return _OF_NODE.sub("", name)


def by_node(metrics: Mapping[str, float], name: str) -> dict[int, float]:
    """A metric of each node that has it, by the node's number. What nodes share, such as their
    machine's disks, the first of them has alone."""
    values = {_FIRST_NODE: metrics[name]} if name in metrics else {}
    for metric, value in metrics.items():
        node = _OF_NODE.match(metric)
        if node is not None and metric == of_node(int(node[1]), name):
            values[int(node[1])] = value
    return values


def total_of_nodes(metrics: Mapping[str, float], name: str) -> float:
    """The sum over all nodes of a trial; NaN where none has it."""
    values = by_node(metrics, name).values()
    return math.fsum(values) if values else math.nan


def with_wal_per_transaction(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics of a trial, and what all its servers wrote to their WAL for a transaction."""
    written = total_of_nodes(metrics, WAL_BYTES.name)
    transactions = metrics.get(TRANSACTIONS.name, 0.0)
    if not transactions > 0 or not math.isfinite(written):
        return dict(metrics)
    return {**metrics, WAL_PER_TRANSACTION.name: written / transactions}


MEASURED_SECONDS = Metric("measured_seconds", "s")
TRANSACTIONS = Metric("transactions", "1")
"""Those that ended in the measured time, of kinds that count them."""

WAL_BYTES = Metric("wal_bytes", "B")
WAL_PER_TRANSACTION = Metric("wal_bytes_per_transaction", "B")
STORAGE_READ = Metric("storage_read_bytes_per_transaction", "B")
STORAGE_WRITTEN = Metric("storage_written_bytes_per_transaction", "B")
"""From and to all storage classes together, where a placement says on which each part lies."""
SERVER_CPU = "server_cpu_share"
CPU_PER_TRANSACTION = Metric("server_cpu_per_transaction", "s", Better.LOWER)
"""Processor time of the postmaster and all its processes per transaction, of a server that
Teiten started and that is loaded in paired transactions. It needs no quiet machine, and no wait is
in it."""
VISIBLE_PAGES = Metric("visible_pages_share", "1")
"""Pages known to be visible before the trial, of all; where the layout says how many."""
STATE_OF_TABLES = (
    Metric("dead_rows_share", "1"),
    VISIBLE_PAGES,
    Metric("oldest_transaction_age", "1"),
    Metric("known_rows_share", "1"),
    Metric("analysed_tables_share", "1"),
    Metric("upgraded_tables_share", "1"),
)
"""By what the state of tables is known before the trial: dead rows of all; transactions since the
oldest one that is open began; rows that the planner's figures say, of those there are; tables with
statistics, of those with rows; tables that pg_upgrade brought along."""

PARTICIPANTS = Metric("participants", "1")
"""The mean number of nodes on which a transaction that changed something was committed, in a trial
on several nodes."""
NODE_COMMITS = "commits"
"""Transactions that changed something on a node (``of_node``)."""
NODE_PREPARED = "prepared"
"""Transactions of a node that are prepared at the end, and neither committed nor rolled back."""

_CPU_SHARES = tuple(
    f"cpu_{state}_share" for state in ("user", "system", "iowait", "steal", "idle", "other")
)
OF_THE_MACHINE: tuple[Metric, ...] = (
    MEASURED_SECONDS,
    *(Metric(name, "1") for name in (*_CPU_SHARES, SERVER_CPU)),
    CPU_PER_TRANSACTION,
    *(Metric(name, "1") for name in ("pgbench_cpu_share", "teiten_cpu_share", "context_switches")),
    *(
        Metric(f"client_{name}", "1")
        for name in (*_CPU_SHARES, "pgbench_cpu_share", "context_switches")
    ),
    *(Metric(f"disk_{done}_bytes", "B") for done in ("read", "written")),
    Metric("own_cpu_share", "1"),
    *(
        Metric(f"own_{what}_bytes", "B")
        for what in ("memory", "page_cache", "disk_read", "disk_written", "received", "sent")
    ),
    WAL_BYTES,
    WAL_PER_TRANSACTION,
    STORAGE_READ,
    STORAGE_WRITTEN,
    *(Metric(f"wal_{what}", "1") for what in ("records", "full_page_images", "syncs")),
    Metric("checkpoints", "1"),
    *STATE_OF_TABLES,
    PARTICIPANTS,
    *(Metric(f"blocks_{how}", "1") for how in ("hit", "read")),
    *(
        Metric(f"buffers_written_by_{whom}", "1")
        for whom in ("backends", "checkpointer", "bgwriter")
    ),
)
SHARED_BY_SIDES = (
    *_CPU_SHARES,
    "pgbench_cpu_share",
    "teiten_cpu_share",
    "context_switches",
    "disk_read_bytes",
    "disk_written_bytes",
)
"""Numbers of a trial that are of all sides, where these are under load in the same seconds."""
CPU_USERS = (SERVER_CPU, "pgbench_cpu_share", "teiten_cpu_share", "cpu_other_share")
"""Who used the processors: server, load generator, Teiten, others."""
