"""How much of the disk folders take."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from teiten.model.units import Bytes


def folder_bytes(folder: Path) -> Bytes:
    """What a folder's files take on the disk; blocks shared by reflink count for each of them."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # deleted meanwhile
                status = os.lstat(f"{parent}{os.sep}{name}")
                total += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return Bytes(total)
