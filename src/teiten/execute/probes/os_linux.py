"""Linux: /proc and /sys, whose files stay open between samples; what one node has used, as its
control groups and its network namespace count it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from teiten.execute.probes.os import NodeUse, OsReader, OsSnapshot
from teiten.execute.probes.process_cpu import CpuAccount, ProcessGroup, ProcessReader
from teiten.execute.probes.procfs import (
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
        self.missing: tuple[tuple[str, str], ...] = ()
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
            self.missing += (("disk", "the file system shows no block device"),)

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
            disks=self._parse_each("disk:", self._devices, parse_block_stat),
            network=self._parse("net/dev", parse_network),
            pressure=self._parse_each("pressure/", PRESSURES, parse_pressure),
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
            self.missing += ((name, error.strerror or str(error)),)

    def _parse(self, name: str, parser: Callable[[bytes], T]) -> T | None:
        file = self._files.get(name)
        if file is None:
            return None
        try:
            return parser(file.read())
        except (OSError, ValueError, IndexError) as error:
            self._files.pop(name).close()
            self.missing += ((name, str(error)),)
            return None

    def _parse_each(
        self, kind: str, names: Iterable[str], parser: Callable[[bytes], T]
    ) -> dict[str, T]:
        readings = ((name, self._parse(f"{kind}{name}", parser)) for name in names)
        return {name: reading for name, reading in readings if reading is not None}

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


Parser = Callable[[bytes], dict[str, float]]


def _number(name: str, unit: float = 1.0) -> Parser:
    return lambda data: {name: int(data) * unit}


def _field(name: str, *keys: bytes, per: float = 1.0) -> Parser:
    """The first of these keys that a file of keys and values has."""

    def parse(data: bytes) -> dict[str, float]:
        fields = dict(line.split(None, 1) for line in data.splitlines() if b" " in line)
        return next(({name: int(fields[key]) / per} for key in keys if key in fields), {})

    return parse


def parse_service_bytes(data: bytes) -> dict[str, float]:
    """blkio.throttle.io_service_bytes of version 1: ``254:0 Read 4096`` for each disk."""
    totals = {b"Read": 0, b"Write": 0}
    for line in data.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in totals:
            totals[words[1]] += int(words[2])
    return {
        "disk_read_bytes": float(totals[b"Read"]),
        "disk_written_bytes": float(totals[b"Write"]),
    }


def parse_io_stat(data: bytes) -> dict[str, float]:
    """io.stat of version 2: ``254:0 rbytes=4096 wbytes=0 …`` for each disk."""
    read = written = 0
    for line in data.splitlines():
        for word in line.split()[1:]:
            key, _, value = word.partition(b"=")
            read += int(value) if key == b"rbytes" else 0
            written += int(value) if key == b"wbytes" else 0
    return {"disk_read_bytes": float(read), "disk_written_bytes": float(written)}


FILES: dict[str, Parser] = {
    "cpuacct.usage": _number("cpu_seconds", 1e-9),
    "cpu.stat": _field("cpu_seconds", b"usage_usec", per=1e6),
    "memory.usage_in_bytes": _number("memory_bytes"),
    "memory.current": _number("memory_bytes"),
    "memory.stat": _field("page_cache_bytes", b"total_cache", b"file"),
    "blkio.throttle.io_service_bytes": parse_service_bytes,
    "io.stat": parse_io_stat,
}
"""Files of groups of both versions; each group has some of them, and memory.stat the first key in
version 1, the second in version 2."""


def parse_node_network(data: bytes) -> dict[str, float]:
    """/proc/PID/net/dev, of the namespace in which that process is."""
    received, sent = parse_network(data)
    return {"received_bytes": float(received), "sent_bytes": float(sent)}


class NodeReader:
    """Reads the files of a node's groups, and the counters of its network."""

    def __init__(self, groups: Sequence[Path], member: int | None) -> None:
        """``member``: a process in the node's network; None where it has none of its own."""
        network = None if member is None else Path(f"/proc/{member}/net/dev")
        self._files = list(_opened(groups, network))

    def read(self) -> NodeUse:
        """Read the node's use; None for what is not counted, or cannot be read any more."""
        use: dict[str, float] = {}
        for file, parser in self._files:
            with contextlib.suppress(OSError, ValueError):
                use |= parser(file.read())
        return NodeUse(**use)

    def close(self) -> None:
        for file, _ in self._files:
            file.close()
        self._files.clear()


def _opened(groups: Sequence[Path], network: Path | None) -> Iterator[tuple[CounterFile, Parser]]:
    places = [(group / name, parser) for group in groups for name, parser in FILES.items()]
    places += [] if network is None else [(network, parse_node_network)]
    for path, parser in places:
        with contextlib.suppress(OSError):
            yield CounterFile(path), parser


@dataclass(frozen=True)
class WithNode:
    """A reader that reads what another one does, and beside it what a node has used."""

    reader: OsReader
    node: NodeReader

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        return self.reader.missing

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Read as ``OsReader.read`` does, and the node's own use."""
        return replace(self.reader.read(at, pgbench), node=self.node.read())

    def close(self) -> None:
        self.reader.close()
        self.node.close()
