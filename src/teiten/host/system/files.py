"""System calls on files and pipes beyond reading and writing; hints where a system has none."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

FICLONE = 0x40049409
"""linux/fs.h: the new file shares the old one's blocks until one of them is written."""
SYNC_FILE_RANGE_WRITE = 2
FALLOC_FL_KEEP_SIZE = 0x01
FALLOC_FL_PUNCH_HOLE = 0x02
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def reflink(old: int, new: int) -> None:
    """Make an empty file share another's blocks. Raises OSError where that cannot be."""
    if sys.platform == "linux":
        fcntl.ioctl(new, FICLONE, old)
    else:
        raise OSError(errno.ENOTSUP, "no reflinks on this system")


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Write at the file's position, however little of it the system takes at a time."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def copy_range(old: int, new: int, count: int) -> int:
    """Copy at the files' positions within the kernel; the bytes copied. Raises OSError.

    A Python that was built for an old C library has it not, on a Linux that does.
    """
    if sys.platform == "linux" and hasattr(os, "copy_file_range"):
        return os.copy_file_range(old, new, count)
    raise OSError(errno.ENOTSUP, "no copy_file_range on this system")


def begin_write_back(descriptor: int, offset: int, count: int) -> None:
    """Start writing a range to the disk, without waiting; a hint only, so that it may fail."""
    if _LIBC is not None:
        _LIBC.sync_file_range(
            descriptor,
            ctypes.c_int64(offset),
            ctypes.c_int64(count),
            ctypes.c_uint(SYNC_FILE_RANGE_WRITE),
        )


def sync_file_system(descriptor: int | None, folder: Path) -> None:
    """Write all dirty pages of an open folder's file system to its disk (Linux; elsewhere of all;
    nothing on Windows, which has no such call). Raises OSError, which names ``folder``."""
    if _LIBC is None or descriptor is None:
        if sys.platform != "win32":
            os.sync()
    elif _LIBC.syncfs(descriptor) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(folder))


def punch_hole(descriptor: int, length: int) -> bool:
    """Give a file's first bytes back to the disk; whether the file system can."""
    if _fallocate is None:
        return False
    mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
    return bool(_fallocate(descriptor, mode, 0, length) == 0)


def can_punch_holes() -> bool:
    """Whether the system knows how; the file system may still not."""
    return _fallocate is not None


def read_into(descriptor: int, buffer: bytearray) -> int:
    """Read at the file's position into a buffer; the bytes read, 0 at the end."""
    if sys.platform != "win32":
        return os.readv(descriptor, [buffer])
    content = os.read(descriptor, len(buffer))
    buffer[: len(content)] = content
    return len(content)


if sys.platform == "win32":

    def read_at(descriptor: int, length: int, position: int) -> bytes:
        """Read as os.pread does, which Windows lacks."""
        os.lseek(descriptor, position, os.SEEK_SET)
        return os.read(descriptor, length)

else:
    read_at = os.pread


def _load_fallocate() -> Callable[[int, int, int, int], int] | None:
    if sys.platform != "linux":
        return None
    types = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, *types, use_errno=True)
    try:
        return prototype(("fallocate64", ctypes.CDLL(None)))
    except AttributeError:  # a C library without it
        return None


_fallocate = _load_fallocate()


WIDEN = None if sys.platform == "win32" else getattr(fcntl, "F_SETPIPE_SZ", None)
ROOM = 1024 * 1024
"""Bytes; Linux gives everybody as many (/proc/sys/fs/pipe-max-size)."""


def widen_pipe(descriptor: int) -> None:
    """Give an open pipe more room; of anything else, and where it is refused, nothing happens.

    Writer and reader then wait for one another a sixteenth as often, which with two threads was a
    third of the time.
    """
    if sys.platform != "win32" and WIDEN is not None:
        with suppress(OSError):
            fcntl.fcntl(descriptor, WIDEN, ROOM)
