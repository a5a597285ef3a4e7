"""Citus: tables in shards, each a range of the key's hash, behind a coordinator that may have some.

Accounts are filled into tables of their own, one for each shard, before Citus knows of them; they
take the places of the empty shards that Citus makes, whose ranges and nodes are the same. The other
tables, which are small, are filled through the coordinator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from teiten.engines.contract import COLUMNS, OWN_KEYS, Engine, Servers
from teiten.errors import ServerError
from teiten.model.distribution import (
    NOTHING,
    CoordinatorRows,
    Distribution,
    PartMethod,
    SpreadBy,
    TablePart,
    shard_ranges,
    shard_table,
    shards_of,
)
from teiten.model.plan import Node

USUAL_SHARDS = 32
"""Citus's own number for each table (citus.shard_count)."""
ACCOUNTS = "pgbench_accounts"
ROWS = (
    "INSERT INTO pgbench_tellers SELECT tid, (tid - 1) / 10 + 1, 0"
    " FROM generate_series(1, 10 * {scale}) AS tid",
    "INSERT INTO pgbench_branches SELECT bid, 0 FROM generate_series(1, {scale}) AS bid",
)
# Triggers of Citus would reach for servers of an earlier trial, which are not there any more.
WITHOUT_CITUS = (
    "SET session_replication_role = replica",
    "DROP EXTENSION IF EXISTS citus CASCADE",
    "SET session_replication_role = origin",
)
OF_SHARDS = r"""
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  AND relname ~ '^pgbench_(accounts|tellers|branches|history)(_[0-9]+)?$'
"""
PLACED = """
SELECT shardid, shardminvalue::bigint, shardmaxvalue::bigint, nodename, nodeport
FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
WHERE logicalrelid = 'pgbench_accounts'::regclass ORDER BY 2
"""
Where = tuple[str, int]
"""Host or folder of the socket, and port: by what Citus names a node."""
Connection = psycopg.Connection[Any]


class Citus(Engine):
    name = "citus"
    extension = "citus"
    oldest = 14
    installing = (
        "install Citus for this PostgreSQL: its packages are named postgresql-17-citus-13.0 (Debian"
        " and Ubuntu) and citus130_17 (Red Hat), from the repository that Citus's own page names;"
        " or build it from its source, github.com/citusdata/citus, and see teiten pg list. Where a"
        " cluster of Citus runs already, name it: --set engine=attached, with its nodes in"
        " [clusters.NAME] (docs/guides/scale-out.md)"
    )
    as_superuser = True
    spreads_by = tuple(SpreadBy)
    coordinators = tuple(CoordinatorRows)

    def shards(self, nodes: int) -> int:
        """The nearest to Citus's own number that the nodes divide, so that all have as many."""
        return nodes * max(1, round(USUAL_SHARDS / nodes))

    def parts(self, planned: Distribution) -> tuple[TablePart, ...]:
        key = "bid" if planned.by is SpreadBy.BRANCH else "aid"
        of_nodes = tuple(
            TablePart(PartMethod.SHARDS, number, planned.nodes, planned.shards, key)
            for number in range(1, planned.nodes + 1)
        )
        return of_nodes if planned.coordinator is CoordinatorRows.NODE else (NOTHING, *of_nodes)

    def settings(self, clients: int) -> Mapping[str, str]:
        """Connections are not encrypted and nothing is told to its makers, which Citus would do
        unasked; shards are seen by whoever looks for tables, as prewarming does."""
        return {
            "shared_preload_libraries": "citus",
            "max_prepared_transactions": str(2 * clients + 10),
            "citus.node_conninfo": "sslmode=disable",
            "citus.enable_statistics_collection": "off",
            "citus.override_table_visibility": "off",
        }

    def distribute(self, servers: Servers, planned: Distribution) -> None:
        nodes = tuple(servers.nodes)
        for do in (_made_anew, _knows_itself(servers)):
            _on_each(servers, tuple(dict.fromkeys((servers.coordinator, *nodes))), do)
        where = {_where(servers, node): node for node in nodes}
        with servers.connect(servers.coordinator) as connection:
            for step in joining(_where(servers, servers.coordinator), tuple(where)):
                connection.execute(*step)
            for statement in _tables(planned):
                connection.execute(statement)
            shards = _placed(connection, planned, {place: at for at, place in enumerate(where)})

        def take_places(connection: Connection, node: Node) -> None:
            for number, (identifier, place) in enumerate(shards):
                if where[place] == node:
                    _take_place(connection, number, identifier)

        _on_each(servers, nodes, take_places)
        with servers.connect(servers.coordinator) as connection:
            for rows in ROWS:
                connection.execute(sql.SQL(rows).format(scale=planned.scale))
            # as visible as those of a template
            connection.execute("VACUUM ANALYZE pgbench_tellers, pgbench_branches")


def _on_each(
    servers: Servers, nodes: Sequence[Node], do: Callable[[Connection, Node], None]
) -> None:
    """At the same time."""

    def on_one(node: Node) -> None:
        with servers.connect(node) as connection:
            do(connection, node)

    with ThreadPoolExecutor(max_workers=len(nodes)) as at_once:
        list(at_once.map(on_one, nodes))


