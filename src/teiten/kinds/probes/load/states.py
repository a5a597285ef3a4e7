"""Makes the states that probes measure in, and makes one again that does not hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from teiten.execute.bench import Bench
from teiten.execute.sites.contract import Site
from teiten.kinds.probes.load.loading import Loaded, Touched, load, touch
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
