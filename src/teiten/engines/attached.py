"""Servers that run already, made one database by the study's own statements.

Teiten makes a database on each, runs the statements there, makes those of pgbench's tables that
they have not made, as plain tables at the entry, and fills all through the entry. What it does not
know of such an engine, it does not say: whether its commits are atomic, which keys are good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from teiten.connections import first_value
from teiten.engines.contract import COLUMNS, OWN_KEYS, Engine, Servers
from teiten.errors import ServerError, first_line
from teiten.model.distribution import (
    ClusterStatements,
    Distribution,
    PartMethod,
    SpreadBy,
    TablePart,
)

ACCOUNTS_EACH, TELLERS_EACH = 100_000, 10
"""Rows for each branch."""
ROWS = (
    (
        "INSERT INTO pgbench_accounts (aid, bid, abalance, filler)"
        " SELECT n, (n - 1) / 100000 + 1, 0, '' FROM generate_series({first}, {last}) AS n",
        ACCOUNTS_EACH,
    ),
    (
        "INSERT INTO pgbench_tellers (tid, bid, tbalance)"
        " SELECT n, (n - 1) / 10 + 1, 0 FROM generate_series({first}, {last}) AS n",
        TELLERS_EACH,
    ),
    (
        "INSERT INTO pgbench_branches (bid, bbalance)"
        " SELECT n, 0 FROM generate_series({first}, {last}) AS n",
        1,
    ),
)
"""Branches come last: once all of them are there, everything is."""
HAS = "SELECT to_regclass({}) IS NOT NULL"
COUNT = "SELECT count(*) FROM {}"
VARIABLE = re.compile(r"(?<!:):(?:'(\w+)'|\"(\w+)\"|([a-z]\w*))")
"""Variables as psql has them; a cast (``::``) is none."""
Connection = psycopg.Connection[Any]


class Attached(Engine):
    name = "attached"
    extension = ""
    oldest = 9
    installing = ""
    starts = False
    spreads_by = (SpreadBy.OWN_KEY,)

    def parts(self, planned: Distribution) -> tuple[TablePart, ...]:
        """The entry is number 0."""
        numbers = range(planned.nodes + 1)
        return tuple(TablePart(PartMethod.GIVEN, number, planned.nodes) for number in numbers)

    def distribute(self, servers: Servers, planned: Distribution) -> None:
        """Where a database has all rows already, from a trial that only read, nothing is done."""
        with servers.connect(servers.coordinator) as entry:
            if _is_whole(entry, planned):
                return
            _make(servers, entry, planned)
            for table in COLUMNS:
                if not _has(entry, table):
                    entry.execute(_plain_table(table, planned))
            statements = planned.statements or ClusterStatements()
            _run(entry, "distribute", statements.distribute, _of_all(planned, entry))
            _fill(entry, planned)
        for node in (servers.coordinator, *servers.nodes):
            with servers.connect(node) as connection:
                connection.execute("VACUUM ANALYZE")


def _make(servers: Servers, entry: Connection, planned: Distribution) -> None:
    """Run the statements on nodes, then those at the entry."""
    statements = planned.statements or ClusterStatements()
    for number, node in enumerate(servers.nodes, start=1):
        with servers.connect(node) as connection:
            own = _of_node(number, servers.parameters(node), planned, connection)
            _run(connection, "on_nodes", statements.on_nodes, own)
    _run(entry, "on_entry", statements.on_entry, _of_all(planned, entry))
    for number, node in enumerate(servers.nodes, start=1):
        own = _of_node(number, servers.parameters(node), planned, entry)
        _run(entry, "for_each_node", statements.for_each_node, own)


def _of_all(planned: Distribution, connection: Connection) -> dict[str, str]:
    """The variables of every statement."""
    return {
        "nodes": str(planned.nodes),
        "scale": str(planned.scale),
        "fillfactor": str(planned.fillfactor),
        "database": connection.info.dbname,
        "role": connection.info.user,
    }


def _of_node(
    number: int, parameters: Mapping[str, str], planned: Distribution, connection: Connection
) -> dict[str, str]:
    """Those of a node besides: how it is reached, as its address says."""
    reached = {"host": "", "port": "5432", "user": "", "dbname": "", "password": ""}
    reached |= {name: value for name, value in parameters.items() if name in reached}
    own = {"node": str(number), "remainder": str(number - 1)}
    return {**_of_all(planned, connection), **reached, **own}


def _run(connection: Connection, key: str, text: str, variables: Mapping[str, str]) -> None:
    """All of a text as one transaction. Raises ServerError."""
    if not text:
        return
    with _told(key, variables.get("password", "")):
        connection.execute(filled_in(text, variables, connection).encode("utf-8"))


def filled_in(text: str, variables: Mapping[str, str], connection: Connection | None = None) -> str:
    """SQL with psql's variables in their places; what is no variable of ours stays."""

    def value(match: re.Match[str]) -> str:
        literal, identifier, plain = match.groups()
        name = literal or identifier or plain
        if name not in variables:
            return match[0]
        if literal:
            return sql.Literal(variables[name]).as_string(connection)
        if identifier:
            return sql.Identifier(variables[name]).as_string(connection)
        return variables[name]

    return VARIABLE.sub(value, text)


@contextmanager
def _told(key: str, password: str) -> Iterator[None]:
    try:
        yield
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        message = first_line(error)
        message = message.replace(password, "…") if password else message
        raise ServerError(
            f"the statements {key} of the study's cluster failed: {message}",
            "try them with psql in an empty database; they run as one transaction of plain SQL"
            " (docs/guides/scale-out.md)",
        ) from error


def _is_whole(entry: Connection, planned: Distribution) -> bool:
    return _has(entry, "pgbench_branches") and _count(entry, "pgbench_branches") == planned.scale


def _has(connection: Connection, table: str) -> bool:
    return bool(first_value(connection, sql.SQL(HAS).format(table)))


def _count(connection: Connection, table: str) -> int:
    return int(first_value(connection, sql.SQL(COUNT).format(sql.Identifier(table))))


def _plain_table(table: str, planned: Distribution) -> sql.Composed:
    name, columns = sql.Identifier(table), sql.SQL(COLUMNS[table])
    if table == "pgbench_history":
        return sql.SQL("CREATE TABLE {} ({})").format(name, columns)
    key = sql.Identifier(OWN_KEYS[table])
    kept_free = "" if planned.fillfactor == 100 else " WITH (fillfactor = {})"
    return sql.SQL(f"CREATE TABLE {{}} ({{}}, PRIMARY KEY ({{}})){kept_free}").format(
        name, columns, key, planned.fillfactor
    )


def _fill(entry: Connection, planned: Distribution) -> None:
    """Tables that the statements have not filled, a branch's rows at a time. Raises ServerError
    where rows are lost on the way."""
    for (rows, of_branch), table in zip(ROWS, COLUMNS, strict=False):
        if _count(entry, table) == 0:
            for branch in range(planned.scale):
                first, last = of_branch * branch + 1, of_branch * (branch + 1)
                entry.execute(sql.SQL(rows).format(first=first, last=last))
        counted, wanted = _count(entry, table), of_branch * planned.scale
        if counted != wanted:
            raise ServerError(
                f"{table} has {counted} rows after it was filled, and should have {wanted}",
                "see whether the statements of the study's cluster leave a place for every row",
            )


ENGINE = Attached()
