"""How many threads or connections make the data: what was asked, within the machine's bounds."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.datasets.ssb.rows.blocks import THREAD_BYTES
from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import allowed_processors, usable_processors
from teiten.host.facts.memory import read_memory_facts
from teiten.model.units import Bytes

CONNECTIONS_OF_A_CPU = 4
"""A thread that makes files is never without work; a connection waits for its server."""
CONNECTION_BYTES = 16 * 1024**2
"""Memory of a connection, about: a buffer here, and a process of the server."""
SHARE_OF_MEMORY = 0.25
"""The streams' share of available memory: the rest is for the server and the page cache."""


@dataclass(frozen=True)
class StreamCount:
    """A number of streams. ``bound``: what kept it below what was asked, else empty."""

    count: int
    bound: str = ""


@dataclass(frozen=True)
class StreamRoom:
    """Processors and memory that the machine has for streams."""

    processors: int
    available: Bytes

    @classmethod
    def here(cls) -> StreamRoom:
        """Measure the room on this machine and in this program's control group."""
        limits = read_cgroup_limits()
        processors = usable_processors(allowed_processors(), limits.cpu_quota_cores)
        return cls(processors, read_memory_facts(limits).available)


def streams_for(asked: int | None, room: StreamRoom, *, server: bool) -> StreamCount:
    """``asked`` or, where nothing was, one for each CPU; never more than are of any use."""
    each = CONNECTION_BYTES if server else THREAD_BYTES
    by_memory = max(1, int(room.available * SHARE_OF_MEMORY / each))
    by_processors = room.processors * (CONNECTIONS_OF_A_CPU if server else 1)
    wanted = asked or room.processors
    count = min(wanted, by_memory, by_processors)
    if asked is None or count == asked:
        return StreamCount(count)
    if by_memory < by_processors:
        return StreamCount(count, "more would take over a quarter of the memory that is available")
    cpus = "there is one CPU" if room.processors == 1 else f"there are {room.processors} CPUs"
    each_cpu = f", of which each keeps up with {CONNECTIONS_OF_A_CPU}" if server else ""
    return StreamCount(count, cpus + each_cpu)