def _made_anew(connection: Connection, _node: Node) -> None:
    """Without what an earlier trial has left but its accounts, and with Citus."""
    for statement in WITHOUT_CITUS:
        connection.execute(statement)
    for table, comment in connection.execute(OF_SHARDS).fetchall():
        earlier = re.fullmatch(r"shard (\d+)", comment or "")
        if earlier is None:
            connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(table)))
        else:
            _rename(connection, table, shard_table(int(earlier[1])))
    connection.execute("CREATE EXTENSION citus")


def _knows_itself(servers: Servers) -> Callable[[Connection, Node], None]:
    """A server reaches itself as others do, by its socket where it listens at no address."""

    def name_itself(connection: Connection, node: Node) -> None:
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET citus.local_hostname = {}").format(
                sql.Identifier(connection.info.dbname), _where(servers, node)[0]
            )
        )

    return name_itself


def _where(servers: Servers, node: Node) -> Where:
    parameters = servers.parameters(node)
    return parameters["host"], int(parameters["port"])


def joining(own: Where, nodes: Iterable[Where]) -> Iterator[tuple[LiteralString, Where]]:
    """The statements by which the coordinator, ``own``, knows all nodes, itself among them or not;
    a coordinator has no shards unless it is told to."""
    yield "SELECT citus_set_coordinator_host(%s, %s)", own
    for node in nodes:
        if node == own:
            yield "SELECT citus_set_node_property(%s, %s, 'shouldhaveshards', true)", node
        else:
            yield "SELECT citus_add_node(%s, %s)", node


def _tables(planned: Distribution) -> Iterator[sql.Composed]:
    for table, columns in COLUMNS.items():
        yield sql.SQL("CREATE TABLE {} ({}) WITH (fillfactor = {})").format(
            sql.Identifier(table),
            sql.SQL(columns),
            100 if table == "pgbench_history" else planned.fillfactor,
        )
        key = "bid" if planned.by is SpreadBy.BRANCH else OWN_KEYS[table]
        if table != "pgbench_history":
            columns_of_key = dict.fromkeys((key, OWN_KEYS[table]))
            yield sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(
                sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns_of_key))
            )
        if planned.by is SpreadBy.REFERENCE and table == "pgbench_branches":
            yield sql.SQL("SELECT create_reference_table({})").format(table)
            continue
        yield sql.SQL("SELECT create_distributed_table({}, {}, shard_count := {})").format(
            table, key, planned.shards
        )


def _placed(
    connection: Connection, planned: Distribution, wanted: Mapping[Where, int]
) -> tuple[tuple[int, Where], ...]:
    """Identifiers and nodes of the shards of accounts, in the order of their ranges; each is on the
    node that has its rows.

    Citus gives them to its nodes in turn, in the order of their names; where that is not the order
    of the parts, empty shards are moved.
    """
    nodes = {at: place for place, at in wanted.items()}
    home = {
        shard: nodes[part.number - 1]
        for part in Citus().parts(planned)
        if part.method is PartMethod.SHARDS
        for shard in shards_of(part)
    }
    placed = connection.execute(PLACED).fetchall()
    ranges = [(low, high) for _, low, high, _, _ in placed]
    if ranges != list(shard_ranges(planned.shards)):
        raise ServerError(
            f"this Citus divides {planned.shards} shards in other ranges than Teiten knows",
            "take another version of Citus; versions 12 and 13 are known",
        )
    for number, (identifier, _, _, host, port) in enumerate(placed):
        if home[number] != (host, port):
            connection.execute(
                "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')",
                (identifier, host, port, *home[number]),
            )
    return tuple((row[0], home[number]) for number, row in enumerate(placed))


def _take_place(connection: Connection, number: int, identifier: int) -> None:
    """Put a filled table in place of the empty shard that Citus has made; the comment says what to
    give back."""
    name = f"{ACCOUNTS}_{identifier}"
    with connection.transaction():
        connection.execute("SET LOCAL citus.enable_manual_changes_to_shards = on")
        connection.execute("SET LOCAL citus.enable_ddl_propagation = off")
        connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(name)))
        _rename(connection, shard_table(number), name)
        connection.execute(
            sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(name), f"shard {number}")
        )


def _rename(connection: Connection, table: str, name: str) -> None:
    """With its primary key, by which Citus knows it too."""
    connection.execute(
        sql.SQL("ALTER TABLE {} RENAME TO {}").format(sql.Identifier(table), sql.Identifier(name))
    )
    connection.execute(
        sql.SQL("ALTER INDEX {} RENAME TO {}").format(
            sql.Identifier(_primary_key(table)), sql.Identifier(_primary_key(name))
        )
    )


def _primary_key(table: str) -> str:
    """Name a table's primary key as PostgreSQL does, and a shard's as Citus does."""
    shard = table.removeprefix(f"{ACCOUNTS}_")
    return f"{ACCOUNTS}_pkey_{shard}" if shard.isdecimal() else f"{table}_pkey"


ENGINE = Citus()
