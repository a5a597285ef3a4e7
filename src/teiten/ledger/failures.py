"""SQLite's errors as errors that a user can act on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from teiten.errors import LedgerError, MachineError, TeitenError

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


def _translation(error: sqlite3.Error, path: Path) -> TeitenError:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerError(
            f"{path} is not a ledger: it is no SQLite file",
            "name a campaign of `teiten runs`, or restore the file from a copy",
        )
    if code == sqlite3.SQLITE_FULL:
        return MachineError(
            f"the disk is full: nothing more can be recorded in {path}",
            "free disk space (`teiten clean` gives some back), then `teiten resume`",
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY):
        return LedgerError(
            f"no permission to open the ledger {path}: {error}",
            "run Teiten as the user who made the campaign, or copy its folder",
        )
    if code == sqlite3.SQLITE_IOERR:
        return MachineError(
            f"the disk failed on the ledger {path}: {error}",
            "see the kernel's messages (dmesg) for the device, then `teiten resume`",
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerError(
            f"another program holds the ledger {path}",
            "close the program that has the file open (for example a database browser)",
        )
    return _damaged(path, str(error))


def _damaged(path: Path, what: str) -> LedgerError:
    return LedgerError(
        f"the ledger {path} is damaged: {what}",
        "restore the file from a copy, or delete the campaign with `teiten rm`",
    )
