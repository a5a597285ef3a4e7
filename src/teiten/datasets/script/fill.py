"""The user's own SQL, in one transaction; then its rows several times over, where that is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.script.copies import (
    Column,
    ForeignKey,
    TableColumns,
    TableRelations,
    UncopiedError,
    UniqueKey,
    copying,
    shifted_groups,
    spans,
)
from teiten.datasets.script.model import ScriptTables
from teiten.datasets.sql import run_script
from teiten.errors import WorkloadError, first_line
from teiten.model.study import DataSet

RELATIONS = Path(__file__).parent / "relations.sql"
IDENTITIES_SINCE = 100_000
SEQUENCES = """
SELECT DISTINCT s.oid::regclass::text
FROM pg_depend d
LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
JOIN pg_class s ON s.relkind = 'S'
    AND s.oid = CASE WHEN f.oid IS NULL THEN d.objid ELSE d.refobjid END
WHERE (f.adrelid = %(table)s AND f.adnum = %(column)s)
   OR (d.classid = 'pg_class'::regclass AND d.refobjid = %(table)s AND d.refobjsubid = %(column)s)
"""
"""Those that a column owns, or that its default asks."""
VIEWS = """
SELECT format('%I.%I', n.nspname, c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'm' AND c.relispopulated ORDER BY c.oid
"""


def fill(server: Fillable, data: DataSet, say: Say) -> None:
    """Run the data set's script. Raises WorkloadError where it fails, or where its rows cannot be
    repeated."""
    tables = data.options_as(ScriptTables)
    run_script(server, tables.script, "data script")
    if tables.rows > 1:
        say(f"adding each row {tables.rows - 1} times more")
        try:
            with server.connect() as connection, connection.transaction():
                _add_copies(connection, tables.rows)
        except (psycopg.Error, UncopiedError) as error:
            raise WorkloadError(
                f"the rows of {tables.script.name} cannot be had {tables.rows} times on"
                f" {server.name}: {first_line(error)}",
                "leave --rows out, leave the table or its index out of the dump, or dump a larger"
                " database",
            ) from error


def _add_copies(connection: psycopg.Connection[Any], times: int) -> None:
    """Triggers and checks of foreign keys do not run: each copy's references are shifted alike."""
    relations = _relations(connection)
    groups = shifted_groups(relations)
    extremes = {
        column: _extremes(connection, relations, column) for group in groups for column in group
    }
    by_column = spans(relations, groups, extremes, times)
    connection.execute("SET LOCAL session_replication_role = replica")
    identities = connection.info.server_version >= IDENTITIES_SINCE
    for table, statement in copying(relations, by_column, times, identities=identities):
        try:
            connection.execute(statement.encode())
        except psycopg.Error as error:
            raise UncopiedError(f"{table}: {error}") from error
    for column in by_column:
        _advance_sequences(connection, relations, column)
    for (view,) in connection.execute(VIEWS).fetchall():
        connection.execute(f"REFRESH MATERIALIZED VIEW {view}".encode())


def _relations(connection: psycopg.Connection[Any]) -> TableRelations:
    rows = connection.execute(RELATIONS.read_text(encoding="utf-8").encode()).fetchall()
    for _, name, *_, exclusion in rows:
        if exclusion is not None:
            raise UncopiedError(f"{name} has the exclusion constraint {exclusion}")
    return TableRelations(
        tables={
            oid: TableColumns(
                oid, name, partitioned, {number: (column, kind) for number, column, kind in columns}
            )
            for oid, name, partitioned, columns, *_ in rows
        },
        unique=[
            UniqueKey(name, oid, tuple(numbers))
            for oid, _, _, _, keys, *_ in rows
            for name, numbers in keys
        ],
        foreign=[
            ForeignKey(oid, tuple(numbers), references, tuple(referenced))
            for oid, _, _, _, _, keys, _ in rows
            for numbers, references, referenced in keys
        ],
    )


def _extremes(
    connection: psycopg.Connection[Any], relations: TableRelations, column: Column
) -> tuple[int, int] | None:
    name, _ = relations.column(column)
    table = relations.tables[column[0]].name
    query = f"SELECT min({name}), max({name}) FROM {table}"  # noqa: S608 - the user's own table
    row = connection.execute(query.encode()).fetchone()
    return None if row is None or row[0] is None else (int(row[0]), int(row[1]))


def _advance_sequences(
    connection: psycopg.Connection[Any], relations: TableRelations, column: Column
) -> None:
    name, _ = relations.column(column)
    table = relations.tables[column[0]].name
    parameters = {"table": column[0], "column": column[1]}
    for (sequence,) in connection.execute(SEQUENCES.encode(), parameters).fetchall():
        connection.execute(
            f"SELECT setval(%s::regclass, max({name})) FROM {table}"  # noqa: S608 - its own
            " HAVING max(" + name + ") IS NOT NULL",
            (sequence,),
        )
