"""Locks that say who holds them, and that the kernel releases however their holder ends."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors

PATIENCE = 1.0
"""Seconds that a writer waits: `teiten runs` holds a lock for an instant while it looks."""


class HeldLock:
    """A lock of this process; released by ``release``, at the end of a ``with``, or by a kill."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock

    def release(self) -> None:
        with suppress(OSError):
            _holder_file(self.path).unlink(missing_ok=True)
        self._lock.release()

    def __enter__(self) -> HeldLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def campaign_lock(folder: Path) -> HeldLock:
    """The right to write a campaign's ledger. Raises LedgerError naming who holds it."""
    return _acquire(
        folder / "lock",
        f"the campaign {folder.name} is being written",
        "wait until it has ended, or stop it with Ctrl-C",
    )


def workdir_lock(workdir: Path) -> HeldLock:
    """The right to measure: two campaigns at once would disturb each other.

    ``workdir``: the working folder (``Workdir.root``). Raises LedgerError naming who holds it.
    """
    with translate_os_errors(f"the working folder {workdir} cannot be used"):
        workdir.mkdir(parents=True, exist_ok=True)
    return _acquire(
        workdir / "lock",
        f"another campaign is being measured in the working folder {workdir}",
        "wait until it has ended: two at once would disturb each other (so do campaigns of other"
        " working folders, which no lock keeps apart)",
    )


def is_locked(folder: Path) -> bool:
    """A writer holds the campaign's lock now."""
    path = folder / "lock"
    if not os.path.lexists(path):
        return False
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except OSError:  # another user's campaign: what its holder wrote must do
        pid = _holder(path)
        return pid is not None and _lives(pid)
    lock.release()
    return False


def _lives(pid: int) -> bool:
    """A process that has ended, and that its parent has not asked after yet, holds nothing."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _acquire(path: Path, what: str, hint: str) -> HeldLock:
    lock = FileLock(path, timeout=PATIENCE, thread_local=False)
    try:
        with translate_os_errors(f"{path} cannot be locked"):
            lock.acquire(poll_interval=0.02)
    except Timeout as error:
        pid = _holder(path)
        by = f"process {pid}" if pid else "another process"
        raise LedgerError(f"{what} by {by}", hint) from error
    with suppress(OSError):  # a full disk: it only tells others who holds it
        _holder_file(path).write_text(f"{os.getpid()}\n", encoding="ascii")
    return HeldLock(path, lock)


def _holder(path: Path) -> int | None:
    """The process that wrote itself down as the holder; a killed one leaves this behind."""
    try:
        return int(_holder_file(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _holder_file(path: Path) -> Path:
    """Beside the lock, not in it: some versions of filelock truncate the lock's own file."""
    return path.with_name(path.name + ".pid")
