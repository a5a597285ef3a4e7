"""Limits of a plateau: what the machine can do, what was seen, and what may be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Union

from teiten.model.units import Share


@dataclass(frozen=True)
class Ceilings:
    """The most that this machine did in its folder, each resource alone, before the study."""

    sequential_read: float
    """B/s, past the page cache."""
    sequential_write: float
    """B/s, past the page cache."""
    random_reads: float
    """8 kB blocks per second, past the page cache."""
    random_writes: float
    """8 kB blocks per second, past the page cache."""
    fsyncs: float
    """8 kB writes per second, each one made durable before the next."""
    memory: float
    """B/s of copying, read and written bytes together."""
    core_speed: float
    """B/s that one core hashes with SHA-256."""
    machine_speed: float
    """B/s that all cores together hash."""
    cores: float
    """CPU seconds per second that busy programs got: less than the cores under a quota."""
    tool: str
    """Program that measured the disk: ``fio-3.33`` or ``teiten``."""
    measured_at: float
    """Seconds since the epoch."""


class Resource(StrEnum):
    """Resource whose limit a plateau can be consistent with."""

    CLIENT = "client"
    """The load generator: the cell says nothing about the server."""
    CPU = "cpu"
    COMMIT_LATENCY = "commit-latency"
    WRITE_BANDWIDTH = "write-bandwidth"
    READ = "read"
    LOCK = "lock"


@dataclass(frozen=True)
class Readings:
    """Readings at one level: means over its measured seconds. None: not seen."""

    plateau: bool
    """More load gave no more throughput (from the knee on)."""
    clients: float
    """The load."""
    waits: Mapping[str, float]
    """Mean number of active backends by ``Type:Event``; ``CPU`` for those without a wait."""
    cpu_cores: float | None
    """CPU seconds per second of all programs."""
    generator: Share | None
    """CPU time of the load generator, as a share of its threads' time."""
    written: float | None
    """B/s to the disks of the data."""
    read: float | None
    """B/s from them."""
    reads: float | None
    """Requests per second."""
    fsyncs: float | None
    """Durable writes of WAL per second."""
    fsyncs_before: float | None
    """Durable writes of WAL per second at the next smaller load; None where there is none."""
    hit_ratio: Share | None
    """Blocks found in shared buffers."""
    hit_ratio_below: Share | None
    """Blocks found in shared buffers at the smallest load."""
    pressure_io: Share | None
    """Time in which some task waited for a disk."""
    pressure_cpu: Share | None
    """Time in which some task waited for a core."""


Evidence = tuple[tuple[str, float], ...]
"""Numbers by name, in base units: what a statement rests on."""


@dataclass(frozen=True)
class Consistent:
    """The plateau is consistent with a limit by this resource. Only an intervention earns "is"."""

    resource: Resource
    evidence: Evidence


class Abstention(StrEnum):
    """Why nothing is said."""

    NO_PLATEAU = "no-plateau"
    NO_CEILINGS = "no-ceilings"
    NO_WAITS = "no-waits"
    NO_DOMINANT_WAIT = "no-dominant-wait"
    BELOW_CEILING = "below-ceiling"
    """A wait dominates, but its resource is not near its ceiling, or another reading objects."""
    NOT_SEEN = "not-seen"
    """A wait dominates, but the reading that belongs to it is missing."""


@dataclass(frozen=True)
class Abstained:
    reason: Abstention
    evidence: Evidence


Finding = Union[Consistent, Abstained]  # noqa: UP007 - hosts have Python 3.9


@dataclass(frozen=True)
class BottleneckResult:
    """Finding on the largest load at which a side of a workload is near its best throughput."""

    workload: str
    context: tuple[tuple[str, str], ...]
    """The levels of the other factors, neither the load nor the contrasted one."""
    side: str
    load: float
    finding: Finding
