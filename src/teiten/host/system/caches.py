"""The OS page cache: what of it can be emptied before a trial."""

from __future__ import annotations

import os
from pathlib import Path

DROP_CACHES = Path("/proc/sys/vm/drop_caches")
PAGE_CACHE_AND_SLABS = "3\n"


def evict_files(folder: Path) -> bool:
    """Write the folder's files back and let their pages leave the page cache.

    Returns False where the system has no posix_fadvise, or a file could not be opened; pages that
    another process maps or writes meanwhile stay. Errors of single files never end it.
    """
    if not hasattr(os, "posix_fadvise"):
        return False
    complete = True
    for parent, _, names in os.walk(folder):
        for name in names:
            complete &= _evict(Path(parent, name))
    return complete


def _evict(path: Path) -> bool:
    if not path.is_file() or path.is_symlink():
        return True  # sockets and links hold no pages; a link's target is not ours
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        os.fdatasync(descriptor)  # dirty pages cannot leave
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


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
