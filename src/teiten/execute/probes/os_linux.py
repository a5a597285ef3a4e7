"""Linux: /proc and /sys, whose files stay open between samples."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from teiten.execute.probes.os import OsSnapshot
from teiten.execute.probes.process_cpu import CpuAccount, ProcessGroup, ProcessReader
from teiten.execute.probes.procfs import (
    DiskCounters,
    parse_block_stat,
    parse_memory,
    parse_network,
    parse_pressure,
    parse_stat,
)

PRESSURES = ("cpu", "memory", "io")
LARGEST = 1 << 20
"""Bytes; /proc/stat of a machine with thousands of interrupts stays below."""

T = TypeVar("T")


class CounterFile:
    """A file of the kernel's that is read again and again."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where the file cannot be opened."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        return os.pread(self._descriptor, LARGEST, 0)

    def close(self) -> None:
        os.close(self._descriptor)


class LinuxReader:
    """Reads all counters of the machine at once."""

    def __init__(
        self,
        postmasters: tuple[int, ...],
        devices: tuple[str, ...],
        root: Path = Path("/"),
        *,
        also_teiten: int | None = None,
    ) -> None:
        """``also_teiten``: a process whose time is Teiten's beside our own."""
        self._also_teiten = also_teiten
        self._postmasters = postmasters
        self._teiten = os.getpid()
        self._files: dict[str, CounterFile] = {}
        self._devices = devices
        self._missing: list[tuple[str, str]] = []
        self._ticks_per_second = float(os.sysconf("SC_CLK_TCK"))
        self._processes = ProcessReader(root / "proc")
        self._account = CpuAccount(self._teiten)
        for name in ("stat", "meminfo", "net/dev"):
            self._open(name, root / "proc" / name)
        for name in PRESSURES:
            if (root / "proc/pressure" / name).exists():  # without it the facts carry a caution
                self._open(f"pressure/{name}", root / "proc/pressure" / name)
        for name in devices:
            self._open(f"disk:{name}", root / "sys/class/block" / name / "stat")
        if not devices:
            self._missing.append(("disk", "the file system shows no block device"))

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._missing)

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Read the counters now. A source that fails from now on is missing in the snapshot."""
        stat = self._parse("stat", parse_stat)
        memory = self._parse("meminfo", parse_memory)
        return OsSnapshot(
            at=at,
            cpu=stat.cpu if stat else None,
            cores=stat.cores if stat else {},
            ticks_per_second=self._ticks_per_second,
            online=len(stat.cores) or 1 if stat else os.cpu_count() or 1,
            context_switches=stat.context_switches if stat else None,
            run_queue=max(0, stat.running - 1) if stat else None,  # the reader itself runs
            memory_available=memory[0] if memory else None,
            page_cache=memory[1] if memory else None,
            disks=self._disks(),
            network=self._parse("net/dev", parse_network),
            pressure=self._pressure(),
            groups=self._groups(pgbench),
        )

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()
        self._processes.close()

    def _open(self, name: str, path: Path) -> None:
        try:
            self._files[name] = CounterFile(path)
        except OSError as error:
            self._missing.append((name, error.strerror or str(error)))

    def _parse(self, name: str, parser: Callable[[bytes], T]) -> T | None:
        file = self._files.get(name)
        if file is None:
            return None
        try:
            return parser(file.read())
        except (OSError, ValueError, IndexError) as error:
            self._files.pop(name).close()
            self._missing.append((name, str(error)))
            return None

    def _disks(self) -> dict[str, DiskCounters]:
        readings = ((name, self._parse(f"disk:{name}", parse_block_stat)) for name in self._devices)
        return {name: counters for name, counters in readings if counters is not None}

    def _pressure(self) -> dict[str, float]:
        readings = ((name, self._parse(f"pressure/{name}", parse_pressure)) for name in PRESSURES)
        return {name: seconds for name, seconds in readings if seconds is not None}

    def _groups(self, pgbench: int | None) -> dict[ProcessGroup, float]:
        servers = dict.fromkeys(self._postmasters, ProcessGroup.SERVER)
        roots = servers | {self._teiten: ProcessGroup.TEITEN}
        if self._also_teiten is not None:
            roots[self._also_teiten] = ProcessGroup.TEITEN
        if pgbench is not None:
            roots[pgbench] = ProcessGroup.PGBENCH
        self._account.update(self._processes.read(), roots)
        seconds = {
            group: ticks / self._ticks_per_second for group, ticks in self._account.ticks.items()
        }
        if not self._processes.sees_all:
            del seconds[ProcessGroup.OTHER]
        return seconds
