"""Puts pages into the buffers and the page cache, in pieces between which one may interrupt."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import psycopg

from teiten.errors import ServerError

PIECE = 32_768
"""Pages that are loaded by one statement."""
CHUNK = 1_000
"""Pages that one statement touches."""


def load(
    connection: psycopg.Connection[Any],
    table: str,
    pages: int,
    *,
    os_cache_only: bool,
    check: Callable[[], None],
) -> None:
    """The first pages of a table, in order. Into the buffers each as by a plain read, which raises
    its usage count; no ring of buffers is used.

    Raises ServerError without pg_prewarm.
    """
    mode = "read" if os_cache_only else "buffer"
    for first in range(0, pages, PIECE):
        check()
        last = min(pages, first + PIECE) - 1
        try:
            connection.execute(
                "SELECT pg_prewarm(%s::regclass, %s, 'main', %s, %s)", (table, mode, first, last)
            )
        except psycopg.errors.UndefinedFunction as error:
            raise ServerError(
                "pg_prewarm is missing in this PostgreSQL", "install its contrib modules"
            ) from error


def touch(
    connection: psycopg.Connection[Any],
    table: str,
    pages: int,
    count: int,
    draw: random.Random,
    check: Callable[[], None],
) -> None:
    """Random pages among the first ones of a table, by TID; those of one statement in the order of
    their numbers."""
    for many in _chunks(count):
        check()
        places = ",".join(f'"({draw.randrange(pages)},1)"' for _ in range(many))
        query = f"SELECT count(*) FROM {table} WHERE ctid = ANY ('{{{places}}}'::tid[])"
        connection.execute(query.encode())


def _chunks(count: int) -> Iterator[int]:
    for begin in range(0, count, CHUNK):
        yield min(CHUNK, count - begin)
