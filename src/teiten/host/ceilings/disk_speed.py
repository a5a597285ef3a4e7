"""Speed of a disk, each pattern alone: Teiten's own probe, where fio is missing.

Requests come from threads, since a system call leaves Python's lock. Python itself takes some 10 µs
for a request: a disk that does more than about 50,000 per second is measured too low, and fio
should be there.

How fast storage is written in sequence where it is made durable every so many bytes.

The report of 2013 explains by it what limits transactions that change rows (table 5.6): each commit
makes its WAL durable, and the more it writes at once, the more bytes a second hold.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from teiten.host.ceilings.scratch import CHUNK, Scratch, aligned, scratch
from teiten.model.units import KIB, MIB, Bytes, Seconds

BLOCK = 8192
"""PostgreSQL's."""
RANDOM_THREADS = 16
"""Requests that are open at once: as many backends could wait for a block."""
SEQUENTIAL_THREADS = 4

Request = Callable[[], int]
"""One transfer; returns its bytes."""


@dataclass(frozen=True)
class DiskSpeed:
    """Units as in ``model.bottleneck.Ceilings``."""

    sequential_read: float
    sequential_write: float
    random_reads: float
    random_writes: float
    fsyncs: float


def measure_disk(file: Scratch, seconds: Seconds) -> DiskSpeed:
    """Five patterns, ``seconds`` for each. Raises OSError."""

    def bandwidth(transfer: Callable[[Scratch, int], Request]) -> float:
        makers = [transfer(file, at) for at in range(SEQUENTIAL_THREADS)]
        return rate(makers, seconds)

    def requests(transfer: Callable[[Scratch, int], Request]) -> float:
        makers = [transfer(file, at) for at in range(RANDOM_THREADS)]
        return rate(makers, seconds) / BLOCK

    return DiskSpeed(
        sequential_read=bandwidth(lambda file, at: sequential(file, at, write=False)),
        sequential_write=bandwidth(lambda file, at: sequential(file, at, write=True)),
        random_reads=requests(lambda file, at: scattered(file, at, write=False)),
        random_writes=requests(lambda file, at: scattered(file, at, write=True)),
        fsyncs=rate([durable(file)], seconds) / BLOCK,
    )


def rate(requests: list[Request], seconds: Seconds) -> float:
    """B/s of all requests together, one thread for each, until the time is over.

    Raises the first error of a thread.
    """
    done = [0] * len(requests)
    errors: list[BaseException] = []
    end = time.perf_counter() + seconds

    def work(at: int) -> None:
        try:
            while time.perf_counter() < end and not errors:
                done[at] += requests[at]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(requests))]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(done) / (time.perf_counter() - start)


def sequential(file: Scratch, at: int, *, write: bool, chunk: int = CHUNK) -> Request:
    """Chunk after chunk, every thread in a part of its own."""
    buffer = aligned(chunk)
    part = max(file.size // SEQUENTIAL_THREADS // chunk, 1) * chunk
    first = at * part % file.size
    place = 0

    def request() -> int:
        nonlocal place
        offset = first + place
        place = (place + chunk) % part
        return file.write(buffer, offset) if write else file.read(buffer, offset)

    return request


def scattered(file: Scratch, at: int, *, write: bool) -> Request:
    """A block anywhere."""
    buffer = aligned(BLOCK)
    places = random.Random(at)  # noqa: S311 - places, not secrets
    blocks = file.size // BLOCK

    def request() -> int:
        offset = places.randrange(blocks) * BLOCK
        return file.write(buffer, offset) if write else file.read(buffer, offset)

    return request


def durable(file: Scratch, chunk: int = BLOCK) -> Request:
    """The next block, or chunk, durable before the one after it, as WAL is written."""
    buffer = aligned(chunk)
    place = 0

    def request() -> int:
        nonlocal place
        written = file.write(buffer, place)
        os.fdatasync(file.descriptor)
        place = (place + chunk) % file.size
        return written

    return request


NEVER = 0
INTERVALS = (BLOCK, 128 * KIB, NEVER)
"""Bytes between two calls of fdatasync, as in the report."""
SIZE = Bytes(64 * MIB)
SECONDS = Seconds(1.0)
"""Duration of each interval's measurement."""


def measure_intervals(folder: Path) -> dict[int, float]:
    """Bytes per second by interval, past the page cache, by one process.

    Raises MachineError where the folder cannot be written, or has no direct I/O.
    """
    with scratch(folder, SIZE) as file:
        return {interval: rate([_written(file, interval)], SECONDS) for interval in INTERVALS}


def _written(file: Scratch, interval: int) -> Request:
    return sequential(file, 0, write=True) if interval == NEVER else durable(file, interval)
