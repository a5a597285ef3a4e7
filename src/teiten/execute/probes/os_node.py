"""Linux: what one node has used, as its control groups and its network namespace count it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.execute.probes.os import NodeUse, OsReader, OsSnapshot
from teiten.execute.probes.os_linux import CounterFile
from teiten.execute.probes.procfs import parse_network

Parser = Callable[[bytes], dict[str, float]]


def _number(name: str, unit: float = 1.0) -> Parser:
    return lambda data: {name: int(data) * unit}


def parse_page_cache(data: bytes) -> dict[str, float]:
    """memory.stat: version 1 says ``total_cache`` and version 2 ``file``, in bytes."""
    fields = dict(line.split(None, 1) for line in data.splitlines() if b" " in line)
    for key in (b"total_cache", b"file"):
        if key in fields:
            return {"page_cache": float(fields[key])}
    return {}


def parse_cpu_stat(data: bytes) -> dict[str, float]:
    """cpu.stat of version 2."""
    fields = dict(line.split(None, 1) for line in data.splitlines() if b" " in line)
    return {"cpu_seconds": int(fields[b"usage_usec"]) / 1e6} if b"usage_usec" in fields else {}


def parse_service_bytes(data: bytes) -> dict[str, float]:
    """blkio.throttle.io_service_bytes of version 1: ``254:0 Read 4096`` for each disk."""
    totals = {b"Read": 0, b"Write": 0}
    for line in data.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in totals:
            totals[words[1]] += int(words[2])
    return {"read": float(totals[b"Read"]), "written": float(totals[b"Write"])}


def parse_io_stat(data: bytes) -> dict[str, float]:
    """io.stat of version 2: ``254:0 rbytes=4096 wbytes=0 …`` for each disk."""
    read = written = 0
    for line in data.splitlines():
        for word in line.split()[1:]:
            key, _, value = word.partition(b"=")
            read += int(value) if key == b"rbytes" else 0
            written += int(value) if key == b"wbytes" else 0
    return {"read": float(read), "written": float(written)}


FILES: dict[str, Parser] = {
    "cpuacct.usage": _number("cpu_seconds", 1e-9),
    "cpu.stat": parse_cpu_stat,
    "memory.usage_in_bytes": _number("memory"),
    "memory.current": _number("memory"),
    "memory.stat": parse_page_cache,
    "blkio.throttle.io_service_bytes": parse_service_bytes,
    "io.stat": parse_io_stat,
}
"""Files of groups of both versions; each group has some of them."""


def parse_node_network(data: bytes) -> dict[str, float]:
    """/proc/PID/net/dev, of the namespace in which that process is."""
    received, sent = parse_network(data)
    return {"received": float(received), "sent": float(sent)}


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
