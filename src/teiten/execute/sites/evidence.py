"""What of a server's files is kept beside its trial."""

from __future__ import annotations

from pathlib import Path

from teiten.host.system.held_folder import HeldFolder


def keep(folder: Path, name: str, content: bytes) -> None:
    """Write a server's file into the evidence, for those alone who may read the server's."""
    with HeldFolder.open_itself(folder) as evidence:
        evidence.write(name, content)
