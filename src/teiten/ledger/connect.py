"""Connections to a ledger's SQLite file."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from teiten.errors import LedgerError
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.users import own_uid

BUSY_TIMEOUT = 30.0
"""Seconds to wait for a reader's checkpoint; there is only one writer."""


def writer(path: Path, *, new: bool = False) -> sqlite3.Connection:
    """For writing too; ``new``: makes the file, in WAL mode."""
    connection = _open(path, "rwc" if new else "rw")
    with _closed_on_error(connection):
        if new:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a committed trial survives power loss
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")  # REPLACE's deletion fires them too
    return connection


def reader(path: Path) -> sqlite3.Connection:
    """For reading only; from a folder or medium that cannot be written as well."""
    connection = _open(path, "ro")
    try:
        with _closed_on_error(connection):
            connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        # WAL mode needs a -shm file, which cannot be made here. Without a -wal file the ledger
        # itself is complete, and nobody writes it.
        if Path(f"{path}-wal").exists():
            raise
        connection = _open(path, "ro&immutable=1")
    return connection


def untouched(path: Path) -> sqlite3.Connection:
    """For reading a file that may be another machine's: nothing is made beside it.

    Only where a writer has left, or still has, a -wal file, that has to be read too.
    """
    if Path(f"{path}-wal").exists():
        return reader(path)
    return _open(path, "ro&immutable=1")


def _open(path: Path, mode: str) -> sqlite3.Connection:
    _refuse_planted(path, writing=mode.startswith("rw"))
    return sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT,
        isolation_level=None,  # transactions are begun and ended by us, in words
        check_same_thread=False,  # the ledger's own lock guards it
    )


def _refuse_planted(path: Path, *, writing: bool) -> None:
    """Raise LedgerError where root's SQLite would go through what another user has put there.

    SQLite follows a link in the ledger's place, makes its ``-shm`` file shorter, and deletes files
    that a journal of an interrupted transaction names; no ledger has one, because of its WAL.
    """
    if own_uid() != 0:
        return
    with suppress(OSError):  # SQLite tells it
        try:
            with HeldFolder.open(path.parent) as folder:
                if not folder.is_trusted:
                    _require_plain_files(folder, path.name, writing=writing)
        except UnsafePlaceError as error:
            raise LedgerError(error.message, error.hint) from error


def _require_plain_files(folder: HeldFolder, name: str, *, writing: bool) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        status = folder.status(name + end)
        if status is None:
            continue
        if not stat.S_ISREG(status.st_mode):
            raise UnsafePlaceError(folder.path / f"{name}{end}", "is not a plain file")
        if status.st_nlink > 1 and status.st_uid != folder.owner:
            raise UnsafePlaceError(folder.path / f"{name}{end}", "is another file of root's too")
        if writing and end == "-journal":
            raise UnsafePlaceError(folder.path / f"{name}{end}", "is no file of a ledger")


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    """Nobody else will close it: the caller has not got it yet."""
    try:
        yield
    except BaseException:
        connection.close()
        raise
