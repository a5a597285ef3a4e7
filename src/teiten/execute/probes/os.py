"""The machine's counters at one moment, and what happened between two of them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.probes.procfs import (
    IDLE,
    IOWAIT,
    IRQ,
    NICE,
    SOFTIRQ,
    STEAL,
    SYSTEM,
    USER,
    CpuTicks,
    DiskCounters,
)

OWN = "own"
"""The series of what an emulated node has used itself."""
Row = dict[str, float]
"""One sample: column to value."""


@dataclass(frozen=True)
class NodeUse:
    """Use of resources by one node of a trial, emulated as a machine of its own, since some zero;
    None for what is not counted."""

    cpu_seconds: float | None = None
    memory_bytes: float | None = None
    """Now, the page cache of its files among them."""
    page_cache_bytes: float | None = None
    disk_read_bytes: float | None = None
    disk_written_bytes: float | None = None
    received_bytes: float | None = None
    """From other nodes."""
    sent_bytes: float | None = None


COUNTED_OF_NODES = ("disk_read_bytes", "disk_written_bytes", "received_bytes", "sent_bytes")
"""The fields of ``NodeUse`` that only grow, and are columns as such."""


@dataclass(frozen=True)
class OsSnapshot:
    """Counters since some zero; what a system does not count is None or missing."""

    at: float
    """Seconds of the sampler's clock."""
    cpu: CpuTicks | None = None
    cores: dict[int, CpuTicks] = field(default_factory=dict)
    ticks_per_second: float = 100.0
    online: int = 1
    context_switches: int | None = None
    run_queue: float | None = None
    memory_available: int | None = None
    page_cache: int | None = None
    disks: dict[str, DiskCounters] = field(default_factory=dict)
    network: tuple[int, int] | None = None
    """Bytes received and sent."""
    pressure: dict[str, float] = field(default_factory=dict)
    """cpu, memory, io: seconds of waiting."""
    groups: Mapping[ProcessGroup, float] = field(default_factory=dict)
    """CPU seconds; without OTHER where not all processes can be seen."""
    node: NodeUse | None = None
    """Use of resources by a node that is emulated as a machine of its own."""


class OsReader(Protocol):
    """How one kind of system is read."""

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """Sources that are not there, each with the reason."""

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """The counters now; ``pgbench``: the load generator's pid."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class OfOneServer:
    """The processor time of one server; another reader has a machine's other counters."""

    reader: OsReader

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        return ()

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Read as ``OsReader.read`` does, and keep the server's processor time alone."""
        whole = self.reader.read(at, pgbench)
        own: dict[ProcessGroup, float] = {
            group: seconds
            for group, seconds in whole.groups.items()
            if group is ProcessGroup.SERVER
        }
        return OsSnapshot(at=whole.at, online=whole.online, groups=own)

    def close(self) -> None:
        self.reader.close()


def rates(before: OsSnapshot, after: OsSnapshot) -> dict[str, Row]:
    """Series source (os, cpu:N, disk:NAME, own) to its columns, for the time between two snapshots.

    Shares are of all online cores, 0 to 1; NaN where a source is missing.
    """
    seconds = max(after.at - before.at, 1e-9)
    result = {"os": _os_row(before, after, seconds)}
    for number, ticks in after.cores.items():
        old = before.cores.get(number)
        if old is not None:
            result[f"cpu:{number}"] = cpu_shares(old, ticks)
    for name, disk in after.disks.items():
        if name in before.disks:
            result[f"disk:{name}"] = disk_rates(before.disks[name], disk, seconds)
    used, further = _own_use(before, after)
    own = {f"{name}_per_second": amount / seconds for name, amount in used.items()} | further
    return {**result, OWN: own} if own else result


def cpu_shares(before: CpuTicks, after: CpuTicks) -> Row:
    """The five shares of CPU states; they sum to 1, or are NaN where no tick passed."""
    # iowait and idle may step back by a tick or two (proc(5))
    ticks = [max(0, new - old) for old, new in zip(before, after, strict=True)]
    total = sum(ticks) or math.nan
    return {
        "cpu_user_share": (ticks[USER] + ticks[NICE]) / total,
        "cpu_system_share": (ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]) / total,
        "cpu_iowait_share": ticks[IOWAIT] / total,
        "cpu_steal_share": ticks[STEAL] / total,
        "cpu_idle_share": ticks[IDLE] / total,
    }


