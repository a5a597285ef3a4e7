"""A table's bytes in order, made by any number of threads in constant memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from teiten.execute.ssb.native import Rows, rows
from teiten.model.ssb import SsbData, SsbFormat, SsbTable

UNITS_ALONE = 512
"""Units of a block made by the thread that asks: some 200 KB, which a core's cache holds."""
UNITS_THREADED = 4096
"""Units of a block made by another thread: handing it over costs as much as some hundred rows."""
MOST_BYTES = {SsbTable.LINEORDER: 7 * 160}
"""The most bytes of a unit: an order has up to seven rows."""
MOST_ROW_BYTES = 384
SLACK = 8 * 384
"""The generator copies constant sizes, so a buffer must be longer than its rows."""


@dataclass(frozen=True)
class Block:
    """Whole rows. The bytes are valid until the next block is asked for."""

    data: memoryview
    units: int
    rows: int
    sums: tuple[int, ...]


def add(sums: Sequence[int], more: Sequence[int]) -> list[int]:
    """Sums of columns, added up; of nothing yet they are ``more``."""
    return [one + other for one, other in zip(sums, more, strict=True)] if sums else [*more]


def blocks(
    data: SsbData, table: SsbTable, form: SsbFormat, part: range, threads: int
) -> Iterator[Block]:
    """The rows of a part of a table, in order, block by block."""
    if threads > 1 and len(part) > UNITS_THREADED:
        yield from _by_threads(data, table, form, part, threads)
        return
    worker = _Worker(data, table, form, UNITS_ALONE)
    for units in _split(part, UNITS_ALONE):
        yield worker.make(units)


def _split(part: range, most: int) -> Iterator[range]:
    for start in range(part.start, part.stop, most):
        yield range(start, min(start + most, part.stop))


class _Worker:
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


def _by_threads(
    data: SsbData, table: SsbTable, form: SsbFormat, part: range, threads: int
) -> Iterator[Block]:
    """Blocks are made ahead of the one that is read, at most as many as there are workers."""
    idle = deque(_Worker(data, table, form, UNITS_THREADED) for _ in range(threads + 2))
    ahead = _split(part, UNITS_THREADED)
    pending: deque[tuple[_Worker, Future[Block]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="teiten-ssb") as pool:

        def begin() -> None:
            while idle and (units := next(ahead, None)) is not None:
                worker = idle.popleft()
                pending.append((worker, pool.submit(worker.make, units)))

        begin()
        while pending:
            worker, future = pending.popleft()
            yield future.result()
            idle.append(worker)
            begin()
