"""Small files of the working folder that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, text: str) -> None:
    """Write or replace a file; it is durable when this returns, and a kill leaves the old one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(path)
