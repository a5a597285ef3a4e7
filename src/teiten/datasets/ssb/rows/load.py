"""Tables into a PostgreSQL server by binary COPY, without a file.

Rows are copied into tables with a name and a comment that say that they are being loaded. When all
of them are whole and verified, one transaction gives them their names, so that nothing that was
loaded by half can be taken for whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import psycopg
from psycopg import sql

from teiten.addresses import AddressError, read_address
from teiten.connections import Conninfo, for_program
from teiten.datasets.ssb.rows import sizes
from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.native import SsbColumn, columns, units
from teiten.datasets.ssb.rows.results import check_results, has_known_results, verify_sums
from teiten.datasets.ssb.rows.streaming import Copy, connected, copy_parallel
from teiten.errors import MachineError, ServerError, UsageError, first_line
from teiten.model.ssb import SsbData, SsbTable, Written

LOADING = "teiten_loading_"
"""The names of tables that are being loaded begin with it."""
SHOWN = ("host", "port", "dbname", "service")
"""Parts of a connection string that are shown; never a password."""
MARK = "Teiten is loading this table; it is not whole"
"""The comment of such a table: only what carries it is ever dropped."""


@dataclass(frozen=True)
class LoadOptions:
    """How tables are loaded."""

    streams: int = 1
    """Connections that load lineorder at the same time."""
    verify: bool = True
    """Compare the server's row counts and column sums with the generator's, and the results of the
    13 queries with those that are known for all tables at some scale factors."""


def load(dsn: Conninfo, data: SsbData, options: LoadOptions, watch: Watch) -> tuple[Written, ...]:
    """Create the tables of ``data`` in a database, load them and verify them.

    Tables are made in the first schema of its search_path.

    A table that one stream loads is created in the same transaction and copied with FREEZE; a
    table that another connection made cannot be frozen, so that with several streams lineorder's
    rows are not.

    Raises UsageError where a table exists or the connection string is wrong, MachineError where
    the disk does not suffice, ServerError where the server is not reached, refuses, goes away, or
    holds other rows than were sent. Whatever it raises, no table of this call is left, unless
    nothing can be dropped because the server has gone; then the next call drops it.
    """
    target = describe(dsn)
    with _told(target):
        connection = connected(dsn, autocommit=True)
    with connection:
        with _told(target):
            _refuse_existing(connection, data, target)
            _drop_remains(connection, watch)
            sizes.require_space(connection, data)
        copies = [Copy(data, table, loading_name(data, table), watch) for table in data.tables]
        try:
            with _told(target):
                written = tuple(
                    _load_table(dsn, connection, copy, options.streams) for copy in copies
                )
                for copy, sent in zip(copies, written, strict=True) if options.verify else ():
                    watch.step(f"verifying {copy.table}")
                    verify_sums(connection, copy.name, columns(data, copy.table), sent)
                checked = options.verify and has_known_results(data)
                with connection.transaction():
                    _name(connection, data)
                    if checked:
                        check_results(connection, data.variant, data.scale, watch)
        except BaseException:
            _drop(dsn)
            raise
    if options.verify:
        results = " and the results of the 13 queries" if checked else ""
        watch.note(f"verified in the server: the numbers of rows, column sums{results}")
    return written


def table_name(data: SsbData, table: SsbTable) -> str:
    """``lineorder``, or ``lineorder_3_of_8`` for a chunk."""
    chunk = data.chunk
    return table if chunk.whole else f"{table}_{chunk.number}_of_{chunk.count}"


def loading_name(data: SsbData, table: SsbTable) -> str:
    """Name a table until it is whole."""
    return LOADING + table_name(data, table)


def describe(dsn: str) -> str:
    """Where a connection string leads, for people: without a password."""
    try:
        parts = read_address(dsn)
    except AddressError as error:
        raise UsageError(
            f"--to is not a connection string that libpq understands: {error}",
            "for example: --to 'host=/var/run/postgresql dbname=ssb' or"
            " --to postgresql://user@host/ssb",
        ) from error
    known = {key: value for key, value in parts.items() if value and key in SHOWN}
    return f"the server ({for_program(**known) or 'defaults of libpq'})"


def create_statement(name: str, columns_of_table: tuple[SsbColumn, ...]) -> sql.Composed:
    """CREATE TABLE without keys and indexes: studies add their own."""
    fields = sql.SQL(", ").join(
        sql.SQL("{} {} NOT NULL").format(sql.Identifier(column.name), sql.SQL(column.type))
        for column in columns_of_table
    )
    return sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), fields)


def _load_table(dsn: Conninfo, connection: psycopg.Connection, copy: Copy, streams: int) -> Written:
    data, table = copy.data, copy.table
    copy.watch.step(f"loading {table}")
    part = data.chunk.range_of(units(data, table))
    parallel = table is SsbTable.LINEORDER and streams > 1
    with connection.transaction():
        connection.execute(create_statement(copy.name, columns(data, table)))
        connection.execute(_comment(copy.name, MARK))
        if not parallel:
            return replace(copy, freeze=True).run(connection, part)
    return copy_parallel(dsn, copy, part, streams)


def _refuse_existing(connection: psycopg.Connection, data: SsbData, target: str) -> None:
    for table in data.tables:
        name = table_name(data, table)
        # As bytes: in a database of SQL_ASCII a comment can be in any encoding.
        comment = connection.execute(
            "SELECT convert_to(obj_description(oid, 'pg_class'), 'SQL_ASCII') FROM pg_class"
            " WHERE oid = to_regclass(%s)",
            [sql.Identifier(name).as_string()],
        ).fetchone()
        if comment is None:
            continue
        what = f" ({comment[0].decode('utf-8', 'replace')})" if comment[0] else ""
        raise UsageError(
            f"table {name} exists in {target}{what}",
            f"drop it (DROP TABLE {name};), or name another database or schema with --to,"
            " for example with options=-csearch_path=ssb",
        )


def _drop_remains(connection: psycopg.Connection, watch: Watch) -> None:
    """Drop what a call left that was ended by force or lost its server, unless it still loads."""
    try:
        names = _drop_marked(connection, timeout="1s")
    except psycopg.errors.LockNotAvailable as error:
        raise UsageError(
            "another teiten is loading tables in that database",
            "wait until it has ended",
        ) from error
    if names:
        watch.note(
            f"dropped {', '.join(names)}, which an earlier load had left unfinished;"
            " this one starts from the beginning"
        )


def _drop_marked(connection: psycopg.Connection, timeout: str) -> list[str]:
    """Drop the tables that carry the comment of being loaded, and no others; tells their names."""
    tables = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
        " AND position(%s IN relname) = 1 AND obj_description(oid, 'pg_class') = %s",
        [LOADING, MARK],
    ).fetchall()
    for (name,) in tables:
        with connection.transaction():
            connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(timeout))
            connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))
    return [name for (name,) in tables]


def _name(connection: psycopg.Connection, data: SsbData) -> None:
    """Give all tables their names."""
    for table in data.tables:
        name = table_name(data, table)
        connection.execute(
            sql.SQL("ALTER TABLE {} RENAME TO {}").format(
                sql.Identifier(loading_name(data, table)), sql.Identifier(name)
            )
        )
        connection.execute(_comment(name, f"{data}; loaded by Teiten"))


def _comment(name: str, text: str) -> sql.Composed:
    return sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(name), text)


def _drop(dsn: Conninfo) -> None:
    """Drop what this call has made so far, by a connection of its own: the other may be lost."""
    with suppress(psycopg.Error), connected(dsn, autocommit=True) as connection:
        _drop_marked(connection, timeout="10s")


@contextmanager
def _told(target: str) -> Iterator[None]:
    """Turn what psycopg raises into what a user can act on."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise MachineError(
            f"the disk of {target} is full: {first_line(error)}",
            "free disk space, or choose a smaller --scale; what was loaded has been dropped",
        ) from error
    except psycopg.OperationalError as error:
        raise ServerError(
            f"{target} cannot be reached, or the connection was lost: {first_line(error)}",
            "see that the server runs and that --to names it, then run the same command again:"
            " a table gets its name when it is whole, and what was loaded by half is dropped",
        ) from error
    except psycopg.Error as error:
        raise ServerError(
            f"{target} refused: {first_line(error)}",
            "--to must name a database in which you may create tables",
        ) from error
