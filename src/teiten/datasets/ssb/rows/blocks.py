"""A table's bytes in order, made by any number of threads in constant memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from teiten.datasets.ssb.rows.native import Rows, rows
from teiten.model.ssb import SsbData, SsbFormat, SsbTable


class Watch:
    """Told from any thread, several times a second at most for each stream; by itself it does
    nothing."""

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        """So many more units and rows of a table were written."""

    def step(self, text: str) -> None:
        """Tell people what is done now."""

    def note(self, text: str) -> None:
        """Note what people should know when all is done."""


UNITS_ALONE = 512
"""Units of a block made by the thread that asks: some 200 KB, which a core's cache holds."""
UNITS_THREADED = 4096
"""Units of a block where threads take turns: a turn costs as much as some hundred rows."""
MOST_BYTES = {SsbTable.LINEORDER: 7 * 160}
"""The most bytes of a unit: an order has up to seven rows."""
MOST_ROW_BYTES = 384
SLACK = 8 * 384
"""The generator copies constant sizes, so a buffer must be longer than its rows."""
THREAD_BYTES = UNITS_THREADED * MOST_BYTES[SsbTable.LINEORDER] + SLACK
"""The most that a thread's buffer takes of memory."""


LOOK = 0.2
"""Seconds between looks for an interruption: a signal that meets Python just before it begins to
wait for a thread is not handled before that wait is over."""


@dataclass(frozen=True)
class Block:
    """Whole rows. The bytes are valid until they have been taken."""

    data: memoryview
    units: int
    rows: int
    sums: tuple[int, ...]


Taker = Callable[[Block], None]


def take_blocks(
    data: SsbData,
    table: SsbTable,
    form: SsbFormat,
    part: range,
    take: Taker,
    *,
    threads: int,
    patience: float | None = None,
) -> None:
    """Make the rows of a part of a table and give them to ``take``, block by block and in order.

    The thread that made a block gives it, one at a time: its bytes are in that core's cache, and
    nothing is handed over. What ``take`` raises ends all threads and is raised here. After a
    failure or an interruption the threads are waited for, at most ``patience`` seconds where
    ``take`` may wait for somebody else, as a pipe does.
    """
    if threads == 1 or len(part) <= UNITS_THREADED:
        maker = _Maker(data, table, form, UNITS_ALONE)
        for units in _split(part, UNITS_ALONE):
            take(maker.make(units))
        return
    turns = _Turns(_split(part, UNITS_THREADED), take)
    blocks = -(-len(part) // UNITS_THREADED)
    makers = [_Maker(data, table, form, UNITS_THREADED) for _ in range(min(threads, blocks))]
    workers = [
        threading.Thread(target=turns.work, args=[maker], name="teiten-ssb", daemon=True)
        for maker in makers
    ]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(LOOK)
    except BaseException:
        turns.end()
        for worker in workers:
            if worker.ident is not None:
                worker.join(patience)
        raise
    if turns.failure is not None:
        raise turns.failure


def _split(part: range, most: int) -> Iterator[range]:
    for start in range(part.start, part.stop, most):
        yield range(start, min(start + most, part.stop))


class _Maker:
    """A stream with its buffer; one thread uses it at a time."""

    def __init__(self, data: SsbData, table: SsbTable, form: SsbFormat, units: int) -> None:
        self._rows: Rows = rows(data, table, form, range(0))
        # Only the pages that are written to take memory.
        size = units * MOST_BYTES.get(table, MOST_ROW_BYTES) + SLACK
        self._buffer = memoryview(bytearray(size))

    def make(self, units: range) -> Block:
        self._rows.seek(units.start, units.stop)
        size = self._rows.fill(self._buffer)
        assert self._rows.left == 0, "a block's rows fit into its buffer"
        return Block(self._buffer[:size], len(units), self._rows.rows, tuple(self._rows.sums))


class _Turns:
    """Who makes which block, and whose turn it is to give it."""

    def __init__(self, parts: Iterator[range], take: Taker) -> None:
        self._parts = enumerate(parts)
        self._take = take
        self._turn = 0
        self._ended = False
        self._changed = threading.Condition()
        self.failure: BaseException | None = None
        """The exception of the first thread that failed."""

    def work(self, maker: _Maker) -> None:
        """Make blocks and give them until none is left or somebody failed."""
        try:
            while (claim := self._claim()) is not None:
                number, units = claim
                block = maker.make(units)
                if not self._wait(number):
                    return
                self._take(block)
                with self._changed:
                    self._turn += 1
                    self._changed.notify_all()
        except BaseException as error:
            self.failure = self.failure or error
            self.end()

    def end(self) -> None:
        """Nothing more is taken; a block that is being taken is taken to its end."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _claim(self) -> tuple[int, range] | None:
        with self._changed:
            return None if self._ended else next(self._parts, None)

    def _wait(self, number: int) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._turn == number)
            return not self._ended
