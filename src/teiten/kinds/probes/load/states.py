"""Makes the states that probes measure in, and makes one again that does not hold.

Puts pages into the buffers and the page cache, in pieces between which one may interrupt.
"""

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
from teiten.execute.bench import Bench
from teiten.execute.sites.contract import Site
from teiten.kinds.probes.measurement import Where
from teiten.kinds.probes.model import Do, ProbeStep, State

TRIES = 3
"""How often a state is made at the most: a kernel with little memory drops pages at times that were
read a moment before."""
KEEPS_STATES = frozenset({Do.LOAD, Do.TOUCH, Do.FORGET, Do.SET, Do.REQUIRE})
"""After any other step a state is not that of the steps before it."""


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
            for one in self._made:
                self._make(one)
            yield number

    def _make(self, what: Made) -> None:
        step, pages = what.step, what.pages
        if step.do is Do.FORGET:
            self._site.evict(step.table)
            return
        if step.do is Do.TOUCH:
            touched = Touched(step.table, pages, round(pages * step.times))
            touch(self._site.connect, touched, self._draw.randrange(2**31), self._check)
            return
        if step.leaving:
            pages = min(pages, max(0, what.unused - step.leaving))
        first = self._loaded.get(step, 0) if step.new_pages else 0
        loaded = Loaded(step.table, first, pages, os_cache_only=step.os_cache_only)
        with self._site.connect() as connection:
            for _ in range(int(step.times)):
                load(connection, loaded, self._check)
        self._loaded[step] = pages


def lacking(state: State, where: Where, buffers: int) -> str:
    """Describe for people where pages are if a required state does not hold; empty if it does."""
    can_be = min(where.pages, buffers) / where.pages
    in_buffers, cached = where.buffers_share, where.os_cache_share
    least, most = state.buffers_at_least, state.buffers_at_most
    wrong = least is not None and in_buffers < least * can_be
    wrong = wrong or (most is not None and in_buffers > most)
    if cached is not None:  # where it cannot be seen, nothing is said of it
        least, most, either = state.os_cache_at_least, state.os_cache_at_most, state.memory_at_least
        wrong = wrong or (least is not None and cached < least)
        wrong = wrong or (most is not None and cached > most)
        wrong = wrong or (either is not None and max(in_buffers, cached) < either)
    seen = "" if cached is None else f", {cached:.1%} in the OS cache"
    return f"{in_buffers:.1%} of {where.pages} pages are in the buffers{seen}" if wrong else ""


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