def disk_rates(before: DiskCounters, after: DiskCounters, seconds: float) -> Row:
    return {
        "reads_per_second": (after.reads - before.reads) / seconds,
        "writes_per_second": (after.writes - before.writes) / seconds,
        "read_bytes_per_second": (after.read_bytes - before.read_bytes) / seconds,
        "written_bytes_per_second": (after.written_bytes - before.written_bytes) / seconds,
        "busy_share": min(1.0, (after.busy_seconds - before.busy_seconds) / seconds),
        "queue_length": (after.queue_seconds - before.queue_seconds) / seconds,
    }


def group_shares(before: OsSnapshot, after: OsSnapshot) -> dict[ProcessGroup, float]:
    """Each group's share of the time of all cores; only the groups that are known."""
    available = (after.at - before.at) * after.online
    if available <= 0:
        return {}
    used = {
        group: seconds - before.groups[group]
        for group, seconds in after.groups.items()
        if group in before.groups
    }
    if used and ProcessGroup.OTHER not in used and before.cpu and after.cpu:
        used[ProcessGroup.OTHER] = max(0.0, _busy_seconds(before.cpu, after) - sum(used.values()))
    # on a busy machine the clock is read some time before the counters are, at either end
    return {group: min(1.0, seconds / available) for group, seconds in used.items()}


def _shares(before: OsSnapshot, after: OsSnapshot, *, others: str) -> Row:
    """The shares of CPU states and of groups; ``others``: the name of all other programs'."""
    row = cpu_shares(before.cpu, after.cpu) if before.cpu and after.cpu else {}
    for group, share in group_shares(before, after).items():
        row[others if group is ProcessGroup.OTHER else f"{group.value}_cpu_share"] = share
    return row


def totals(before: OsSnapshot, after: OsSnapshot) -> dict[str, float]:
    """The metrics (names of ``model.metrics``) of the window between two snapshots."""
    result = _shares(before, after, others="cpu_other_share")
    if before.context_switches is not None and after.context_switches is not None:
        result["context_switches"] = after.context_switches - before.context_switches
    known = before.disks.keys() & after.disks.keys()
    if known:
        pairs = [(before.disks[name], after.disks[name]) for name in known]
        result["disk_read_bytes"] = sum(new.read_bytes - old.read_bytes for old, new in pairs)
        written = sum(new.written_bytes - old.written_bytes for old, new in pairs)
        result["disk_written_bytes"] = written
    used, further = _own_use(before, after)
    result |= {f"own_{name}": value for name, value in (used | further).items()}
    return {name: float(value) for name, value in result.items() if not math.isnan(value)}


def _own_use(before: OsSnapshot, after: OsSnapshot) -> tuple[Row, Row]:
    """Find what an emulated node has used between two snapshots (bytes), and what else is known:
    what it holds at the end, and its share of all processors of the machine, as other shares are.
    """
    old, new = before.node, after.node
    if old is None or new is None:
        return {}, {}
    counters = ((name, getattr(old, name), getattr(new, name)) for name in COUNTED_OF_NODES)
    used = {name: last - first for name, first, last in counters if None not in (first, last)}
    further = {"memory_bytes": new.memory_bytes, "page_cache_bytes": new.page_cache_bytes}
    available = (after.at - before.at) * after.online
    if old.cpu_seconds is not None and new.cpu_seconds is not None and available > 0:
        further["cpu_share"] = min(1.0, (new.cpu_seconds - old.cpu_seconds) / available)
    return used, {name: value for name, value in further.items() if value is not None}


def _busy_seconds(before: CpuTicks, after: OsSnapshot) -> float:
    """Time of programs by the kernel's ticks: kernel threads are in it, interrupts are not."""
    now = after.cpu or before
    ticks = sum(max(0, now[state] - before[state]) for state in (USER, NICE, SYSTEM))
    return ticks / after.ticks_per_second


def _os_row(before: OsSnapshot, after: OsSnapshot, seconds: float) -> Row:
    row = _shares(before, after, others="other_cpu_share")
    row.update(_counted(before, after, seconds))
    for name, value in (
        ("run_queue", after.run_queue),
        ("memory_available_bytes", after.memory_available),
        ("page_cache_bytes", after.page_cache),
    ):
        if value is not None:
            row[name] = float(value)
    return row


def _counted(before: OsSnapshot, after: OsSnapshot, seconds: float) -> Iterator[tuple[str, float]]:
    if before.context_switches is not None and after.context_switches is not None:
        switches = after.context_switches - before.context_switches
        yield "context_switches_per_second", switches / seconds
    if before.network is not None and after.network is not None:
        yield "received_bytes_per_second", (after.network[0] - before.network[0]) / seconds
        yield "sent_bytes_per_second", (after.network[1] - before.network[1]) / seconds
    for name, waited in after.pressure.items():
        if name in before.pressure:
            share = (waited - before.pressure[name]) / seconds
            yield f"pressure_{name}_share", min(1.0, share)
