"""What a process has read from disks, as the kernel accounts it; see proc_pid_io(5)."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc")


def disk_bytes(pid: int, proc: Path = PROC) -> int | None:
    """The bytes that a process of this machine has caused to be fetched from storage: not those
    that the page cache gave it. None where the kernel does not tell, or not to us."""
    try:
        text = (proc / str(pid) / "io").read_bytes()
    except OSError:
        return None
    for line in text.split(b"\n"):
        if line.startswith(b"read_bytes:"):
            return int(line[11:])
    return None
