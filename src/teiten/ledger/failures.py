"""SQLite's errors as errors that a user can act on."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from teiten.errors import LedgerError, MachineError, TeitenError
from teiten.host.system.causes import machine_error

_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes carry the primary one in the lowest byte."""

_UNREADABLE = (ValidationError, json.JSONDecodeError, UnicodeDecodeError, pa.ArrowInvalid)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise LedgerError or MachineError for what SQLite says of the ledger at ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(error, path) from error
    except _UNREADABLE as error:
        raise _damaged(path, "a value in it cannot be read") from error
    except OSError as error:
        found = machine_error(error, f"the ledger {path}")
        if found is None:
            raise
        raise found from error


def of_sqlite(error: sqlite3.Error, path: Path | None = None) -> MachineError | None:
    """What the machine refused SQLite; None where something else is wrong."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    number = _CAUSES.get(code)
    if number is None:
        return None
    if path is not None and code in _HIDING:
        number = _tried(path, writing=code != sqlite3.SQLITE_CANTOPEN) or number
    refused = OSError(number, os.strerror(number), str(path) if path is not None else None)
    return machine_error(refused, "the ledger cannot be used" if path else "SQLite")


_CAUSES = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_AUTH: errno.EACCES,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_NOLFS: errno.EFBIG,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}
_HIDING = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
)
"""Codes that do not say what the system said."""


def _tried(path: Path, *, writing: bool) -> int | None:
    """What the system says where we do ourselves what SQLite wanted; None where it lets us."""
    try:
        descriptor = os.open(path, os.O_RDWR if writing else os.O_RDONLY)
        os.close(descriptor)
        descriptor, name = tempfile.mkstemp(prefix=".teiten-", dir=path.parent)
        try:
            os.write(descriptor, bytes(_PAGE))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            Path(name).unlink()
    except OSError as error:
        return error.errno
    return None


_PAGE = 65_536
"""Bytes: more than what a full file system may still find in a block that was begun."""


def _translation(error: sqlite3.Error, path: Path) -> TeitenError:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerError(
            f"{path} is not a ledger: it is no SQLite file",
            "name a campaign of `teiten runs`, or restore the file from a copy",
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerError(
            f"another program holds the ledger {path}",
            "close the program that has the file open (for example a database browser)",
        )
    return of_sqlite(error, path) or _damaged(path, str(error))


def _damaged(path: Path, what: str) -> LedgerError:
    return LedgerError(
        f"the ledger {path} is damaged: {what}",
        "restore the file from a copy, or delete the campaign with `teiten rm`",
    )
