"""Locks that say who holds them, and that the kernel releases however their holder ends."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.target_folder import target_folder
from teiten.host.system.users import own_uid

LOCK = "lock"
HOLDER = "lock.pid"
"""Beside the lock, not in it: some versions of filelock truncate the lock's own file."""
PATIENCE = 1.0
"""Seconds that a writer waits: `teiten runs` holds a lock for an instant while it looks."""


class HeldLock:
    """A lock of this process; released by ``release``, at the end of a ``with``, or by a kill."""

    def __init__(self, folder: HeldFolder, lock: FileLock, kept: ExitStack) -> None:
        """``kept``: what is open as long as the lock is held."""
        self._folder = folder
        self._lock = lock
        self._kept = kept

    def release(self) -> None:
        if self._lock.is_locked:
            with suppress(OSError):
                self._folder.unlink(HOLDER)
            self._lock.release()
        self._kept.close()

    def __enter__(self) -> HeldLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def campaign_lock(folder: Path) -> HeldLock:
    """The right to write a campaign's ledger. Raises LedgerError naming who holds it."""
    with translate_os_errors(f"{folder / LOCK} cannot be locked"):
        held = HeldFolder.open(folder)
    return _acquire(
        held,
        f"the campaign {folder.name} is being written",
        "wait until it has ended, or stop it with Ctrl-C",
    )


def workdir_lock(workdir: Path) -> HeldLock:
    """The right to measure: two campaigns at once would disturb each other.

    ``workdir``: the working folder (``Workdir.root``). Raises LedgerError naming who holds it.
    """
    with translate_os_errors(f"the working folder {workdir} cannot be used"):
        with target_folder(workdir):
            pass
        held = HeldFolder.open(workdir)
    return _acquire(
        held,
        f"another campaign is being measured in the working folder {workdir}",
        "wait until it has ended: two at once would disturb each other (so do campaigns of other"
        " working folders, which no lock keeps apart)",
    )


def is_locked(folder: Path) -> bool:
    """A writer holds the campaign's lock now."""
    try:
        held = HeldFolder.open(folder)
    except (OSError, UnsafePlaceError):  # nothing that we could lock either
        return False
    with held:
        if held.status(LOCK) is None:
            return False
        try:
            _require_one_name(held)
            lock = _lock_in(held, timeout=0)
            lock.acquire()
        except Timeout:
            return True
        except (OSError, UnsafePlaceError):  # another user's: what its holder wrote must do
            pid = _holder(held)
            return pid is not None and _lives(pid)
        lock.release()
        return False


def _lives(pid: int) -> bool:
    """A process that has ended, and that its parent has not asked after yet, holds nothing."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _acquire(folder: HeldFolder, what: str, hint: str) -> HeldLock:
    """Lock a folder, which is closed when the lock is released or cannot be had."""
    with ExitStack() as kept:
        kept.enter_context(folder)
        _require_one_name(folder)
        lock = _lock_in(folder, timeout=PATIENCE)
        try:
            with translate_os_errors(f"{folder.path / LOCK} cannot be locked"):
                _take(lock, folder)
        except Timeout as error:
            pid = _holder(folder)
            by = f"process {pid}" if pid else "another process"
            raise LedgerError(f"{what} by {by}", hint) from error
        with suppress(OSError, UnsafePlaceError):  # a full disk: it only tells others who it is
            folder.write(HOLDER, f"{os.getpid()}\n".encode(), mode=None)
        return HeldLock(folder, lock, kept.pop_all())


def _lock_in(folder: HeldFolder, timeout: float) -> FileLock:
    """The lock of this very folder, whatever its path leads to by now; filelock follows no link in
    the lock's own place."""
    return FileLock(folder.as_working_folder / LOCK, timeout=timeout, thread_local=False)


def _take(lock: FileLock, folder: HeldFolder) -> None:
    try:
        lock.acquire(poll_interval=0.02)
    except OSError as error:
        if error.errno is not None:  # not a Timeout
            error.filename = str(folder.path / LOCK)
        raise


def _require_one_name(folder: HeldFolder) -> None:
    """Raise UnsafePlaceError where the lock may be another name of a file of root's: some versions
    of filelock truncate the file that they lock."""
    status = folder.status(LOCK)
    if (
        own_uid() == 0
        and status is not None
        and (not stat.S_ISREG(status.st_mode) or status.st_nlink > 1)
    ):
        raise UnsafePlaceError(folder.path / LOCK, "is no plain file with one name")


def _holder(folder: HeldFolder) -> int | None:
    """The process that wrote itself down as the holder; a killed one leaves this behind."""
    try:
        return int(folder.read(HOLDER, 100, shared=True))
    except (OSError, ValueError, UnsafePlaceError):
        return None
