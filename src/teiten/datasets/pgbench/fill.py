"""``pgbench -i``, or the rows of one node of those that it makes."""

from __future__ import annotations

from psycopg import sql

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.pgbench.model import fillfactor_of, tables_of
from teiten.model.distribution import PartMethod, TablePart
from teiten.model.study import DataSet

KEYS = "CREATE TABLE keys (key int) PARTITION BY HASH (key)"
"""Has no rows: of it a function of PostgreSQL tells to which hash partition a key belongs."""
TABLES = """
CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84))
    WITH (fillfactor = {fillfactor});
CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84))
    WITH (fillfactor = {fillfactor});
CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88))
    WITH (fillfactor = {fillfactor});
CREATE TABLE pgbench_history
    (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
INSERT INTO pgbench_accounts SELECT key, (key - 1) / 100000 + 1, 0, ''
    FROM generate_series(1, 100000 * {scale}) AS key WHERE {here};
INSERT INTO pgbench_tellers SELECT key, (key - 1) / 10 + 1, 0
    FROM generate_series(1, 10 * {scale}) AS key WHERE {here};
INSERT INTO pgbench_branches SELECT key, 0 FROM generate_series(1, {scale}) AS key WHERE {here};
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
"""
HERE = "satisfies_hash_partition('keys'::regclass, {nodes}, {remainder}, key)"


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """pgbench's own tables, without its VACUUM."""
    part = tables_of(data).part
    if part is not None:
        _fill_part(server, data, part)
        return
    server.run_pgbench(
        "--initialize",
        "--no-vacuum",
        "--quiet",
        f"--scale={data.scale}",
        f"--fillfactor={fillfactor_of(data)}",
        what=f"pgbench --initialize with scale {data.scale} on {server.name}",
    )


def _fill_part(server: Fillable, data: DataSet, part: TablePart) -> None:
    """Directly into the node that holds the rows, in the order of their keys."""
    if part.method is PartMethod.EMPTY:
        return
    here = sql.SQL(HERE).format(
        nodes=sql.Literal(part.nodes), remainder=sql.Literal(part.number - 1)
    )
    with server.connect() as connection, connection.transaction():
        connection.execute(KEYS)
        connection.execute(
            sql.SQL(TABLES).format(
                fillfactor=sql.Literal(fillfactor_of(data)),
                scale=sql.Literal(int(data.scale or 1)),
                here=here,
            )
        )
        connection.execute("DROP TABLE keys")
