"""Ledgers that are only read: also one file copied from another machine, or of an older Teiten.

A ledger of an earlier schema is brought to the present one on a copy in a temporary folder; the
file itself is never written.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from teiten.errors import LedgerError
from teiten.ledger import connect
from teiten.ledger.failures import translated
from teiten.ledger.migrate import CURRENT, check_version
from teiten.ledger.store import FILE_NAME, Ledger


def ledger_file(path: Path) -> Path:
    """The ledger that a path means: the file itself, or the one in a campaign's folder.

    Raises LedgerError where there is none.
    """
    if path.is_dir():
        file = path / FILE_NAME
        if file.is_file():
            return file
        raise LedgerError(
            f"no campaign in {path}: it has no {FILE_NAME}",
            "name a campaign's folder (with --workdir before the verb: its name), or its ledger",
        )
    if path.is_file():
        return path
    raise LedgerError(
        f"there is no {path}",
        "name a campaign of `teiten runs`, or the path of a campaign's folder or ledger",
    )


@contextmanager
def reading(path: Path) -> Iterator[Ledger]:
    """A ledger to read: ``path`` is a campaign's folder or a ledger under any name.

    Raises LedgerError where it is missing, damaged, no ledger, or of a newer Teiten.
    """
    file = ledger_file(path)
    if file.name == FILE_NAME and _version(file) == CURRENT:
        with Ledger.open(file.parent, read_only=True) as ledger:
            yield ledger
        return
    _version(file)
    with tempfile.TemporaryDirectory(prefix="teiten-ledger-") as folder:
        _copy(file, Path(folder) / FILE_NAME)
        with Ledger.open(Path(folder)) as ledger:  # migrates the copy
            yield ledger


def _version(file: Path) -> int:
    with translated(file), closing(connect.reader(file)) as connection:
        return check_version(connection, file)


def _copy(source: Path, target: Path) -> None:
    """As SQLite sees it: with what a writer has committed beside the file."""
    with (
        translated(source),
        closing(connect.reader(source)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)
