"""The agent's folder on its host: chosen, locked, swept, and left clean."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from filelock import FileLock, Timeout

from teiten.errors import MachineError
from teiten.execute.client.log_folder import sweep_logs
from teiten.execute.postgres.sweep import sweep
from teiten.host.system.own_folders import leave_folders_of_others, require_own
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import ServerUser, server_user

PATIENCE = 20.0
"""Seconds that the agent of a Teiten that was killed may take to clean up."""


class AgentFolder:
    """The working folder of a host, and the user of its servers."""

    def __init__(self) -> None:
        self._workdir: Workdir | None = None
        self._user: ServerUser | None = None
        self._lock: FileLock | None = None
        self._prepared = False

    @property
    def workdir(self) -> Workdir:
        if self._workdir is None:
            raise RuntimeError("no working folder was chosen")
        return self._workdir

    @property
    def user(self) -> ServerUser:
        if self._user is None:
            self._user = server_user()
        return self._user

    def choose(self, folder: str | None) -> str:
        """The working folder, which need not exist; changes nothing."""
        root = Path(folder).expanduser() if folder else default_workdir()
        if not root.is_absolute():
            root = Path.home() / root
        self._workdir = Workdir(root)
        return str(root)

    def prepare(self, lock: bool) -> list[str]:
        """Make the folders, keep other campaigns out, and end what a dead Teiten left; say what.

        ``lock``: False on the machine whose Teiten holds the lock itself. Raises MachineError
        where another campaign is measured there, UsageError where the folder is not root's alone,
        OSError where it cannot be written.
        """
        leave_folders_of_others()
        require_own(self.workdir.root)
        self.workdir.prepare()
        self._prepared = True
        if not lock:
            return []
        self._take_lock()
        return [*sweep(self.workdir), *sweep_logs()]

    def end(self) -> None:
        """Delete what a request that was cut off in its middle has left, and let others in."""
        if self._prepared:
            with contextlib.suppress(Exception):
                sweep(self.workdir, ending=True)
                sweep_logs(ending=True)
        if self._lock is not None:
            with contextlib.suppress(OSError):
                _holder(self.workdir).unlink()
            self._lock.release()
            self._lock = None

    def _take_lock(self) -> None:
        lock = FileLock(self.workdir.root / "lock", timeout=PATIENCE)
        try:
            lock.acquire()
        except Timeout as error:
            raise MachineError(
                f"another campaign is being measured there (working folder {self.workdir.root})",
                "wait until it has ended: two at once would disturb each other; what a lost"
                " connection has left ends within a minute",
            ) from error
        self._lock = lock
        _holder(self.workdir).write_text(f"{os.getpid()}\n", encoding="ascii")


def _holder(workdir: Workdir) -> Path:
    """Name the file of the lock's holder, as ``ledger.lock`` does."""
    return workdir.root / "lock.pid"
