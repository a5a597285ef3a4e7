"""A file to measure a disk with, read and written past the page cache."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.system.held_folder import HeldFolder
from teiten.model.units import Bytes

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
            _fill(file)
            yield file
    except OSError as error:
        raise MachineError(f"{folder}: {_reason(error)}", _hint(error)) from error


def _fill(file: Scratch) -> None:
    buffer = aligned(CHUNK)
    for offset in range(0, file.size, CHUNK):
        file.write(buffer, offset)
    os.fdatasync(file.descriptor)


def _reason(error: OSError) -> str:
    if error.errno == errno.EINVAL:
        return "its file system has no direct I/O (O_DIRECT)"
    return f"cannot be measured ({error.strerror})"


def _hint(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "free some space, or choose another folder with --workdir"
    return "choose a folder on a disk of this machine with --workdir"
