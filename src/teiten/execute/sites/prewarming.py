"""The loading of a server's buffers before a trial: by pg_prewarm, or by reading where the server
has no contrib modules."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
from psycopg import sql

from teiten.connections import first_value
from teiten.execute.executor import Facts
from teiten.execute.sites.server_facts import Connect

RELATIONS = """
SELECT c.oid AS relation, c.relkind AS kind, c.oid::regclass::text AS named,
       pg_relation_size(c.oid) AS bytes, n.nspname AS schema, c.relname AS plain
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'i', 'm', 't') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""
LOAD = f"""
SELECT count(*), coalesce(sum(pg_prewarm(relation)), 0), coalesce(sum(bytes), 0)
FROM ({RELATIONS}) found
"""  # noqa: S608 - of constants
HAS_PREWARM = "SELECT count(*) > 0 FROM pg_proc WHERE proname = 'pg_prewarm'"
BUFFERS = "SELECT setting::bigint * 8192 FROM pg_settings WHERE name = 'shared_buffers'"
READ_TABLE = """
SELECT count(*) FROM ONLY {table} WHERE ctid = ANY (ARRAY(
  SELECT format('(%s,1)', page)::tid
  FROM generate_series(
    0, pg_relation_size({name}::regclass) / current_setting('block_size')::int - 1) AS page))
"""
"""A TID scan reads every page into the buffers, of a table of any size; a sequential scan of a
large one would go round in a ring of few buffers. Whether a page has a first row is all one."""
KEYS = """
SELECT quote_ident(n.nspname) || '.' || quote_ident(t.relname),
       string_agg(pg_get_indexdef(i.indexrelid, k::int, true), ', ' ORDER BY k),
       coalesce(pg_get_expr(i.indpred, i.indrelid), 'true')
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
     JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam,
     generate_series(1, i.indnkeyatts) AS k
WHERE i.indexrelid = %s AND i.indisvalid AND a.amname = 'btree'
GROUP BY 1, 3
"""
BY_INDEX: tuple[LiteralString, ...] = (
    "SET enable_seqscan = off", "SET enable_bitmapscan = off", "SET enable_sort = off",
    "SET max_parallel_workers_per_gather = 0",
)  # fmt: skip


def prewarm(connect: Connect) -> Facts:
    """Load every table and index into shared buffers, and say how, and whether they fit.

    ``blocks``: what pg_prewarm loaded; by reading, the pages of what was read.
    """
    with connect() as connection:
        # asked for, because a failure would stand in the server's log
        there = first_value(connection, HAS_PREWARM)
        if there:
            relations, blocks, size = connection.execute(LOAD).fetchone() or (0, 0, 0)
        else:
            relations, blocks, size = _read(connection)
        buffers = first_value(connection, BUFFERS)
    return {
        "prewarmed": True,
        "by": "pg_prewarm" if there else "reading",
        "relations": int(relations),
        "blocks": int(blocks),
        "bytes": int(size),
        "fits": int(size) <= int(buffers),
    }


def _read(connection: psycopg.Connection[Any]) -> tuple[int, int, int]:
    """Tables by their pages, B-trees along their keys; other indexes cannot be read as a whole."""
    read = pages = size = 0
    for setting in BY_INDEX:
        connection.execute(setting)
    for oid, kind, name, bytes_, schema, plain in connection.execute(RELATIONS).fetchall():
        size += bytes_
        if kind != "i":
            table = sql.Identifier(schema, plain)
            connection.execute(sql.SQL(READ_TABLE).format(table=table, name=name))
        elif not _read_index(connection, oid):
            continue
        read, pages = read + 1, pages + bytes_ // 8192
    return read, pages, size


def _read_index(connection: psycopg.Connection[Any], oid: int) -> bool:
    """In its order, from its first leaf to its last; of its inner pages, which are few, those on
    the way to the first. Whether it could be read."""
    row = connection.execute(KEYS, (oid,)).fetchone()
    if row is None:
        return False
    table, keys, predicate = row
    query = (
        f"SELECT count(*) FROM (SELECT 1 FROM ONLY {table} WHERE {predicate}"  # noqa: S608 - the catalogue's own words
        f" ORDER BY {keys} OFFSET 0) AS read"
    )
    connection.execute(query.encode())
    return True
