"""Paths as somebody gave them: too long, with a NUL in it, of a home that there is not.

What no path can be is none that there is; it is no error of its own.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether there is a plain file that we may see."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether there is something that we may see."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def expanded(path: str | Path) -> Path:
    """With ``~`` and ``~user`` in place of the home; as it is where nobody has that name."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib's own raises RuntimeError
