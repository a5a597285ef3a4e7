"""Ledgers as they are published: what evidence needs, small enough for a repository.

A published ledger has every trial with its numbers, histograms and plans. It has no time series, no
call stacks and no files beside it, and an event says so: it is read, and never continued.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from teiten.errors import LedgerError
from teiten.ledger import connect, rows
from teiten.ledger.failures import translated
from teiten.ledger.folders import FILE_NAME, new_folder
from teiten.ledger.reading import ledger_file
from teiten.model.progress import PUBLISHED
from teiten.model.trial import Event, unpack

ENDING = ".sqlite.xz"
LEFT_OUT = ("series", "profile")
"""The tables that a published ledger has without rows."""
AGAIN = "get its file once more"
LARGEST = 2**30
"""The most bytes that a published ledger has when it is decompressed."""


def reduced(folder: Path) -> bytes:
    """Copy a campaign's ledger to its published form, compressed; the ledger itself is only read.

    A ledger that was restored from its published form stays as it is. Raises LedgerError.
    """
    file = ledger_file(folder)
    with (
        translated(file),
        tempfile.TemporaryDirectory(prefix="teiten-published-") as place,
        closing(connect.untouched(file)) as source,
    ):
        # not with an SQLite older than 3.36
        if _is_published(source) and hasattr(source, "serialize"):
            return _compressed(source.serialize())
        path = Path(place) / FILE_NAME
        with closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
            _reduce(copy)
        return _compressed(path.read_bytes())


def _is_published(source: sqlite3.Connection) -> bool:
    """Whether the event of a published copy is there, and stays: a view could take it back."""
    views = source.execute("SELECT 1 FROM sqlite_master WHERE type = 'view'").fetchone()
    known = source.execute("SELECT 1 FROM event WHERE kind = ?", (PUBLISHED,)).fetchone()
    return known is not None and views is None


def _compressed(ledger: bytes) -> bytes:
    return lzma.compress(ledger, preset=9)


def restore(content: bytes, folder: Path) -> None:
    """Make the campaign's folder of a published ledger.

    Raises LedgerError where it is damaged, and where it is no published one: whoever made it would
    choose what `teiten resume` runs here.
    """
    try:
        decompressor = lzma.LZMADecompressor(memlimit=2**28)
        ledger = decompressor.decompress(content, LARGEST)
    except lzma.LZMAError as error:
        raise _damaged(folder, str(error)) from error
    if not decompressor.eof:
        cut = decompressor.needs_input
        raise _damaged(folder, "it is cut off" if cut else f"it has more than {LARGEST} bytes")
    with new_folder(folder) as making:
        file = making / FILE_NAME
        file.write_bytes(ledger)
        with translated(file), closing(connect.untouched(file)) as source:
            if not _is_published(source):
                raise _damaged(folder, "it is none that `teiten collection publish` wrote")


def _damaged(folder: Path, why: str) -> LedgerError:
    return LedgerError(f"the published ledger of {folder.name} is damaged: {why}", AGAIN)


def _reduce(copy: sqlite3.Connection) -> None:
    """Take out of a copy what is not published; its triggers hold again afterwards."""
    triggers = copy.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        copy.execute(f'DROP TRIGGER "{name}"')
    tables = {name for (name,) in copy.execute("SELECT name FROM sqlite_master")}
    for table in tables & {*LEFT_OUT}:
        copy.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    copy.create_function("plain", 1, _plain, deterministic=True)
    copy.execute("UPDATE trial SET evidence = '[]', facts = plain(facts)")
    (ended,) = copy.execute("SELECT max(at) FROM event").fetchone()  # what it took stays the same
    rows.insert_event(copy, Event(ended or 0.0, PUBLISHED, None, None, {}))
    for _, definition in triggers:
        copy.execute(definition)
    copy.commit()
    copy.execute("PRAGMA journal_mode = DELETE")
    copy.execute("VACUUM")


def _plain(facts: str) -> str:
    """Unpack a trial's long texts: alike ones are compressed together then, over all trials."""
    values = json.loads(facts)
    for name, value in values.items():
        if isinstance(value, str):
            with suppress(ValueError):
                values[name] = unpack(value)
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
