"""Makes the states that probes measure in, and makes one again that does not hold.

Puts pages into the buffers and the page cache, in pieces between which one may interrupt.
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

from teiten.errors import ServerError
from teiten.execute.bench import Bench
from teiten.execute.sites.contract import Site
from teiten.kinds.probes.measurement import Where
from teiten.kinds.probes.model import Do, ProbeStep, State

TRIES = 3
"""How often a state is made at most: a kernel with little memory drops pages at times that were
read a moment before."""
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
