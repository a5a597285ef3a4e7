"""Resources used by servers of a trial, the coordinator apart from those that hold the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from teiten.analysis.model.explain_use import BLOCK
from teiten.model.metrics import MEASURED_SECONDS, NODE_COMMITS, NODE_PREPARED, of_node
from teiten.model.plan import FIRST, Node
from teiten.model.units import Bytes

PLAIN = 0
Metrics = Mapping[str, float]


class ServerRole(StrEnum):
    PLAIN = "plain"
    """PostgreSQL by itself."""
    COORDINATOR = "coordinator"
    NODE = "node"
    """Holds rows."""


@dataclass(frozen=True)
class RoleUse:
    """Resources that one server of a role used, in the mean of those; medians of trials, None where
    not counted."""

    role: ServerRole
    cpu_share: float | None
    """CPU time, as a share of all processors of the machine."""
    memory: float | None
    """Bytes, page cache among them."""
    buffer_hits: float | None
    """Blocks found in shared buffers, by all that were asked for."""
    cache_hits: float | None
    """Blocks found in the page cache, by all that were not in shared buffers."""
    in_memory: float | None
    """Blocks found in either, by all that were asked for."""
    disk_read: float | None
    """Bytes per second, as all that follow in bytes."""
    disk_written: float | None
    syncs: float | None
    """WAL made durable, per second."""
    received: float | None
    sent: float | None
    commits: float | None
    """Per second, of transactions that changed something."""
    prepared: float | None
    """Transactions that were left prepared."""


def uses_of(nodes: int, holders: Sequence[Node], trials: Sequence[Metrics]) -> tuple[RoleUse, ...]:
    """Compute what each role used in trials on so many nodes, of which ``holders`` hold the rows; 0
    is PostgreSQL by itself. A coordinator that holds rows is one of the nodes."""
    if nodes == PLAIN:
        return (_use(ServerRole.PLAIN, (FIRST,), trials),)
    of_nodes = _use(ServerRole.NODE, holders, trials)
    if FIRST in holders:
        return (of_nodes,)
    return _use(ServerRole.COORDINATOR, (FIRST,), trials), of_nodes


def _use(role: ServerRole, servers: Sequence[Node], trials: Sequence[Metrics]) -> RoleUse:
    def of_trials(number: Callable[[Metrics], float | None]) -> float | None:
        known = [one for one in map(number, trials) if one is not None and math.isfinite(one)]
        return median(known) if known else None

    def mean(name: str) -> float | None:
        return of_trials(lambda one: mean_of(one, servers, name))

    def rate(name: str) -> float | None:
        return of_trials(lambda one: per_second(one, servers, name))

    return RoleUse(
        role=role,
        cpu_share=mean("own_cpu_share"),
        memory=mean("own_memory_bytes"),
        buffer_hits=of_trials(lambda one: buffer_hits(one, servers)),
        cache_hits=of_trials(lambda one: cache_hits(one, servers)),
        in_memory=of_trials(lambda one: in_memory(one, servers)),
        disk_read=rate("own_disk_read_bytes"),
        disk_written=rate("own_disk_written_bytes"),
        syncs=rate("wal_syncs"),
        received=rate("own_received_bytes"),
        sent=rate("own_sent_bytes"),
        commits=rate(NODE_COMMITS),
        prepared=mean(NODE_PREPARED),
    )


def each_of(metrics: Metrics, servers: Sequence[Node], name: str) -> list[float] | None:
    """Find a metric of each server; None where one of them lacks it."""
    names = [name if node == FIRST else of_node(node, name) for node in servers]
    known = [metrics[name] for name in names if name in metrics]
    return known if len(known) == len(names) else None


def mean_of(metrics: Metrics, servers: Sequence[Node], name: str) -> float | None:
    found = each_of(metrics, servers, name)
    return None if found is None else math.fsum(found) / len(found)


def per_second(metrics: Metrics, servers: Sequence[Node], name: str) -> float | None:
    """Compute a metric per second of one server, in the mean."""
    found, seconds = mean_of(metrics, servers, name), metrics.get(MEASURED_SECONDS.name, 0.0)
    return None if found is None or seconds <= 0 else found / seconds


def buffer_hits(metrics: Metrics, servers: Sequence[Node]) -> float | None:
    hit, read = _sum(metrics, servers, "blocks_hit"), _sum(metrics, servers, "blocks_read")
    return None if hit is None or read is None or hit + read == 0 else hit / (hit + read)


def cache_hits(metrics: Metrics, servers: Sequence[Node]) -> float | None:
    """By the bytes that came from storage, which reading ahead and writing partly make more."""
    asked, read = _asked_and_read(metrics, servers)
    return None if asked is None or read is None or asked == 0 else max(0.0, 1 - read / asked)


def in_memory(metrics: Metrics, servers: Sequence[Node]) -> float | None:
    asked, read = _asked_and_read(metrics, servers)
    hit = _sum(metrics, servers, "blocks_hit")
    if asked is None or read is None or hit is None:
        return None
    total = asked + hit * BLOCK
    return max(0.0, 1 - read / total) if total > 0 else None


def _asked_and_read(metrics: Metrics, servers: Sequence[Node]) -> tuple[Bytes | None, float | None]:
    """Bytes that the servers asked of the kernel, and those that came from storage."""
    blocks = _sum(metrics, servers, "blocks_read")
    asked = None if blocks is None else Bytes(int(blocks) * BLOCK)
    return asked, _sum(metrics, servers, "own_disk_read_bytes")


def _sum(metrics: Metrics, servers: Sequence[Node], name: str) -> float | None:
    found = each_of(metrics, servers, name)
    return None if found is None else math.fsum(found)
