"""Shared memory that a process which was killed leaves on the machine: found and removed.

Linux only: elsewhere nothing is found, and what a killed server leaves is the system's to clean.
"""

from __future__ import annotations

import contextlib
import ctypes
import stat
import sys
from pathlib import Path

from teiten.host.facts.readings import read_text
from teiten.host.system.held_folder import HeldFolder

MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - files are looked for there, or made in folders 0700
"""A file system in memory, where there is one."""
SYSV_TABLE = Path("/proc/sysvipc/shm")
IPC_RMID = 0


def mapped_files(pid: int, prefix: str) -> tuple[str, ...]:
    """The files in memory that a process has mapped, of names that begin with ``prefix``."""
    if sys.platform != "linux":
        return ()
    start = f"{MEMORY_FOLDER}/{prefix}"
    maps = read_text(Path(f"/proc/{pid}/maps")) or ""
    paths = {line.split(maxsplit=5)[-1] for line in maps.splitlines() if start in line}
    return tuple(sorted(path for path in paths if path.startswith(start)))


def remove_file(name: str, prefix: str, owner: int) -> None:
    """Remove a file in memory of this owner whose name begins with ``prefix``."""
    name = Path(name).name
    if not name.startswith(prefix):
        return
    with contextlib.suppress(OSError), HeldFolder.open(MEMORY_FOLDER) as held:
        status = held.status(name)
        if status is not None and stat.S_ISREG(status.st_mode) and status.st_uid == owner:
            held.unlink(name)


def remove_segment(identifier: int, creator: int, owner: int) -> None:
    """Remove a System V segment of a dead process, where nobody is attached to it any more."""
    if _is_left(identifier, creator, owner):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmctl(identifier, IPC_RMID, None)


def _is_left(identifier: int, creator: int, owner: int) -> bool:
    names, *rows = (read_text(SYSV_TABLE) or "").splitlines() or [""]
    for row in rows:
        values = dict(zip(names.split(), map(int, row.split())))  # noqa: B905 - Python 3.9 has no strict
        if values.get("shmid") == identifier:
            left = values.get("cpid") == creator and values.get("nattch") == 0
            return left and values.get("uid") == owner
    return False
