"""Where pgbench writes its per-transaction log: in memory, where the system has such a folder.

On the disk, the log and the holes punched behind its reader become part of the file system's
journal, which the server's own commits may have to wait for. In memory it disturbs no commit; the
reader keeps it small.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from teiten.execute.postgres.marker import Kind, mark, read_marker, remove_marked
from teiten.host.system.shared_memory import MEMORY_FOLDER
from teiten.host.system.users import own_uid
from teiten.model.units import MIB

PREFIX = "teiten-log-"
ROOM = 128 * MIB
"""Bytes that must be free in memory: some seconds of the log of 100,000 transactions a second."""


def new_log_folder(memory: Path = MEMORY_FOLDER) -> Path | None:
    """A marked folder of mode 0700 in memory; None where there is no room for one."""
    try:
        if shutil.disk_usage(memory).free < ROOM:
            return None
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=memory))
    except OSError:
        return None
    mark(folder, Kind.LOGS)
    return folder


def remove_log_folder(folder: Path) -> None:
    """Delete a marked folder with the logs in it."""
    remove_marked(folder)


def sweep_logs(memory: Path = MEMORY_FOLDER, *, ending: bool = False) -> tuple[str, ...]:
    """Delete the folders whose Teiten has died; say which. Only our own user's are looked at.

    ``ending``: those that this process made go too.
    """
    done = []
    for folder in _own_folders(memory):
        marker = read_marker(folder)
        if marker is not None and marker.what == Kind.LOGS and marker.is_left(or_ours=ending):
            remove_log_folder(folder)
            done.append(f"removed the left log folder {folder}")
    return tuple(done)


def _own_folders(memory: Path) -> Iterator[Path]:
    for folder in memory.glob(f"{PREFIX}*"):
        try:
            status = folder.lstat()
        except OSError:
            continue
        if status.st_uid == own_uid() and not folder.is_symlink():
            yield folder
