"""The folders that a study names for its clusters."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from teiten.execute.postgres.access import blocking_folder
from teiten.host.facts.disks import disk_of
from teiten.host.system.users import ServerUser
from teiten.model.facts import DirectoryFacts


def read_directories(paths: Iterable[str], user: ServerUser) -> tuple[DirectoryFacts, ...]:
    """Each folder once; ``user``: as whom servers run."""
    return tuple(_read(Path(path), user) for path in dict.fromkeys(paths))


def _read(path: Path, user: ServerUser) -> DirectoryFacts:
    there = path.is_dir()
    blocking = blocking_folder(path, user) if there else None
    return DirectoryFacts(
        path=os.fspath(path),
        disk=disk_of(path),
        is_folder=there,
        writable=there and os.access(path, os.W_OK | os.X_OK),
        closed_at=None if blocking is None else os.fspath(blocking),
        is_taken=os.path.lexists(path) and not there,
    )
