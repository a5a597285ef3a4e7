"""Makes the states that probes measure in, and makes one again that does not hold.

Puts pages into the buffers and the page cache, in pieces between which one may interrupt.

Sees where pages are: pg_buffercache, by what each version of it has, and the OS page cache. One
connection that only looks: what it needs of the catalogues is in its own caches after the first
look, so that it takes no further buffers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any

import psycopg
from psycopg import sql

from teiten.connections import first_value
from teiten.errors import ServerError
from teiten.execute.bench import Bench
from teiten.execute.sites.contract import Site
from teiten.kinds.probes.measurement import Buffers, Where
from teiten.kinds.probes.model import BLOCK, Do, ProbeStep, State
from teiten.model.units import KIB, MIB, Bytes

TRIES = 3
"""How often a state is made at most: a kernel with little memory drops pages just read."""
KEEPS_STATES = frozenset({Do.LOAD, Do.TOUCH, Do.FORGET, Do.SET, Do.REQUIRE})
"""After any other step a state is not that of the steps before it."""
PIECE = 32_768
"""Pages that are loaded by one statement."""
CHUNK = 1_000
"""Pages that one statement touches."""
AT_ONCE = 8
"""Connections that touch pages: a disk answers several at once, and the time of a probe of working
sets is that of their reads. With twice as many what they take themselves of the memory shows in the
page cache."""
LOOK_EVERY = 0.2
"""Seconds between looks for an interruption meanwhile."""


@dataclass(frozen=True)
class Made:
    """A step that makes a part of a state."""

    step: ProbeStep
    pages: int
    """The number of pages of its part."""
    unused: int = 0
    """Buffers without a page before it, where it leaves some of them."""


class States:
    """States of one trial: makes them, and makes them again."""

    def __init__(self, bench: Bench, site: Site, draw: random.Random) -> None:
        self._check, self._site, self._draw = bench.check_interruption, site, draw
        self._made: list[Made] = []
        self._loaded: dict[ProbeStep, int] = {}
        """How many pages steps loaded that load new ones alone."""

    def make(self, what: Made) -> None:
        self._made.append(what)
        self._make(what)

    def after(self, step: ProbeStep) -> None:
        """Forget the steps made so far, unless ``step`` keeps states: they cannot make again what
        it leaves behind."""
        if step.do not in KEEPS_STATES:
            self._made.clear()

    def tries(self) -> Iterator[int]:
        """Goes on while one asks for more; from the second on the state was made again."""
        yield 1
        for number in range(2, TRIES + 1 if self._made else 0):
            self._loaded.clear()
            for made in self._made:
                self._make(made)
            yield number

    def _make(self, what: Made) -> None:
        step, pages = what.step, what.pages
        if step.do is Do.FORGET:
            self._site.evict(step.table)
            return
        if step.do is Do.TOUCH:
            self._touch(step, pages, self._draw.randrange(2**31))
            return
        if step.leaving:
            pages = min(pages, max(0, what.unused - step.leaving))
        first = self._loaded.get(step, 0) if step.new_pages else 0
        with self._site.connect() as connection:
            for _ in range(int(step.times)):
                self._load(connection, step, first, pages)
        self._loaded[step] = pages

    def _load(
        self, connection: psycopg.Connection[Any], step: ProbeStep, begin: int, end: int
    ) -> None:
        """Load pages in order, into the buffers each as by a plain read, which raises its usage
        count; no ring of buffers is used.

        Raises ServerError without pg_prewarm.
        """
        mode = "read" if step.os_cache_only else "buffer"
        for first in range(begin, end, PIECE):
            self._check()
            last = min(end, first + PIECE) - 1
            try:
                connection.execute(
                    "SELECT pg_prewarm(%s::regclass, %s, 'main', %s, %s)",
                    (step.table, mode, first, last),
                )
            except psycopg.errors.UndefinedFunction as error:
                raise ServerError(
                    "pg_prewarm is missing in this PostgreSQL", "install its contrib modules"
                ) from error

    def _touch(self, step: ProbeStep, pages: int, seed: int) -> None:
        """Read random ones of the first pages by TID, over several connections so that reads from
        the disk overlap; those of one statement in the order of their numbers."""
        ended, count = Event(), round(pages * step.times)

        def some(number: int) -> None:
            draw = random.Random(seed + number)  # noqa: S311 - pages, not secrets
            share = count // AT_ONCE + (number < count % AT_ONCE)
            with self._site.connect() as connection:
                for begin in range(0, share, CHUNK):
                    if ended.is_set():
                        return
                    connection.execute(
                        _of_pages(step.table, pages, draw, min(CHUNK, share - begin))
                    )

        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                running = [pool.submit(some, number) for number in range(AT_ONCE)]
                while wait(running, LOOK_EVERY, FIRST_EXCEPTION).not_done:
                    self._check()
                    if any(future.done() and future.exception() for future in running):
                        break
            finally:
                ended.set()
        for future in running:
            future.result()


def _of_pages(table: str, pages: int, draw: random.Random, count: int) -> sql.Composed:
    places = "{" + ",".join(f'"({draw.randrange(pages)},1)"' for _ in range(count)) + "}"
    return sql.SQL("SELECT count(*) FROM {} WHERE ctid = ANY ({}::tid[])").format(
        sql.Identifier(table), sql.Literal(places)
    )


def lacking(state: State, where: Where, buffers: int) -> str:
    """Describe for people where pages are if a required state does not hold; empty if it does."""
    can_be = min(where.pages, buffers) / where.pages
    in_buffers, cached = where.buffers_share, where.os_cache_share
    least = None if state.buffers_at_least is None else state.buffers_at_least * can_be
    bounds = [(in_buffers, least, state.buffers_at_most)]
    if cached is not None:  # where it cannot be seen, nothing is said of it
        bounds += [
            (cached, state.os_cache_at_least, state.os_cache_at_most),
            (max(in_buffers, cached), state.memory_at_least, None),
        ]
    wrong = any(
        (least is not None and share < least) or (most is not None and share > most)
        for share, least, most in bounds
    )
    seen = "" if cached is None else f", {cached:.1%} in the OS cache"
    return f"{in_buffers:.1%} of {where.pages} pages are in the buffers{seen}" if wrong else ""


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
        return first_value(self._connection, query.encode(), values)
