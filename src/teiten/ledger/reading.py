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
from teiten.ledger.failures import consistent, translated
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.migrate import CURRENT, check_version
from teiten.ledger.store import Ledger


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

    Raises LedgerError where it is missing, damaged, no ledger, or of a newer Teiten, and where what
    is made of it shows that its values do not fit one another.
    """
    file = ledger_file(path)
    with translated(file):
        connection = connect.untouched(file)
    with closing(connection):
        with translated(file):
            version = check_version(connection, file)
        if version == CURRENT:
            ledger = Ledger(file.parent, connection, None)
            ledger.path = file
            ledger.read_campaign()
            with consistent(file):
                yield ledger
            return
        with tempfile.TemporaryDirectory(prefix="teiten-ledger-") as folder:
            with translated(file), closing(sqlite3.connect(Path(folder) / FILE_NAME)) as copy:
                connection.backup(copy)
            with Ledger.open(Path(folder)) as ledger:  # migrates the copy
                ledger.path = file
                with consistent(file):
                    yield ledger
