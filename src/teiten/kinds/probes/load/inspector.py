"""Where pages are: pg_buffercache, by what each version of it has, and the OS page cache.

One connection that only looks: what it needs of the catalogues is in its own caches after the
first look, so that it takes no further buffers.
"""

from __future__ import annotations

from typing import Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.sites.contract import Site
from teiten.kinds.probes.measurement import Buffers, Where
from teiten.kinds.probes.model import BLOCK
from teiten.model.units import KIB, MIB, Bytes

HIGHEST_USAGE = 5
COUNTS_SINCE = 160_000
"""pg_buffercache_usage_counts and pg_buffercache_summary, which take no locks and copy nothing."""
USAGE = "SELECT usage_count, buffers, dirty FROM pg_buffercache_usage_counts()"
UNUSED = "SELECT buffers_unused FROM pg_buffercache_summary()"
USAGE_BY_VIEW = """
SELECT usagecount, count(*), count(*) FILTER (WHERE isdirty) FROM pg_buffercache GROUP BY 1
"""
"""A buffer without a page has no usage count there."""
IN_BUFFERS = """
SELECT count(*) FROM pg_buffercache
WHERE relfilenode = pg_relation_filenode(%(table)s::regclass)
  AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND relforknumber = 0 AND relblocknumber < %(pages)s
"""
TOLD = (
    "io_method",
    "io_workers",
    "io_combine_limit",
    "effective_io_concurrency",
    "vacuum_buffer_usage_limit",
    "huge_pages_status",
    "huge_pages",
    "wal_buffers",
    "max_wal_size",
    "checkpoint_timeout",
)
"""Parameters that decide how pages are read and written, as far as a version has them."""
SETTINGS = """
SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY (%s)
ORDER BY array_position(%s, name)
"""
BYTES_PER_BUFFER = 128
"""Bytes of work_mem for each buffer's row of the view; the rows must not go to a file: that would
take the page cache."""


class Inspector:
    """Looks at the caches of a trial's server."""

    def __init__(self, site: Site) -> None:
        """Raises ServerError where pages are not of 8 kB, or without pg_buffercache."""
        self._site = site
        self._connection: psycopg.Connection[Any] = site.connect()
        self._counts = self._connection.info.server_version >= COUNTS_SINCE
        self._usage = USAGE if self._counts else USAGE_BY_VIEW
        block = int(self._one("SELECT current_setting('block_size')"))
        if block != BLOCK:
            raise ServerError(f"pages of {block} bytes", "probes know pages of 8 kB alone")
        self.buffers = int(self._one("SELECT setting FROM pg_settings WHERE name='shared_buffers'"))
        room = max(4 * MIB, self.buffers * BYTES_PER_BUFFER)
        self._connection.execute(f"SET work_mem = '{room // KIB}kB'".encode())
        self.state()

    @property
    def shared_buffers(self) -> Bytes:
        return Bytes(self.buffers * BLOCK)

    def settings(self) -> tuple[tuple[str, str], ...]:
        """Those of TOLD that the server has."""
        names = list(TOLD)
        rows = self._connection.execute(SETTINGS.encode(), (names, names)).fetchall()
        return tuple((name, value) for name, value in rows)

    def pages(self, table: str) -> int:
        return int(self._one("SELECT pg_relation_size(%s::regclass)", (table,))) // BLOCK

    def state(self) -> Buffers:
        """All buffers. Raises ServerError without pg_buffercache."""
        try:
            rows = self._connection.execute(self._usage).fetchall()
            unused = self._one(UNUSED) if self._counts else None
        except (psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedTable) as error:
            raise ServerError(
                "pg_buffercache is missing in this PostgreSQL",
                "install its contrib modules: without it no state can be verified",
            ) from error
        by_usage = {count: buffers for count, buffers, _ in rows}
        without_page = int(by_usage.get(None, 0) if unused is None else unused)
        usage = [int(by_usage.get(count, 0)) for count in range(HIGHEST_USAGE + 1)]
        if unused is not None:
            usage[0] -= without_page
        return Buffers(tuple(usage), without_page, sum(int(dirty) for _, _, dirty in rows))

    def usage(self) -> int:
        """The sum of all usage counts."""
        rows = self._connection.execute(self._usage).fetchall()
        return sum(int(count or 0) * int(buffers) for count, buffers, _ in rows)

    def where(self, table: str, pages: int) -> Where:
        """Find where the first pages of a table are."""
        in_buffers = int(self._one(IN_BUFFERS, {"table": table, "pages": pages}))
        cached = self._site.page_cache(table, first=Bytes(pages * BLOCK))
        in_os_cache = None if cached is None else cached.resident // BLOCK
        return Where(table, pages, in_buffers, in_os_cache)

    def close(self) -> None:
        self._connection.close()

    def _one(self, query: str, values: Any = None) -> Any:
        row = self._connection.execute(query.encode(), values).fetchone()
        return row[0] if row else 0
