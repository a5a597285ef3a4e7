"""SQLite's errors as errors that a user can act on."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from teiten.errors import LedgerError, MachineError, TeitenError
from teiten.host.system.causes import machine_error, translate_os_errors
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError

_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes carry the primary one in the lowest byte."""

_UNREADABLE = (ValidationError, json.JSONDecodeError, UnicodeDecodeError, pa.ArrowInvalid)
_WILD = (
    *_UNREADABLE,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    RecursionError,
    pa.ArrowException,
)
"""Errors that reading raises for values that nothing of Teiten's has written."""


@contextmanager
def translated(path: Path, *, reading: bool = True) -> Iterator[None]:
    """Raise LedgerError or MachineError for what SQLite says of the ledger at ``path``, and for
    what is ``reading`` where it holds what no Teiten has written."""
    unreadable = _WILD if reading else _UNREADABLE
    try:
        with translate_os_errors(f"the ledger {path}"):
            yield
    except sqlite3.Error as error:
        raise _translation(error, path) from error
    except unreadable as error:
        raise damaged(path, "a value in it cannot be read") from error


@contextmanager
def consistent(path: Path) -> Iterator[None]:
    """Raise LedgerError for what cannot be made of the ledger at ``path``, whose values can each be
    read, but do not fit one another: a contrast that is no factor, a trial of an unknown level."""
    try:
        yield
    except (*_WILD, AttributeError, ArithmeticError, StopIteration) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise LedgerError(
            f"the ledger {path} cannot be analysed: its values do not fit one another ({what})",
            "restore the file from a copy; where Teiten wrote it as it is, this is a defect of"
            " Teiten: please report it with the ledger",
        ) from error


def of_sqlite(error: sqlite3.Error, path: Path | None = None) -> MachineError | None:
    """Translate an error of SQLite into what the machine refused it; None where something else is
    wrong."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    number = _CAUSES.get(code)
    if number is None:
        return None
    if path is not None and code in _HIDING:
        number = _tried(path, writing=code != sqlite3.SQLITE_CANTOPEN) or _HIDING[code]
        if number is None:
            return None
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
_HIDING: dict[int, int | None] = {
    sqlite3.SQLITE_CANTOPEN: None,
    sqlite3.SQLITE_PERM: None,
    sqlite3.SQLITE_READONLY: None,
    sqlite3.SQLITE_IOERR: errno.EIO,
}
"""Codes that do not tell what the system said, and what it is where the system lets us now."""


def _tried(path: Path, *, writing: bool) -> int | None:
    """Find the system's error number by doing in the ledger's folder what SQLite wanted; None where
    the system lets us.

    The ledger's own file is never opened: when it is closed again, the locks go that SQLite has on
    it in this process (POSIX), and another program may write.
    """
    try:
        path.stat()
        with HeldFolder.open(path.parent) as folder, folder.create_nameless() as file:
            file.write(bytes(_PAGE))
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno
    except UnsafePlaceError:
        return None
    wanted = os.R_OK | os.W_OK if writing else os.R_OK
    by_effective = os.access in os.supports_effective_ids
    return None if os.access(path, wanted, effective_ids=by_effective) else errno.EACCES


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
    refusal = of_sqlite(error, path)
    if refusal is None and code in _HIDING:
        return LedgerError(
            f"the ledger {path} cannot be used: {error}",
            "see whether its folder can be written, or copy it to one that can",
        )
    return refusal or damaged(path, str(error))


def damaged(path: Path, what: str) -> LedgerError:
    """The error of a ledger that cannot be read."""
    return LedgerError(
        f"the ledger {path} is damaged: {what}",
        "restore the file from a copy, or delete the campaign with `teiten rm`",
    )
