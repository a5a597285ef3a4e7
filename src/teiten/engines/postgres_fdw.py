"""PostgreSQL's own sharding: hash partitions that are foreign tables.

A transaction is committed on one node after the other, so that a failure between two commits leaves
half of it; transactions on nodes run REPEATABLE READ, so that two that update one row at the same
time end in a serialization failure, which clients repeat (``pgbench --max-tries``).

Where clients enter through the nodes, each of them has the partitioned tables too, in a schema of
their own: its own rows, attached as they are, and foreign tables of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from teiten.engines.contract import COLUMNS, OWN_KEYS, Engine, Servers
from teiten.model.distribution import NOTHING, Distribution, PartMethod, TablePart

ASYNC_SINCE = 140000
"""server_version_num: options async_capable and batch_size."""
ROWS_AT_ONCE = 1000
ENTRY, PUBLIC = "entry", "public"
"""Schemas: of the partitioned tables on a node that clients enter through; of its own rows."""
HAS_ENTRY = "SELECT 1 FROM pg_namespace WHERE nspname = %s"


class PostgresFdw(Engine):
    name = "postgres_fdw"
    extension = "postgres_fdw"
    oldest = 11
    installing = (
        "install the contrib modules of this PostgreSQL, or let Teiten install one:"
        " teiten pg install 18"
    )
    needs_retries = True
    everywhere = True
    session: ClassVar[Mapping[str, str]] = {"search_path": f"{ENTRY},{PUBLIC}"}

    def parts(self, planned: Distribution) -> tuple[TablePart, ...]:
        nodes = planned.nodes
        spread = (TablePart(PartMethod.HASH, number, nodes) for number in range(1, nodes + 1))
        return (NOTHING, *spread)

    def distribute(self, servers: Servers, planned: Distribution) -> None:
        del planned
        with servers.connect(servers.coordinator) as connection, connection.transaction():
            for table in COLUMNS:
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(table)))
            connection.execute("DROP EXTENSION IF EXISTS postgres_fdw CASCADE")
            _run(connection, _tables(servers, connection.info.server_version))
        for own, node in enumerate(servers.nodes):
            with servers.connect(node) as connection, connection.transaction():
                row = connection.execute(HAS_ENTRY, (ENTRY,)).fetchone()
                if row is not None:
                    _run(connection, _without_entry())
                if node in servers.entries:
                    _run(connection, _tables(servers, connection.info.server_version, own))


def _run(connection: psycopg.Connection[Any], statements: Iterable[sql.Composed]) -> None:
    for statement in statements:
        connection.execute(statement)


def _without_entry() -> Iterator[sql.Composed]:
    """Yield the statements that drop what an earlier trial has left on a node: its own rows are let
    go first."""
    for table in COLUMNS:
        yield sql.SQL("ALTER TABLE {} DETACH PARTITION {}").format(
            sql.Identifier(ENTRY, table), sql.Identifier(PUBLIC, table)
        )
    yield sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(ENTRY))
    yield sql.SQL("DROP EXTENSION IF EXISTS postgres_fdw CASCADE").format()


def _tables(servers: Servers, version: int, own: int | None = None) -> Iterator[sql.Composed]:
    """The partitioned tables of the coordinator, or, in a schema of their own, of the node that is
    ``own`` among those that hold rows, from 0."""
    yield sql.SQL("CREATE EXTENSION postgres_fdw").format()
    place = () if own is None else (ENTRY,)
    if own is not None:
        yield sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(ENTRY))
    count = len(servers.nodes)
    for number, node in enumerate(servers.nodes):
        if number != own:
            yield from _server(number, dict(servers.parameters(node)), version)
    for table, columns in COLUMNS.items():
        whole = sql.Identifier(*place, table)
        yield sql.SQL("CREATE TABLE {} ({}) PARTITION BY HASH ({})").format(
            whole, sql.SQL(columns), sql.Identifier(OWN_KEYS[table])
        )
        if own is not None:
            yield sql.SQL(
                "ALTER TABLE {} ATTACH PARTITION {} FOR VALUES WITH (MODULUS {}, REMAINDER {})"
            ).format(whole, sql.Identifier(PUBLIC, table), count, own)
        for number in range(count):
            if number != own:
                yield _foreign(place, table, number, count)


def _foreign(place: tuple[str, ...], table: str, number: int, count: int) -> sql.Composed:
    """The partition of another node; ``place``: the schema, where it is not the usual one."""
    return sql.SQL(
        "CREATE FOREIGN TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})"
        " SERVER {} OPTIONS (schema_name {}, table_name {})"
    ).format(
        sql.Identifier(*place, f"{table}_{number + 1}"),
        sql.Identifier(*place, table),
        count,
        number,
        _name(number),
        PUBLIC,
        table,
    )


def _name(number: int) -> sql.Identifier:
    return sql.Identifier(f"node_{number + 1}")


def _server(number: int, parameters: dict[str, str], version: int) -> Iterator[sql.Composed]:
    names = [name for name in ("user", "password") if name in parameters]
    mapped: dict[str, str] = {name: parameters.pop(name) for name in names}
    if version >= ASYNC_SINCE:
        parameters |= {"async_capable": "true", "batch_size": str(ROWS_AT_ONCE)}
    yield sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})").format(
        _name(number), _options(parameters)
    )
    yield sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS ({})").format(
        _name(number), _options(mapped)
    )


def _options(parameters: dict[str, str]) -> sql.Composed:
    pairs = (
        sql.SQL("{} {}").format(sql.Identifier(name), value)
        for name, value in sorted(parameters.items())
    )
    return sql.SQL(", ").join(pairs)


ENGINE = PostgresFdw()
