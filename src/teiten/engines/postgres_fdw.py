"""PostgreSQL's own sharding: hash partitions that are foreign tables.

A transaction is committed on one node after the other, so that a failure between two commits leaves
half of it; transactions on nodes run REPEATABLE READ, so that two that update one row at the same
time end in a serialization failure, which clients repeat (``pgbench --max-tries``).
"""

from __future__ import annotations

from collections.abc import Iterator

from psycopg import sql

from teiten.engines.contract import Engine, Servers
from teiten.model.distribution import NOTHING, Distribution, PartMethod, TablePart

ASYNC_SINCE = 140000
"""server_version_num: options async_capable and batch_size."""
ROWS_AT_ONCE = 1000
TABLES = {
    "pgbench_accounts": ("aid", "aid int NOT NULL, bid int, abalance int, filler char(84)"),
    "pgbench_tellers": ("tid", "tid int NOT NULL, bid int, tbalance int, filler char(84)"),
    "pgbench_branches": ("bid", "bid int NOT NULL, bbalance int, filler char(88)"),
    "pgbench_history": (
        "aid",
        "tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)",
    ),
}
"""By their names: the key by which each is spread, as the report did (2013 §5.3.4), and columns."""


class PostgresFdw(Engine):
    name = "postgres_fdw"
    extension = "postgres_fdw"
    oldest = 11
    installing = (
        "install the contrib modules of this PostgreSQL, or let Teiten install one:"
        " teiten pg install 18"
    )
    atomic = False
    needs_retries = True

    def parts(self, planned: Distribution) -> tuple[TablePart, ...]:
        nodes = planned.nodes
        spread = (TablePart(PartMethod.HASH, number, nodes) for number in range(1, nodes + 1))
        return (NOTHING, *spread)

    def distribute(self, servers: Servers, planned: Distribution) -> None:
        del planned
        with servers.connect(servers.coordinator) as connection, connection.transaction():
            for statement in self._statements(servers, connection.info.server_version):
                connection.execute(statement)

    def _statements(self, servers: Servers, version: int) -> Iterator[sql.Composed]:
        for table in TABLES:
            yield sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(table))
        yield sql.SQL("DROP EXTENSION IF EXISTS postgres_fdw CASCADE").format()
        yield sql.SQL("CREATE EXTENSION postgres_fdw").format()
        for number, node in enumerate(servers.nodes):
            yield from _server(number, dict(servers.parameters(node)), version)
        for table, (key, columns) in TABLES.items():
            yield sql.SQL("CREATE TABLE {} ({}) PARTITION BY HASH ({})").format(
                sql.Identifier(table), sql.SQL(columns), sql.Identifier(key)
            )
            for number in range(len(servers.nodes)):
                yield sql.SQL(
                    "CREATE FOREIGN TABLE {} PARTITION OF {} FOR VALUES WITH"
                    " (MODULUS {}, REMAINDER {}) SERVER {} OPTIONS (table_name {})"
                ).format(
                    sql.Identifier(f"{table}_{number + 1}"),
                    sql.Identifier(table),
                    sql.Literal(len(servers.nodes)),
                    sql.Literal(number),
                    _name(number),
                    sql.Literal(table),
                )


def _name(number: int) -> sql.Identifier:
    return sql.Identifier(f"node_{number + 1}")


def _server(number: int, parameters: dict[str, str], version: int) -> Iterator[sql.Composed]:
    mapped: dict[str, str] = {}
    for name in ("user", "password"):
        if name in parameters:
            mapped[name] = parameters.pop(name)
    if version >= ASYNC_SINCE:
        parameters |= {"async_capable": "true", "batch_size": str(ROWS_AT_ONCE)}
    yield sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})").format(
        _name(number), _options(parameters)
    )
    yield sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS ({})").format(
        _name(number), _options(mapped)
    )


def _options(parameters: dict[str, str]) -> sql.Composed:
    each = (
        sql.SQL("{} {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in sorted(parameters.items())
    )
    return sql.SQL(", ").join(each)


ENGINE = PostgresFdw()
