"""Small files of the working folder that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

from teiten.host.system.held_folder import HeldFolder


def write_durably(path: Path, text: str) -> None:
    """Write or replace a file; it is durable when this returns, and a kill leaves the old one."""
    with HeldFolder.open(path.parent) as folder:
        folder.write(path.name, text.encode(), mode=None, durable=True)
