"""How much of the disk folders take."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.model.units import Bytes


def folder_bytes(folder: Path) -> Bytes:
    """Sum a folder's files on the disk; blocks shared by reflink count for each of them."""
    total = 0
    with contextlib.suppress(OSError, UnsafePlaceError), HeldFolder.open_itself(folder) as held:
        for _, _, status in held.walk():
            if not stat.S_ISDIR(status.st_mode):
                total += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return Bytes(total)
