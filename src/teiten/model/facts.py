"""Facts about the machine, and about what could disturb a measurement on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from teiten.model.bottleneck import Ceilings
from teiten.model.units import Bytes


@dataclass(frozen=True)
class LogicalCpu:
    """A processor of the operating system that this program may use."""

    number: int
    core: int
    """The physical core, within its package."""
    package: int
    node: int
    """The NUMA node; 0 where the system tells none."""


@dataclass(frozen=True)
class CpuFacts:
    model: str
    logical: int
    """Processors that this program may use (affinity and cgroup quota applied)."""
    online: int
    physical_cores: int | None
    sockets: int | None
    numa_nodes: int | None
    threads_per_core: int | None
    governor: str | None
    turbo: bool | None
    maximum_mhz: float | None
    quota_cores: float | None
    """The cgroup's CPU quota in cores; None without one."""
    cpus: tuple[LogicalCpu, ...] = ()
    """Those that programs can be pinned to, ascending; empty where the system pins nothing."""


@dataclass(frozen=True)
class MemoryFacts:
    total: Bytes
    """Memory of the machine, or of the cgroup where that is less."""
    available: Bytes
    swap_total: Bytes
    swap_used: Bytes
    huge_pages_total: int | None
    huge_pages_free: int | None
    huge_page_size: Bytes | None
    transparent_huge_pages: str | None


@dataclass(frozen=True)
class DiskFacts:
    """The file system of the working folder, and the device below it."""

    mount_point: str
    file_system: str
    options: str
    device: str
    kind: str
    """nvme, ssd, hdd, virtual, network, memory or unknown."""
    total: Bytes
    free: Bytes
    """Free for the user of this program."""


@dataclass(frozen=True)
class DirectoryFacts:
    """A folder that a study names for its clusters, and the file system that holds it."""

    path: str
    disk: DiskFacts
    is_folder: bool
    """It is there, and a folder."""
    writable: bool
    """By the user of this program."""
    closed_at: str | None = None
    """The first folder on the way that the servers' user may not enter."""
    is_taken: bool = False
    """Something else has its name."""
    exchangeable_at: str | None = None
    """The first folder on the way in which neither root nor the servers' user alone can exchange
    what is there, where Teiten is root's."""


@dataclass(frozen=True)
class HostFacts:
    system: str
    """Linux, Darwin, Windows."""
    distribution: str
    kernel: str
    architecture: str
    cpu: CpuFacts
    memory: MemoryFacts
    disk: DiskFacts
    virtualisation: str | None
    """kvm, vmware, microsoft, …; None on bare metal, ``unknown`` where it cannot be told."""
    container: str | None
    load_average: float | None
    """Over one minute."""
    is_root: bool
    clock_source: str | None
    perf_event_paranoid: int | None
    pressure_stall: bool
    """/proc/pressure is there."""
    can_drop_page_cache: bool = False
    """The whole page cache can be dropped before a trial."""
    ceilings: Ceilings | None = None
    """Measured earlier by ``teiten doctor --ceilings``, on this machine and disk."""
    directories: tuple[DirectoryFacts, ...] = ()
    """Those that the study names."""
    perf: str | None = None
    """Where perf(1) is, which samples call stacks."""
    kernel_parameters: tuple[tuple[str, str], ...] = ()
    """Those that a repetition has to know (``vm.swappiness``), and their values."""
    io_scheduler: str | None = None
    """The I/O scheduler of the disk."""
    product: str | None = None
    """The firmware's name for the machine; in clouds the type of the instance."""


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True)
class Caution:
    """Something that can disturb or limit a measurement.

    Its texts (what it is, and the advice) stand in the translations under ``caution.<code>``, with
    ``values`` filled in.
    """

    code: str
    severity: Severity
    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def warning(cls, code: str, **values: object) -> Caution:
        return replace(cls.note(code, **values), severity=Severity.WARNING)

    @classmethod
    def note(cls, code: str, **values: object) -> Caution:
        return cls(code, Severity.NOTE, tuple((name, str(value)) for name, value in values.items()))
