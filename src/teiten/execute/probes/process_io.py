"""Reads of a process, as the kernel accounts them; see proc_pid_io(5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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


def process_io(pid: int, proc: Path = PROC) -> ProcessIo | None:
    """Find what a process of this machine has read; None where the kernel does not tell us."""
    counters = io_counters(pid, proc)
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
