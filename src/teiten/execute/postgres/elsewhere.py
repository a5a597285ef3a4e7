"""Folders that a study names for its clusters: noted in the working folder, so that a killed
Teiten's are found again.

A note is a file of the clusters' room that holds the path. Deleting goes by the marker as always:
a note alone makes no folder Teiten's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.postgres.access import blocking_folder
from teiten.host.facts.disks import disk_of
from teiten.host.system.held_folder import HeldFolder, exchangeable_way
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.model.facts import DirectoryFacts

ENDING = ".elsewhere"


def note(workdir: Workdir, folder: Path) -> None:
    """Remember a folder, before it is made."""
    with HeldFolder.open_or_make(workdir.clusters) as room:
        text = f"{os.fspath(folder)}\n".encode()
        room.write(_note(workdir, folder).name, text, mode=0o644, durable=True)


def forget(workdir: Workdir, folder: Path) -> None:
    """Forget a folder that is gone; one that is still there stays noted."""
    if not folder.exists():
        _note(workdir, folder).unlink(missing_ok=True)


def noted(workdir: Workdir) -> tuple[Path, ...]:
    """The folders that are noted and there; notes of those that are gone are removed."""
    folders = []
    for path in sorted(workdir.clusters.glob(f"*{ENDING}")):
        try:
            folder = Path(path.read_text(encoding="utf-8").rstrip("\n"))
        except (OSError, UnicodeDecodeError):
            continue
        if folder.is_dir():
            folders.append(folder)
        elif folder.parent.is_dir():  # else its disk is not mounted now
            path.unlink(missing_ok=True)
    return tuple(folders)


def require_room(directory: Path, user: ServerUser) -> None:
    """Raise MachineError where a folder cannot be made in ``directory``, or where others than root
    and the servers' user could exchange it: a server, its programs, and its links to tablespaces
    and WAL go by paths, and the server would take code from what is put there."""
    if not (directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)):
        raise MachineError(
            f"{directory}: no folder can be created in it",
            "name a folder that exists, and that you may write to",
        )
    exchangeable = exchangeable_way(directory, user)
    if exchangeable is not None:
        raise MachineError(
            f"{directory}: another user could exchange a server's files: what is in {exchangeable}"
            f" is neither root's nor {user.name}'s alone",
            f"name a folder of root's or of {user.name}'s, within such folders",
        )


def _note(workdir: Workdir, folder: Path) -> Path:
    return workdir.clusters / f"{folder.name}{ENDING}"


def read_directories(paths: Iterable[str], user: ServerUser) -> tuple[DirectoryFacts, ...]:
    """Each folder once; ``user``: as whom servers run."""
    return tuple(_read(Path(path), user) for path in dict.fromkeys(paths))


def _read(path: Path, user: ServerUser) -> DirectoryFacts:
    there = path.is_dir()
    blocking = blocking_folder(path, user) if there else None
    exchangeable = exchangeable_way(path, user) if there else None
    return DirectoryFacts(
        path=os.fspath(path),
        disk=disk_of(path),
        is_folder=there,
        writable=there and os.access(path, os.W_OK | os.X_OK),
        closed_at=None if blocking is None else os.fspath(blocking),
        is_taken=os.path.lexists(path) and not there,
        exchangeable_at=None if exchangeable is None else os.fspath(exchangeable),
    )
