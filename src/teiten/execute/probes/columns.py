"""The columns of the series that the probes record: names, units, sources, meanings.

A column's name says its unit: ``_bytes`` and ``_seconds`` plainly, ``_per_second`` a rate over the
sample's interval, ``_share`` a part of a whole (of all online cores, of the interval) from 0 to 1,
else a count. A sample stands at the end of the interval that it covers. Series ``waits`` has no
fixed columns: see ``probes.postgres``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProbeColumn:
    """A column of a series. ``unit``: 1 (a share or a count), 1/s, B, B/s, s/s."""

    name: str
    unit: str
    source: str
    """os, cpu, disk or postgres: the part of the series' source before a colon."""
    meaning: str
    counter: str | None = None
    """postgres: the cumulative counter of ``sql/*.sql`` that it is made from."""
    is_rate: bool = True
    """postgres: divided by the interval; else the counter's plain difference."""


CPU_STATES = (
    ProbeColumn("cpu_user_share", "1", "cpu", "programs, niced ones and guests among them"),
    ProbeColumn("cpu_system_share", "1", "cpu", "the kernel, interrupts among it"),
    ProbeColumn("cpu_iowait_share", "1", "cpu", "idle while a disk request of this core is open"),
    ProbeColumn(
        "cpu_steal_share", "1", "cpu", "ready to run, but the hypervisor ran another guest"
    ),
    ProbeColumn("cpu_idle_share", "1", "cpu", "idle"),
)

OS = (
    *(ProbeColumn(column.name, "1", "os", column.meaning) for column in CPU_STATES),
    ProbeColumn(
        "server_cpu_share", "1", "os", "the postmaster and all its processes, ended ones too"
    ),
    ProbeColumn("pgbench_cpu_share", "1", "os", "the load generator"),
    ProbeColumn("teiten_cpu_share", "1", "os", "Teiten itself and its helpers"),
    ProbeColumn("other_cpu_share", "1", "os", "all other programs; kernel threads do not count"),
    ProbeColumn("context_switches_per_second", "1/s", "os", "of all cores"),
    ProbeColumn("run_queue", "1", "os", "tasks running or ready, without the sampler"),
    ProbeColumn("memory_available_bytes", "B", "os", "what programs could still get"),
    ProbeColumn("page_cache_bytes", "B", "os", "cached file pages, shared memory among them"),
    ProbeColumn(
        "received_bytes_per_second", "B/s", "os", "all network interfaces but the loopback"
    ),
    ProbeColumn("sent_bytes_per_second", "B/s", "os", "all network interfaces but the loopback"),
    ProbeColumn("pressure_cpu_share", "1", "os", "time in which some task waited for a core"),
    ProbeColumn("pressure_memory_share", "1", "os", "time in which some task waited for memory"),
    ProbeColumn("pressure_io_share", "1", "os", "time in which some task waited for a disk"),
)

OWN = (
    ProbeColumn("cpu_share", "1", "own", "an emulated node, of all cores of the machine"),
    ProbeColumn("memory_bytes", "B", "own", "charged to the node, page cache among it"),
    ProbeColumn("page_cache_bytes", "B", "own", "cached pages of files, charged to the node"),
    ProbeColumn("disk_read_bytes_per_second", "B/s", "own", "read from storage by the node"),
    ProbeColumn("disk_written_bytes_per_second", "B/s", "own", "written to storage by the node"),
    ProbeColumn("received_bytes_per_second", "B/s", "own", "from other nodes"),
    ProbeColumn("sent_bytes_per_second", "B/s", "own", "to other nodes"),
)
DISK = (
    ProbeColumn("reads_per_second", "1/s", "disk", "completed reads"),
    ProbeColumn("writes_per_second", "1/s", "disk", "completed writes"),
    ProbeColumn("read_bytes_per_second", "B/s", "disk", "bytes read"),
    ProbeColumn("written_bytes_per_second", "B/s", "disk", "bytes written"),
    ProbeColumn("busy_share", "1", "disk", "time with at least one request open"),
    ProbeColumn("queue_length", "1", "disk", "mean number of open requests"),
)


def _rate(counter: str, meaning: str, unit: str = "1/s") -> ProbeColumn:
    return ProbeColumn(f"{counter}_per_second", unit, "postgres", meaning, counter)


def _share(counter: str, meaning: str) -> ProbeColumn:
    name = f"{counter.removesuffix('_seconds')}_share"
    return ProbeColumn(name, "s/s", "postgres", meaning, counter)


POSTGRES = (
    _rate("transactions", "ended, the sampler's few among them"),
    _rate("rollbacks", "of them rolled back"),
    _rate("blocks_hit", "found in shared buffers"),
    _rate("blocks_read", "asked of the kernel"),
    _rate("rows_returned", "live rows that scans read"),
    _rate("rows_fetched", "of them by an index"),
    _rate("rows_changed", "inserted, updated or deleted"),
    _rate("temporary_bytes", "written to temporary files", "B/s"),
    _share("block_read_seconds", "backends reading (track_io_timing)"),
    _share("block_write_seconds", "backends writing (track_io_timing)"),
    _rate("wal_bytes", "growth of the WAL's insert position", "B/s"),
    _rate("wal_records", "WAL records (14 and later)"),
    _rate("wal_full_page_images", "whole pages in the WAL (14 and later)"),
    _rate("wal_syncs", "WAL made durable (14 and later)"),
    ProbeColumn(
        *("checkpoints", "1", "postgres", "checkpoints started, by time or request"),
        counter="checkpoints",
        is_rate=False,
    ),
    _rate("buffers_written_by_checkpointer", "by checkpoints"),
    _rate("buffers_written_by_bgwriter", "by the background writer"),
    _rate(
        "buffers_written_by_backends",
        "by backends and workers, files' growth among it (16 and later)",
    ),
    _rate("buffers_allocated", "buffers given a new page"),
)

COLUMNS: tuple[ProbeColumn, ...] = (*OS, *CPU_STATES, *DISK, *OWN, *POSTGRES)
