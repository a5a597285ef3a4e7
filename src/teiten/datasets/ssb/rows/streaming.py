"""COPY of a table's rows as they are made, by one connection or several, within the machine's
bounds.

Each connection has a thread that makes a buffer of rows and sends it; the server's reading is what
holds it back, and memory is one buffer for each. The interpreter is free while rows are made.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from psycopg.copy import LibpqWriter

from teiten.connections import Conninfo, connect
from teiten.datasets.ssb.rows.blocks import THREAD_BYTES, Watch
from teiten.datasets.ssb.rows.native import SIGNATURE, TRAILER, rows
from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import allowed_processors, usable_processors
from teiten.host.facts.memory import read_memory_facts
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable, Written
from teiten.model.units import Bytes

# Where a connection is lost psycopg writes to stderr what is raised anyway.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

BUFFER = 128 * 1024
"""Bytes; psycopg splits what is larger, and a core's second-level cache holds it."""


class StoppedError(Exception):
    """Another stream failed, or someone asked for the end."""


@dataclass(frozen=True)
class Copy:
    """A COPY into a table that exists."""

    data: SsbData
    table: SsbTable
    name: str
    watch: Watch
    freeze: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, connection: psycopg.Connection, part: range) -> Written:
        """Copy a part of the table's units by one connection.

        Raises psycopg.Error, and StoppedError after ``stop`` was set.
        """
        source = rows(self.data, self.table, SsbFormat.BINARY, part)
        buffer = memoryview(bytearray(BUFFER))
        told_units, told_rows = source.left, 0
        with connection.cursor() as cursor:
            # Wait until the server has taken a buffer before the next one is made.
            writer = LibpqWriter(cursor, flush_threshold=0)
            with cursor.copy(self._statement(), writer=writer) as copy:
                copy.write(SIGNATURE)
                while size := source.fill(buffer):
                    copy.write(buffer[:size])
                    self.watch.progress(
                        self.table, told_units - source.left, source.rows - told_rows
                    )
                    told_units, told_rows = source.left, source.rows
                    if self.stop.is_set():
                        raise StoppedError
                copy.write(TRAILER)
        return Written(self.table, source.rows, tuple(source.sums))

    def _statement(self) -> sql.Composed:
        options = sql.SQL("FORMAT binary, FREEZE" if self.freeze else "FORMAT binary")
        return sql.SQL("COPY {} FROM STDIN ({})").format(sql.Identifier(self.name), options)


def connected(dsn: Conninfo, *, autocommit: bool = False) -> psycopg.Connection:
    """A connection that gives texts as such, whatever the database's encoding: of SQL_ASCII, and
    with PGCLIENTENCODING, psycopg gives bytes. Raises psycopg.OperationalError."""
    return connect(
        dsn,
        autocommit=autocommit,
        application_name="teiten data ssb",
        client_encoding="UTF8",
    )


def copy_parallel(dsn: Conninfo, copy: Copy, part: range, streams: int) -> Written:
    """Copy by several connections at once, each an equal share of the units.

    The first failure, or an interruption, ends all of them.
    """
    chunks = (Chunk(number + 1, streams).range_of(len(part)) for number in range(streams))
    shares = [part[chunk.start : chunk.stop] for chunk in chunks if chunk]
    connections: list[psycopg.Connection] = []
    try:
        for _ in shares:
            connections.append(connected(dsn))  # noqa: PERF401 - those made are closed where one fails
        written = _run_all(copy, connections, shares)
    finally:
        for connection in connections:
            connection.close()
    sums = tuple(map(sum, zip(*(share.sums for share in written), strict=True)))
    return Written(copy.table, sum(share.rows for share in written), sums)


def _run_all(
    copy: Copy, connections: list[psycopg.Connection], shares: list[range]
) -> list[Written]:
    def stream(connection: psycopg.Connection, share: range) -> Written:
        with connection.transaction():
            return copy.run(connection, share)

    with ThreadPoolExecutor(len(shares), thread_name_prefix="teiten-copy") as pool:
        futures = [
            pool.submit(stream, connection, share)
            for connection, share in zip(connections, shares, strict=True)
        ]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            _end(copy.stop, connections, futures)
    failures = [error for future in futures if (error := future.exception()) is not None]
    if failures:
        raise next(
            (failure for failure in failures if not isinstance(failure, StoppedError)), failures[0]
        )
    return [future.result() for future in futures]


def _end(
    stop: threading.Event, connections: list[psycopg.Connection], futures: list[Future[Written]]
) -> None:
    """Stop the streams that still run; one that waits for the server is cancelled there."""
    if all(future.done() for future in futures):
        return
    stop.set()
    for connection, future in zip(connections, futures, strict=True):
        if not future.done():
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=5)


CONNECTIONS_OF_A_CPU = 4
"""A thread that makes files is never without work; a connection waits for its server."""
CONNECTION_BYTES = 16 * 1024**2
"""Memory of a connection, about: a buffer here, and a process of the server."""
SHARE_OF_MEMORY = 0.25
"""The streams' share of available memory: the rest is for the server and the page cache."""


@dataclass(frozen=True)
class StreamCount:
    """A number of streams. ``bound``: what kept it below what was asked, else empty."""

    count: int
    bound: str = ""


@dataclass(frozen=True)
class StreamRoom:
    """Processors and memory that the machine has for streams."""

    processors: int
    available: Bytes

    @classmethod
    def here(cls) -> StreamRoom:
        """Measure the room on this machine and in this program's control group."""
        limits = read_cgroup_limits()
        processors = usable_processors(allowed_processors(), limits.cpu_quota_cores)
        return cls(processors, read_memory_facts(limits).available)


def streams_for(asked: int | None, room: StreamRoom, *, server: bool) -> StreamCount:
    """``asked`` or, where nothing was, one for each CPU; never more than are of any use."""
    bytes_of_stream = CONNECTION_BYTES if server else THREAD_BYTES
    by_memory = max(1, int(room.available * SHARE_OF_MEMORY / bytes_of_stream))
    by_processors = room.processors * (CONNECTIONS_OF_A_CPU if server else 1)
    wanted = asked or room.processors
    count = min(wanted, by_memory, by_processors)
    if asked is None or count == asked:
        return StreamCount(count)
    if by_memory < by_processors:
        return StreamCount(count, "more would take over a quarter of the memory that is available")
    cpus = "there is one CPU" if room.processors == 1 else f"there are {room.processors} CPUs"
    each_cpu = f", of which each keeps up with {CONNECTIONS_OF_A_CPU}" if server else ""
    return StreamCount(count, cpus + each_cpu)
