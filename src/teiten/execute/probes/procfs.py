"""Parsers of the kernel's counters: bytes of a file in, numbers out. See proc(5).

Reads of a process, as the kernel accounts them; see proc_pid_io(5).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SECTOR = 512
"""Bytes; block/stat.rst: always 512, whatever the device's own sectors are."""
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)
KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of include/linux/sched.h in the field ``flags``."""

CpuTicks = tuple[int, ...]
"""Clock ticks by state, in the order of the constants above."""


@dataclass(frozen=True)
class Stat:
    """/proc/stat."""

    cpu: CpuTicks
    cores: dict[int, CpuTicks]
    context_switches: int
    running: int


def parse_stat(data: bytes) -> Stat:
    """Kernels before 2.6.33 miss states at the end; those are 0."""
    cpu: CpuTicks = (0,) * 8
    cores: dict[int, CpuTicks] = {}
    context_switches = running = 0
    for line in data.split(b"\n"):
        if line.startswith(b"cpu"):
            name, *values = line.split()
            ticks = tuple(map(int, values[:8])) + (0,) * (8 - len(values))
            if name == b"cpu":
                cpu = ticks
            else:
                cores[int(name[3:])] = ticks
        elif line.startswith(b"ctxt "):
            context_switches = int(line[5:])
        elif line.startswith(b"procs_running "):
            running = int(line[14:])
            break
    return Stat(cpu, cores, context_switches, running)


@dataclass(frozen=True)
class DiskCounters:
    """/sys/class/block/NAME/stat in base units."""

    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    busy_seconds: float
    queue_seconds: float
    """Σ over requests of the time that each was open."""


def parse_block_stat(data: bytes) -> DiskCounters:
    """Linux, Documentation/block/stat.rst. Raises ValueError for too short a line."""
    fields = [int(field) for field in data.split()[:11]]
    if len(fields) < 11:
        raise ValueError(f"too few fields in a block device's stat: {data!r}")
    return DiskCounters(
        reads=fields[0],
        read_bytes=fields[2] * SECTOR,
        writes=fields[4],
        written_bytes=fields[6] * SECTOR,
        busy_seconds=fields[9] / 1000,
        queue_seconds=fields[10] / 1000,
    )


def parse_network(data: bytes) -> tuple[int, int]:
    """/proc/net/dev: bytes received and sent by all interfaces but the loopback."""
    received = sent = 0
    for line in data.split(b"\n"):
        name, separator, rest = line.partition(b":")
        fields = rest.split()
        if separator and name.strip() != b"lo" and len(fields) >= 9 and fields[0].isdigit():
            received += int(fields[0])
            sent += int(fields[8])
    return received, sent


def parse_pressure(data: bytes) -> float:
    """/proc/pressure/*: seconds in which some task waited. Raises ValueError without them."""
    line = data.split(b"\n", 1)[0]
    if not line.startswith(b"some "):
        raise ValueError(f"no pressure of some tasks in {data!r}")
    return int(line.rpartition(b"total=")[2]) / 1e6


def parse_memory(data: bytes) -> tuple[int, int]:
    """/proc/meminfo: bytes available, and in the page cache."""
    values: dict[bytes, int] = {}
    for line in data.split(b"\n"):
        name, separator, rest = line.partition(b":")
        if separator and name in {b"MemFree", b"MemAvailable", b"Buffers", b"Cached"}:
            values[name] = int(rest.split()[0]) * 1024
            if name == b"Cached":
                break
    cached = values.get(b"Cached", 0) + values.get(b"Buffers", 0)
    return values.get(b"MemAvailable", values.get(b"MemFree", 0)), cached


@dataclass(frozen=True)
class ProcessRecord:
    """/proc/PID/stat: who the process is and what it used, in clock ticks."""

    parent: int
    is_kernel: bool
    own: int
    """User and system time of the process."""
    children: int
    """The time of ended children that it has waited for, and of theirs."""
    started: int
    """Ticks since boot; with the pid it identifies a process."""


def parse_process(data: bytes) -> ProcessRecord:
    """The name in parentheses may hold anything. Raises ValueError for something else."""
    end = data.rfind(b")")
    fields = data[end + 2 :].split(None, 20)
    if end < 0 or len(fields) < 20:
        raise ValueError(f"not a process's stat: {data!r}")
    return ProcessRecord(
        parent=int(fields[1]),
        is_kernel=bool(int(fields[6]) & KERNEL_THREAD),
        own=int(fields[11]) + int(fields[12]),
        children=int(fields[13]) + int(fields[14]),
        started=int(fields[19]),
    )


PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessIo:
    """Reads of one process since its start."""

    disk_bytes: int
    """Bytes that it had fetched from storage: not those that the page cache gave it."""
    calls: int
    """Its system calls that read."""
    called_bytes: int
    """Bytes that its reading system calls returned, from wherever."""


def process_io(pid: int) -> ProcessIo | None:
    """Find what a process of this machine has read; None where the kernel does not tell us."""
    counters = io_counters(pid)
    try:
        return ProcessIo(counters["read_bytes"], counters["syscr"], counters["rchar"])
    except KeyError:
        return None


def io_counters(pid: int, proc: Path = PROC) -> dict[str, int]:
    """All that the kernel accounts, by its names; nothing where it does not tell."""
    try:
        lines = (proc / str(pid) / "io").read_text(encoding="ascii").splitlines()
        return {name: int(value) for name, _, value in (line.partition(":") for line in lines)}
    except (OSError, ValueError):
        return {}
