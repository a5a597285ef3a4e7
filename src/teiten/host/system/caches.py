"""The OS page cache: what of it can be emptied before a trial."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.page_cache import evict

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
        with HeldFolder.open_itself(folder) as held:
            for place, name, status in held.walk():
                if stat.S_ISREG(status.st_mode):  # sockets and links hold no pages
                    complete &= _evict(place, name)
    except FileNotFoundError:
        return True
    except (OSError, UnsafePlaceError):
        return False
    return complete


def _evict(folder: HeldFolder, name: str) -> bool:
    try:
        with folder.read_file(name) as file:
            return evict(file)
    except FileNotFoundError:
        return True
    except (OSError, UnsafePlaceError):
        return False


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
