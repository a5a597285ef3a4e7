"""``pgbench -i``, or the rows of one node of those that it makes, filled directly into it."""

from __future__ import annotations

from collections.abc import Iterator

from psycopg import sql

from teiten.datasets.contract import Fillable, Say
from teiten.datasets.pgbench.model import PgbenchTables
from teiten.model.distribution import (
    LOWEST_HASH,
    PartMethod,
    TablePart,
    shard_ranges,
    shard_table,
    shard_width,
    shards_of,
)
from teiten.model.study import DataSet


def fill(server: Fillable, data: DataSet, _say: Say) -> None:
    """pgbench's own tables, without its VACUUM; or the part of a node, in the order of keys."""
    part = data.options_as(PgbenchTables).part
    if part is None:
        server.run_pgbench(
            "--initialize",
            "--no-vacuum",
            "--quiet",
            f"--scale={data.scale}",
            f"--fillfactor={data.options_as(PgbenchTables).fillfactor}",
            what=f"pgbench --initialize with scale {data.scale} on {server.name}",
        )
    elif part.method not in (PartMethod.EMPTY, PartMethod.GIVEN):
        statements = _by_hash if part.method is PartMethod.HASH else _shards
        with server.connect() as connection, connection.transaction():
            for statement in statements(data, part):
                connection.execute(statement)


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
ACCOUNTS = """
CREATE TABLE accounts (aid int NOT NULL, bid int, abalance int, filler char(84))
    PARTITION BY RANGE (hashint4({key}))
"""
SHARD = """
CREATE TABLE {shard} PARTITION OF accounts FOR VALUES FROM ({low}) TO ({high})
    WITH (fillfactor = {fillfactor})
"""
ROWS = """
INSERT INTO accounts SELECT aid, bid, 0, ''
FROM generate_series(1, 100000 * {scale}) AS aid, LATERAL (SELECT (aid - 1) / 100000 + 1 AS bid) b
WHERE least((hashint4({key})::bigint - {lowest}) / {width}, {last}) % {nodes} = {remainder}
"""
PRIMARY_KEYS = {"aid": ("aid",), "bid": ("bid", "aid")}
"""Primary keys of accounts, by the key that spreads them, which is to be one of the columns."""


def _by_hash(data: DataSet, part: TablePart) -> Iterator[sql.Composed]:
    here = sql.SQL(HERE).format(nodes=part.nodes, remainder=part.number - 1)
    yield sql.SQL(KEYS).format()
    yield sql.SQL(TABLES).format(
        fillfactor=data.options_as(PgbenchTables).fillfactor,
        scale=int(data.scale or 1),
        here=here,
    )
    yield sql.SQL("DROP TABLE keys").format()


def _shards(data: DataSet, part: TablePart) -> Iterator[sql.Composed]:
    """Fill shards as partitions, all of them at once, which then become tables by themselves."""
    key, ranges = sql.Identifier(part.key), tuple(shard_ranges(part.shards))
    names = {shard: sql.Identifier(shard_table(shard)) for shard in shards_of(part)}
    yield sql.SQL(ACCOUNTS).format(key=key)
    for shard, name in names.items():
        low, high = ranges[shard]
        yield sql.SQL(SHARD).format(
            shard=name,
            low=low,
            high=sql.SQL("MAXVALUE") if shard == part.shards - 1 else high + 1,
            fillfactor=data.options_as(PgbenchTables).fillfactor,
        )
    yield sql.SQL(ROWS).format(
        scale=int(data.scale or 1),
        key=key,
        lowest=LOWEST_HASH,
        width=shard_width(part.shards),
        last=part.shards - 1,
        nodes=part.nodes,
        remainder=part.number - 1,
    )
    columns = sql.SQL(", ").join(map(sql.Identifier, PRIMARY_KEYS[part.key]))
    for name in names.values():
        yield sql.SQL("ALTER TABLE accounts DETACH PARTITION {}").format(name)
        yield sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(name, columns)
    yield sql.SQL("DROP TABLE accounts").format()
