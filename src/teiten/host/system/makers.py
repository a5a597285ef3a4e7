"""Which process made a folder or a note, and whether it still lives.

A pid means something in its own pid namespace and boot alone. Of what was made in another one (a
container or a host that shares the volume) the kernel answers instead: whoever makes something
holds a lock on it (flock(2)), which ends with the process, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

from teiten.host.facts.disks import NETWORK_FILE_SYSTEMS, mount_of, read_mounts
from teiten.host.facts.kernel import boot_id, pid_namespace
from teiten.host.system.processes import started_at

if sys.platform != "win32":
    import fcntl

START_TOLERANCE = 2.0
"""Seconds by which two readings of one process's start may differ (the clock was adjusted)."""
PATIENCE = 1.0
"""Seconds for a lock: who only asks whether it is held has it for an instant."""
_locked: dict[tuple[int, int], int] = {}
"""Open descriptors of what this process has made and holds the lock of, by device and inode."""


class Life(Enum):
    """Whether a maker lives, as far as it can be known here."""

    LIVES = "lives"
    ENDED = "ended"
    UNKNOWN = "unknown"
    """Made on another machine, or before a boot, on a file system that does not pass locks on."""


@dataclass(frozen=True)
class Maker:
    """The process that made something. ``process_started``: seconds since the epoch."""

    pid: int
    process_started: float | None
    boot: str | None = None
    pid_namespace: str | None = None
    """With ``boot``, where the pid means something; None on other systems than Linux, and in what
    Teiten 0.2 wrote: such a pid is taken for one of here."""

    @classmethod
    def this_process(cls) -> Maker:
        pid = os.getpid()
        return cls(pid, started_at(pid), boot_id(), pid_namespace())

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Maker:
        """Find the maker among what ``asdict`` gave. Raises KeyError, TypeError or ValueError."""
        started = values["process_started"]
        return cls(
            pid=int(values["pid"]),
            process_started=None if started is None else float(started),
            boot=values.get("boot"),
            pid_namespace=values.get("pid_namespace"),
        )

    @property
    def is_this_process(self) -> bool:
        return self.pid == os.getpid() and self._has_pids_of_here

    @property
    def _has_pids_of_here(self) -> bool:
        return self.boot is None or (self.boot, self.pid_namespace) == (boot_id(), pid_namespace())

    def life(self, descriptor: int | None, path: Path) -> Life:
        """Whether the maker of an open folder or file lives. ``path``: where that is. Whoever has
        made something in another container or on another host is never taken to have ended while
        the lock is held, nor where the kernel could not know of it."""
        if self._has_pids_of_here:
            lives = same_process(self.pid, self.process_started)
            return Life.LIVES if lives else Life.ENDED
        if descriptor is None:
            return Life.UNKNOWN
        if _is_locked(descriptor):
            return Life.LIVES
        # another boot of this machine had the same disks; another machine has other ones
        return Life.ENDED if self.boot == boot_id() or _is_on_own_disk(path) else Life.UNKNOWN


def same_process(pid: int, start: float | None) -> bool:
    """Whether the process of this pid and start (seconds since the epoch) still exists.

    A start that is not known is taken to match: better keep a folder than delete one in use.
    """
    now = started_at(pid)
    if now is None:
        return False
    return start is None or abs(now - start) <= START_TOLERANCE


def lock_for_life(descriptor: int) -> None:
    """Hold the lock of an open folder or file for as long as this process lives or it is there.

    ``descriptor``: ours from now on. Where the file system has no locks, those who ask are told
    that it is held.
    """
    release_deleted()
    status = os.fstat(descriptor)
    place = (status.st_dev, status.st_ino)
    if sys.platform == "win32" or place in _locked:
        os.close(descriptor)
        return
    _locked[place] = descriptor
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            return
        else:
            return


def release_deleted() -> None:
    """Close what is there no more; a file system with an open folder could not be unmounted."""
    for place, descriptor in list(_locked.items()):
        if _is_deleted(descriptor):
            del _locked[place]
            with contextlib.suppress(OSError):
                os.close(descriptor)


def release_on(folder: Path) -> None:
    """Close what is on a folder's file system, which is to be unmounted."""
    with contextlib.suppress(OSError):
        device = folder.stat().st_dev
        for place, descriptor in list(_locked.items()):
            if place[0] == device:
                del _locked[place]
                os.close(descriptor)


def _is_deleted(descriptor: int) -> bool:
    try:
        return os.fstat(descriptor).st_nlink == 0
    except OSError:
        return True


def _is_locked(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except OSError:
        return True
    return False


def _is_on_own_disk(path: Path) -> bool:
    """Whether the file system is this machine's alone, so that its kernel knows of every lock."""
    mount = mount_of(PurePosixPath(path.resolve()), read_mounts())
    if mount is None:
        return False
    kind = mount.file_system
    return kind not in NETWORK_FILE_SYSTEMS and not kind.startswith("fuse")
