"""The ledger's schema versions: forward only, one script each."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path

from teiten.errors import LedgerError

APPLICATION_ID = 0x54454954
"""``TEIT``, in the file's header: this SQLite file is a ledger of Teiten."""


MIGRATIONS = {1: "schema.sql", 2: "profile.sql", 3: "", 4: ""}
"""Version, and the script that brings a ledger of the version before to it.

2: profiles, folded call stacks of a trial's extra window. 3: plans hold the options of each kind of
workload apart; nothing is rewritten, as ``options`` reads both forms: the version tells an older
Teiten that it cannot. 4: trials name a template for each node, and their loads, and what data sets
have, are of their kinds; nothing is rewritten either.
"""

CURRENT = max(MIGRATIONS)


def schema_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The ledger's version. Raises LedgerError for a stranger's file or a newer Teiten's."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version = schema_version(connection)
    tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    if application == 0 and version == 0 and tables.fetchone() is None:
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
        for statement in _statements(MIGRATIONS[version]):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {CURRENT}")


def _statements(name: str) -> list[str]:
    """A script's statements, one by one: executescript() would commit the transaction."""
    script = files("teiten.ledger").joinpath(name).read_text(encoding="utf-8") if name else ""
    result: list[str] = []
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            result.append(statement)
            statement = ""
    return result
