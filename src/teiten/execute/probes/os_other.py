"""Systems other than Linux: what psutil knows."""

from __future__ import annotations

import os
from collections.abc import Iterable

import psutil

from teiten.execute.probes.os import OsSnapshot
from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.probes.procfs import CpuTicks, DiskCounters

TICKS_PER_SECOND = 1000.0
"""psutil gives seconds; they are kept as whole milliseconds."""


class PsutilReader:
    """Reads what psutil offers; a backend that ends takes the time since the last look along."""

    def __init__(self, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> None:
        self._postmasters = postmasters
        self._devices = devices
        known = (ProcessGroup.SERVER, ProcessGroup.PGBENCH, ProcessGroup.TEITEN)
        self._seconds: dict[ProcessGroup, float] = dict.fromkeys(known, 0.0)
        self._last: dict[tuple[int, float], float] = {}
        self.missing: tuple[tuple[str, str], ...] = (
            ("pressure", "only Linux counts it"),
            ("run queue", "only Linux counts it"),
        )

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Read the counters now, as ``OsReader.read`` says."""
        cores = {
            number: _ticks(times) for number, times in enumerate(psutil.cpu_times(percpu=True))
        }
        memory = psutil.virtual_memory()
        return OsSnapshot(
            at=at,
            cpu=_ticks(psutil.cpu_times()),
            cores=cores,
            ticks_per_second=TICKS_PER_SECOND,
            online=len(cores) or 1,
            context_switches=psutil.cpu_stats().ctx_switches,
            memory_available=memory.available,
            page_cache=getattr(memory, "cached", None),
            disks=self._disks(),
            network=_network(),
            groups=self._groups(pgbench),
        )

    def close(self) -> None:
        """Nothing is kept open."""

    def _disks(self) -> dict[str, DiskCounters]:
        counters = psutil.disk_io_counters(perdisk=True) or {}
        chosen = self._devices or tuple(counters)
        return {
            name: DiskCounters(
                reads=counters[name].read_count,
                read_bytes=counters[name].read_bytes,
                writes=counters[name].write_count,
                written_bytes=counters[name].write_bytes,
                busy_seconds=getattr(counters[name], "busy_time", 0) / 1000,
                queue_seconds=(counters[name].read_time + counters[name].write_time) / 1000,
            )
            for name in chosen
            if name in counters
        }

    def _groups(self, pgbench: int | None) -> dict[ProcessGroup, float]:
        self._add(ProcessGroup.TEITEN, [psutil.Process(os.getpid())])
        for pid in self._postmasters:
            self._add(ProcessGroup.SERVER, _tree(pid))
        if pgbench is not None:
            self._add(ProcessGroup.PGBENCH, _tree(pgbench))
        return dict(self._seconds)

    def _add(self, group: ProcessGroup, processes: Iterable[psutil.Process]) -> None:
        for process in processes:
            try:
                times = process.cpu_times()
                key = (process.pid, process.create_time())
            except psutil.Error:
                continue
            used = times.user + times.system
            self._seconds[group] += max(0.0, used - self._last.get(key, 0.0))
            self._last[key] = used


def _tree(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _ticks(times: object) -> CpuTicks:
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    return tuple(round(getattr(times, name, 0.0) * TICKS_PER_SECOND) for name in names)


def _network() -> tuple[int, int]:
    interfaces = psutil.net_io_counters(pernic=True)
    outer = [counters for name, counters in interfaces.items() if not name.startswith("lo")]
    return sum(item.bytes_recv for item in outer), sum(item.bytes_sent for item in outer)
