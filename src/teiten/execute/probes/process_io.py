"""What a process has read, as the kernel accounts it; see proc_pid_io(5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessIo:
    """Of one process since its start."""

    disk_bytes: int
    """That it has caused to be fetched from storage: not those that the page cache gave it."""
    calls: int
    """Its system calls that read."""
    called_bytes: int
    """What these returned, from wherever."""


def process_io(pid: int, proc: Path = PROC) -> ProcessIo | None:
    """Of a process of this machine. None where the kernel does not tell, or not to us."""
    try:
        text = (proc / str(pid) / "io").read_bytes()
    except OSError:
        return None
    told = dict(line.split(b": ", 1) for line in text.splitlines() if b": " in line)
    try:
        return ProcessIo(int(told[b"read_bytes"]), int(told[b"syscr"]), int(told[b"rchar"]))
    except (KeyError, ValueError):
        return None
