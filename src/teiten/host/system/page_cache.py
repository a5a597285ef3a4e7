"""How much of files the OS page cache holds, and emptying it before a trial.

Measured through open descriptors: by cachestat(2) where the kernel has it (Linux 6.5), else by
mincore(2) of a mapping, which reads nothing. Both tell only of files that one could write, so that
nobody learns what others read; of others nothing is said.

Sources: Linux, mm/filemap.c (cachestat), mm/mincore.c (can_do_mincore).
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.model.units import GIB, Bytes

CACHESTAT = 451
"""The number of the system call on the architectures below."""
_NUMBERED = frozenset({"x86_64", "aarch64", "riscv64", "ppc64le", "s390x"})
WINDOW = GIB
"""Bytes that are mapped at a time, where mincore is asked."""
_MAP_FAILED = ctypes.c_void_p(-1).value


@dataclass(frozen=True)
class PageCache:
    """Bytes of some files, and those of them that are in memory."""

    size: Bytes
    resident: Bytes

    @property
    def share(self) -> float:
        """The part that is resident; 0 of nothing."""
        return self.resident / self.size if self.size else 0.0

    def __add__(self, further: PageCache) -> PageCache:
        return PageCache(Bytes(self.size + further.size), Bytes(self.resident + further.resident))


NOTHING = PageCache(Bytes(0), Bytes(0))


def cached(file: IO[bytes], first: int | None = None) -> PageCache | None:
    """Count the cached bytes of an open plain file. ``first``: only so many at its beginning.

    None where this system, or the file's owner, does not let it be known.
    """
    status = os.fstat(file.fileno())
    size = status.st_size if first is None else min(first, status.st_size)
    if sys.platform != "linux" or not _ours(status):
        return None
    if not size:
        return NOTHING
    counted = _by_cachestat(file.fileno(), size)
    resident = by_mincore(file.fileno(), size) if counted is None else counted[0]
    return None if resident is None else PageCache(Bytes(size), Bytes(min(size, resident)))


def cached_below(folder: Path) -> PageCache | None:
    """Count those of all plain files below a folder; no link is followed. None as ``cached``."""
    try:
        files = _plain_files(folder)
        return all_cached(None if file is None else cached(file) for file in files)
    except (OSError, UnsafePlaceError):
        return None


def all_cached(parts: Iterable[PageCache | None]) -> PageCache | None:
    """Add parts up; None where one of them is not known."""
    total = NOTHING
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _plain_files(folder: Path) -> Iterator[IO[bytes] | None]:
    """Open one plain file below a folder after the other; None for one that cannot be opened.

    Sockets and links hold no pages. Raises OSError or UnsafePlaceError for the folder itself.
    """
    with HeldFolder.open_itself(folder) as held:
        for place, name, status in held.walk():
            if not stat.S_ISREG(status.st_mode):
                continue
            try:
                file = place.read_file(name)
            except FileNotFoundError:  # deleted meanwhile
                continue
            except (OSError, UnsafePlaceError):
                yield None
                continue
            with file:
                yield file


def evict(file: IO[bytes]) -> bool:
    """Write an open file back, and let its pages leave the page cache.

    Pages that another process maps or writes meanwhile stay. False where the system cannot.
    """
    if not hasattr(os, "posix_fadvise"):
        return False
    try:
        if not _is_clean(file):
            os.fdatasync(file.fileno())  # dirty pages cannot leave
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:
        return False
    return True


def _is_clean(file: IO[bytes]) -> bool:
    """Whether it is known that nothing has to be written: a sync costs time even then."""
    if sys.platform != "linux":
        return False
    counted = _by_cachestat(file.fileno(), 0)
    return counted is not None and counted[1] == 0


def _ours(status: os.stat_result) -> bool:
    """Whether the kernel tells: mincore says of other files that all of them is resident."""
    return os.geteuid() in (0, status.st_uid)


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    )  # fmt: skip
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    return libc


def _by_cachestat(descriptor: int, size: int) -> tuple[int, int] | None:
    """Count the resident and the unwritten pages of the first ``size`` bytes (0: of all).

    None where the kernel has no such call. Pages on their way in count already.
    """
    if platform.machine() not in _NUMBERED:
        return None
    asked = (ctypes.c_uint64 * 2)(0, size)
    answer = (ctypes.c_uint64 * 5)()  # pages: cached, dirty, in writeback, evicted, recently so
    number, whom = ctypes.c_long(CACHESTAT), ctypes.c_long(descriptor)
    flags = ctypes.c_long(0)
    if _libc().syscall(number, whom, ctypes.byref(asked), ctypes.byref(answer), flags):
        return None
    return int(answer[0]) * mmap.PAGESIZE, int(answer[1] + answer[2]) * mmap.PAGESIZE


def by_mincore(descriptor: int, size: int) -> int | None:
    """The resident bytes of the first ``size`` of a file that is ours; None where that fails."""
    pages = 0
    for start in range(0, size, WINDOW):
        length = min(WINDOW, size - start)
        count = -(-length // mmap.PAGESIZE)
        libc, seen = _libc(), (ctypes.c_ubyte * count)()
        address = libc.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, start)
        if address == _MAP_FAILED:
            return None
        try:
            while libc.mincore(address, length, seen):
                if ctypes.get_errno() != errno.EAGAIN:
                    return None
        finally:
            libc.munmap(address, length)
        pages += sum(page & 1 for page in bytes(seen))
    return pages * mmap.PAGESIZE


DROP_CACHES = Path("/proc/sys/vm/drop_caches")
PAGE_CACHE_AND_SLABS = "3\n"


def empty_caches(folders: Iterable[Path], *, everything: bool) -> str:
    """Let files leave the page cache, or ``everything`` where the machine allows it; what was
    done."""
    if everything and drop_page_cache():
        return "dropped"
    evicted = [evict_files(folder) for folder in folders]
    return "evicted" if all(evicted) else "kept: this system cannot evict"


def evict_files(folder: Path) -> bool:
    """Write the folder's files back and let their pages leave the page cache.

    Returns False where the system has no posix_fadvise, or a file could not be opened; pages that
    another process maps or writes meanwhile stay. Errors of single files never end it.
    """
    if not hasattr(os, "posix_fadvise"):
        return False
    complete = True
    try:
        for file in _plain_files(folder):
            complete &= file is not None and evict(file)
    except FileNotFoundError:
        return True
    except (OSError, UnsafePlaceError):
        return False
    return complete


def can_drop_page_cache(switch: Path = DROP_CACHES) -> bool:
    """Whether the whole page cache can be dropped: root on Linux, outside a locked container."""
    return os.access(switch, os.W_OK)


def drop_page_cache(switch: Path = DROP_CACHES) -> bool:
    """Write everything back, then drop the whole page cache, dentries and inodes.

    Returns False where the machine does not allow it (only root on Linux may).
    """
    if not can_drop_page_cache(switch):
        return False
    os.sync()
    try:
        switch.write_text(PAGE_CACHE_AND_SLABS)
    except OSError:
        return False
    return True
