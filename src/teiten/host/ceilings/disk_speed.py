"""Speed of a disk, each pattern alone: Teiten's own probe, where fio is missing.

Requests come from threads, since a system call leaves Python's lock. Python itself takes some 10 µs
for a request: a disk that does more than about 50,000 per second is measured too low, and fio
should be there.

The report of 2013 explains what limits transactions that change rows (table 5.6) by the speed of
writing in sequence what is made durable every so many bytes: each commit makes its WAL durable, and
the more it writes at once, the more bytes a second hold.
"""

from __future__ import annotations

import errno
import mmap
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.system.held_folder import HeldFolder
from teiten.model.units import KIB, MIB, Bytes, Seconds

CHUNK = 1024 * 1024
"""Bytes of a sequential transfer; direct I/O transfers whole blocks of the disk."""


@dataclass(frozen=True)
class Scratch:
    """An open file of ``size`` bytes without holes, of random data.

    It has no name any more, so that nothing is left of it even by a kill.
    """

    descriptor: int
    size: int

    @property
    def path(self) -> Path:
        """Where another program can open it, while this one has it open."""
        return Path(f"/proc/{os.getpid()}/fd/{self.descriptor}")

    def write(self, buffer: mmap.mmap, offset: int) -> int:
        """Write the whole buffer; the number of bytes."""
        return os.pwritev(self.descriptor, [buffer], offset)

    def read(self, buffer: mmap.mmap, offset: int) -> int:
        """Fill the whole buffer; the number of bytes."""
        return os.preadv(self.descriptor, [buffer], offset)


def aligned(size: int) -> mmap.mmap:
    """A buffer that begins at a page, as direct I/O wants it, full of random bytes."""
    buffer = mmap.mmap(-1, size)
    buffer.write(os.urandom(size))
    return buffer


@contextmanager
def scratch(folder: Path, size: Bytes) -> Iterator[Scratch]:
    """A file in ``folder``, which exists.

    Raises MachineError where the folder cannot be written or has no direct I/O.
    """
    if not hasattr(os, "O_DIRECT"):
        raise MachineError("this system has no direct I/O (O_DIRECT)", "measure on Linux")
    try:
        with (
            HeldFolder.open(folder) as held,
            held.create_nameless(os.O_DIRECT) as nameless,
        ):
            file = Scratch(nameless.fileno(), size // CHUNK * CHUNK)
            buffer = aligned(CHUNK)
            for offset in range(0, file.size, CHUNK):
                file.write(buffer, offset)
            os.fdatasync(file.descriptor)
            yield file
    except OSError as error:
        raise MachineError(
            f"{folder}: its file system has no direct I/O (O_DIRECT)"
            if error.errno == errno.EINVAL
            else f"{folder}: cannot be measured ({error.strerror})",
            "free some space, or choose another folder with --workdir"
            if error.errno == errno.ENOSPC
            else "choose a folder on a disk of this machine with --workdir",
        ) from error


BLOCK = 8192
"""PostgreSQL's."""

Request = Callable[[], int]
"""One transfer; returns its bytes."""


@dataclass(frozen=True)
class Pattern:
    """A way to use a disk: as many requests are open at once as there are threads."""

    name: str
    """The field of ``model.bottleneck.Ceilings`` that it measures."""
    access: str
    """As fio calls it: read, write, randread or randwrite."""
    block: int
    """Bytes of a request."""
    threads: int
    durable: bool = False
    """Each write is made durable before the next."""

    @property
    def writes(self) -> bool:
        return self.access.endswith("write")

    @property
    def is_bandwidth(self) -> bool:
        """The result is in bytes per second, and each thread has a part of the file; else it is in
        requests per second."""
        return not self.durable and not self.access.startswith("rand")

    def requests(self, file: Scratch) -> list[Request]:
        """One for each thread."""
        make = scattered if self.access.startswith("rand") else sequential
        return [make(file, at, self) for at in range(self.threads)]


def patterns_of(chunk: int, random_threads: int) -> tuple[Pattern, ...]:
    """Five patterns; ``chunk``: bytes of a sequential request."""
    return (
        Pattern("sequential_read", "read", chunk, 4),
        Pattern("sequential_write", "write", chunk, 4),
        Pattern("random_reads", "randread", BLOCK, random_threads),
        Pattern("random_writes", "randwrite", BLOCK, random_threads),
        Pattern("fsyncs", "write", BLOCK, 1, durable=True),
    )


OF_DISK = patterns_of(CHUNK, 16)
"""As many backends could wait for a block as there are random requests at once."""
OF_STORAGE = patterns_of(BLOCK, 4)
"""The patterns of the report of 2013 for a storage class: blocks of 8 kB, four jobs."""


def measure_disk(file: Scratch, seconds: Seconds, patterns: Sequence[Pattern]) -> dict[str, float]:
    """Measure each pattern for ``seconds``, by its name, in the units of ``Ceilings``. Raises
    OSError."""
    return {
        pattern.name: rate(pattern.requests(file), seconds)
        / (1 if pattern.is_bandwidth else pattern.block)
        for pattern in patterns
    }


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


def sequential(file: Scratch, at: int, pattern: Pattern) -> Request:
    """Chunk after chunk, every thread in a part of its own; where the pattern says so each durable
    before the next, as WAL is written."""
    chunk = pattern.block
    part = max(file.size // pattern.threads // chunk, 1) * chunk
    first = at * part % file.size
    place = 0
    transfer = _transfer(file, pattern)

    def request() -> int:
        nonlocal place
        transferred = transfer(first + place)
        if pattern.durable:
            os.fdatasync(file.descriptor)
        place = (place + chunk) % part
        return transferred

    return request


def scattered(file: Scratch, at: int, pattern: Pattern) -> Request:
    """A block anywhere."""
    places = random.Random(at)  # noqa: S311 - places, not secrets
    blocks = file.size // pattern.block
    transfer = _transfer(file, pattern)
    return lambda: transfer(places.randrange(blocks) * pattern.block)


def _transfer(file: Scratch, pattern: Pattern) -> Callable[[int], int]:
    """Read or write a block at an offset; the number of its bytes."""
    buffer = aligned(pattern.block)
    use = file.write if pattern.writes else file.read
    return lambda offset: use(buffer, offset)


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
        patterns = {
            interval: Pattern("intervals", "write", interval or CHUNK, 1, durable=interval != NEVER)
            for interval in INTERVALS
        }
        return {at: rate(pattern.requests(file), SECONDS) for at, pattern in patterns.items()}
