"""Tables for probes by COPY FREEZE: every page holds the same number of rows, row 1 of page N is
reached by the TID (N,1)."""

from __future__ import annotations

from typing import Any

import psycopg

from teiten.connections import first_value
from teiten.datasets.contract import Fillable, Say
from teiten.datasets.probes.model import (
    PAGE,
    ProbesTables,
    SizedTable,
    memory_of,
    pages_of,
    row_length,
)
from teiten.errors import ServerError
from teiten.model.study import DataSet

SPARE = 512
"""Empty pages at the end that a server may leave, which extends a table by many at a time."""
AT_ONCE = 256 * 1024
"""Bytes that are given to COPY at a time."""


def fill(server: Fillable, data: DataSet, say: Say) -> None:
    """Raises ServerError where a table does not become as large as it should."""
    for table in data.options_as(ProbesTables).tables:
        say(f"loading {table.name}")
        _load(server, table, pages_of(table, memory_of(data)))


def _load(server: Fillable, table: SizedTable, pages: int) -> None:
    """In one transaction, so that rows can be frozen. The text is never compressed nor moved."""
    filler = "x" * row_length(table)
    with server.connect() as connection:
        with connection.transaction():
            connection.execute(
                f"CREATE TABLE {table.name} (id bigint NOT NULL, filler text NOT NULL)"
                f" WITH (fillfactor = {table.fillfactor}, autovacuum_enabled = false)".encode()
            )
            connection.execute(f"ALTER TABLE {table.name} ALTER filler SET STORAGE PLAIN".encode())
            _copy(connection, table, pages * table.rows, filler)
        made = first_value(connection, "SELECT pg_relation_size(%s)", (table.name,)) // PAGE
    if not pages <= made <= pages + SPARE:
        raise ServerError(
            f"{server.name}: the table {table.name} has {made} pages, not {pages}",
            "probes need a server with pages of 8 kB, and a row that fits; see rows and fillfactor",
        )


def _copy(connection: psycopg.Connection[Any], table: SizedTable, rows: int, filler: str) -> None:
    at_once = max(1, AT_ONCE // (len(filler) + 10))
    ending = f"\t{filler}\n"
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table.name} FROM STDIN (FREEZE)".encode()) as copy,
    ):
        for begin in range(0, rows, at_once):
            ids = range(begin, min(rows, begin + at_once))
            copy.write("".join(f"{number}{ending}" for number in ids))
