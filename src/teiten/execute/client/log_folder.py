"""Where pgbench writes its per-transaction log: in memory, where the system has such a folder.

On the disk, the log and the holes punched behind its reader become part of the file system's
journal, which the server's own commits may have to wait for. In memory it disturbs no commit; the
reader keeps it small. Its files, as far as any Python can read them: hosts have no more.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from teiten.execute.postgres.marker import Kind, mark, read_marker, remove_marked
from teiten.host.system import files
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


def sweep_logs(memory: Path = MEMORY_FOLDER, *, ending: bool = False) -> tuple[str, ...]:
    """Delete the folders whose Teiten has died; say which. Only our own user's are looked at.

    ``ending``: those that this process made go too.
    """
    done = []
    for folder in memory.glob(f"{PREFIX}*"):
        if not _is_own(folder):
            continue
        marker = read_marker(folder)
        if marker is not None and marker.what == Kind.LOGS and marker.is_left(or_ours=ending):
            remove_marked(folder)
            done.append(f"removed the left log folder {folder}")
    return tuple(done)


def _is_own(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == own_uid() and not folder.is_symlink()
    except OSError:
        return False


CHUNK_BYTES = 1 << 20
"""Read and counted at a time, per file: what the reader's memory is bounded by."""
_HOLE_ALIGNMENT = 1 << 16


class LogFile:
    """One file of a log that is written meanwhile, and how far it has been read."""

    def __init__(self, path: Path, count: Callable[[bytes], None]) -> None:
        """``count``: counts complete lines."""
        self.path = path
        self.position = 0
        """Bytes read; always after a complete line."""
        self.punches = files.can_punch_holes()
        self._count = count
        self._descriptor = os.open(path, os.O_RDWR)

    def read(self) -> None:
        """Count all complete lines that are there, and give their disk space back."""
        while True:
            chunk = files.read_at(self._descriptor, CHUNK_BYTES, self.position)
            complete = chunk[: chunk.rfind(b"\n") + 1]
            if not complete:
                break
            self._count(complete)
            self.position += len(complete)
            if len(chunk) < CHUNK_BYTES:
                break
        length = self.position - self.position % _HOLE_ALIGNMENT
        if self.punches and length:
            self.punches = files.punch_hole(self._descriptor, length)

    def close(self, *, delete: bool) -> None:
        os.close(self._descriptor)
        if delete:
            self.path.unlink(missing_ok=True)


class LogFiles:
    """All files of a log, each from when it is there."""

    def __init__(self, paths: Iterable[Path], count: Callable[[bytes], None]) -> None:
        self._waiting = list(paths)
        self._count = count
        self._open: list[LogFile] = []

    def read(self) -> None:
        for path in filter(Path.exists, list(self._waiting)):
            self._open.append(LogFile(path, self._count))
            self._waiting.remove(path)
        for file in self._open:
            file.read()

    def close(self, *, delete: bool) -> None:
        for file in self._open:
            file.close(delete=delete)


def log_paths(folder: Path, prefix: str, pid: int, threads: int) -> list[Path]:
    """The files that pgbench writes: one per thread, the first without a number."""
    return [
        folder / (f"{prefix}.{pid}" if thread == 0 else f"{prefix}.{pid}.{thread}")
        for thread in range(threads)
    ]
