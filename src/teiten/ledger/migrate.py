"""The ledger's schema versions: forward only, one numbered function each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from teiten.errors import LedgerError

APPLICATION_ID = 0x54454954
"""``TEIT``, in the file's header: this SQLite file is a ledger of Teiten."""


def _to_version_1(connection: sqlite3.Connection) -> None:
    _run(connection, "schema.sql")


def _run(connection: sqlite3.Connection, name: str) -> None:
    script = files("teiten.ledger").joinpath(name).read_text(encoding="utf-8")
    for statement in _statements(script):
        connection.execute(statement)


def _to_version_2(connection: sqlite3.Connection) -> None:
    """Profiles: folded call stacks of a trial's extra window."""
    _run(connection, "profile.sql")


def _to_version_3(connection: sqlite3.Connection) -> None:
    """Plans hold the options of each kind of workload apart. Nothing is rewritten: ``options``
    reads both forms; the version tells an older Teiten that it cannot."""
    del connection


def _to_version_4(connection: sqlite3.Connection) -> None:
    """Trials name a template for each node; their loads, and what data sets have, are of their
    kinds. Nothing is rewritten, as for version 3."""
    del connection


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _to_version_1,
    2: _to_version_2,
    3: _to_version_3,
    4: _to_version_4,
}
"""Version, and what brings a ledger of the version before to it."""

CURRENT = max(MIGRATIONS)


def schema_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The ledger's version. Raises LedgerError for a stranger's file or a newer Teiten's."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version = schema_version(connection)
    if application == 0 and version == 0 and not _has_tables(connection):
        raise LedgerError(
            f"{path} is empty: Teiten was stopped while it made the campaign",
            "delete it with `teiten rm` and run the study again; nothing was measured",
        )
    if application != APPLICATION_ID:
        raise LedgerError(
            f"{path} is not a ledger of Teiten, but another program's SQLite file",
            "name a campaign of `teiten runs`",
        )
    if version > CURRENT:
        raise LedgerError(
            f"the ledger {path} was written by a newer Teiten"
            f" (its schema has version {version}, this Teiten knows up to {CURRENT})",
            "install the newer Teiten: pip install --upgrade teiten",
        )
    return version


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema to the current version, inside the caller's transaction."""
    for version in range(schema_version(connection) + 1, CURRENT + 1):
        MIGRATIONS[version](connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {CURRENT}")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def _statements(script: str) -> list[str]:
    """The script's statements, one by one: executescript() would commit the transaction."""
    result: list[str] = []
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            result.append(statement)
            statement = ""
    return result
