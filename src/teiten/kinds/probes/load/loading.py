"""Puts pages into the buffers and the page cache, in pieces between which one may interrupt."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any

import psycopg
from psycopg import sql

from teiten.errors import ServerError

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
Connect = Callable[[], psycopg.Connection[Any]]


@dataclass(frozen=True)
class Loaded:
    """Pages of a table, in order."""

    table: str
    first: int
    beyond: int
    """The number after the last one's."""
    os_cache_only: bool = False


def load(connection: psycopg.Connection[Any], what: Loaded, check: Callable[[], None]) -> None:
    """Into the buffers each as by a plain read, which raises its usage count; no ring of buffers
    is used.

    Raises ServerError without pg_prewarm.
    """
    mode = "read" if what.os_cache_only else "buffer"
    for first in range(what.first, what.beyond, PIECE):
        check()
        last = min(what.beyond, first + PIECE) - 1
        try:
            connection.execute(
                "SELECT pg_prewarm(%s::regclass, %s, 'main', %s, %s)",
                (what.table, mode, first, last),
            )
        except psycopg.errors.UndefinedFunction as error:
            raise ServerError(
                "pg_prewarm is missing in this PostgreSQL", "install its contrib modules"
            ) from error


@dataclass(frozen=True)
class Touched:
    """Random pages among the first ones of a table."""

    table: str
    pages: int
    count: int
    """How many are read."""


def touch(connect: Connect, what: Touched, seed: int, check: Callable[[], None]) -> None:
    """Read them by TID, over several connections so that reads from the disk overlap; those of one
    statement in the order of their numbers."""
    ended = Event()

    def some(number: int) -> None:
        draw = random.Random(seed + number)  # noqa: S311 - pages, not secrets
        share = what.count // AT_ONCE + (number < what.count % AT_ONCE)
        with connect() as connection:
            for many in _chunks(share):
                if ended.is_set():
                    return
                connection.execute(_of_pages(what, draw, many))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            running = [pool.submit(some, number) for number in range(AT_ONCE)]
            while wait(running, LOOK_EVERY, FIRST_EXCEPTION).not_done:
                check()
                if any(one.done() and one.exception() for one in running):
                    break
        finally:
            ended.set()
    for one in running:
        one.result()


def _of_pages(what: Touched, draw: random.Random, many: int) -> sql.Composed:
    places = "{" + ",".join(f'"({draw.randrange(what.pages)},1)"' for _ in range(many)) + "}"
    return sql.SQL("SELECT count(*) FROM {} WHERE ctid = ANY ({}::tid[])").format(
        sql.Identifier(what.table), sql.Literal(places)
    )


def _chunks(count: int) -> Iterator[int]:
    for begin in range(0, count, CHUNK):
        yield min(CHUNK, count - begin)
