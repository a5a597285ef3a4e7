"""The marker file: what Teiten made, so that it deletes nothing else.

A marked folder holds ``.teiten`` beside its contents (a data directory must be empty for initdb, so
the marker stands beside it, in the cluster's folder).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from teiten import __version__
from teiten.errors import UsageError
from teiten.host.system.processes import started_at

MARKER_NAME = ".teiten"
START_TOLERANCE = 2.0
"""Seconds by which two readings of one process's start may differ (the clock was adjusted)."""


class Kind(StrEnum):
    """What a marked folder holds."""

    CLUSTER = "cluster"
    TEMPLATE = "template"
    TEMPLATE_BUILD = "template-build"
    SOCKETS = "sockets"
    LOGS = "logs"
    BUILD = "build"
    PACKAGE = "package"
    """Programs that another host's Teiten has sent."""


@dataclass(frozen=True)
class Marker:
    """Who made a folder. ``created`` and ``process_started``: seconds since the epoch."""

    what: Kind
    teiten_version: str
    created: float
    pid: int
    process_started: float | None
    about: str = ""

    def maker_lives(self) -> bool:
        """Whether the Teiten that made the folder still runs."""
        return same_process(self.pid, self.process_started)

    def is_left(self, *, or_ours: bool = False) -> bool:
        """Whether no other Teiten uses the folder: its maker has died, or is this process, where
        ``or_ours`` lets that count."""
        return (or_ours and self.pid == os.getpid()) or not self.maker_lives()


def same_process(pid: int, start: float | None) -> bool:
    """Whether the process of this pid and start (seconds since the epoch) still exists.

    A start that is not known is taken to match: better keep a folder than delete one in use.
    """
    now = started_at(pid)
    if now is None:
        return False
    return start is None or abs(now - start) <= START_TOLERANCE


def mark(folder: Path, what: Kind, about: str = "") -> Marker:
    """Write the marker of a folder that we made; raises OSError where it cannot be written."""
    pid = os.getpid()
    marker = Marker(what, __version__, time.time(), pid, started_at(pid), about)
    partial = folder / f"{MARKER_NAME}.{pid}"
    partial.write_text(json.dumps(asdict(marker)) + "\n", encoding="utf-8")
    partial.replace(folder / MARKER_NAME)
    return marker


def read_marker(folder: Path) -> Marker | None:
    """The marker of a folder; None where there is none, or one that Teiten did not write."""
    try:
        values = json.loads((folder / MARKER_NAME).read_text(encoding="utf-8"))
        return Marker(
            what=Kind(values["what"]),
            teiten_version=str(values["teiten_version"]),
            created=float(values["created"]),
            pid=int(values["pid"]),
            process_started=_float_or_none(values["process_started"]),
            about=str(values.get("about", "")),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def new_folder(folder: Path, what: Kind, about: str = "") -> None:
    """Make a marked folder, or mark an empty one.

    Raises UsageError where the folder holds something that is not marked as Teiten's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if read_marker(folder) is None and any(folder.iterdir()):
        raise UsageError(
            f"the folder {folder} is not empty and was not made by Teiten",
            "name a new or an empty folder; Teiten never deletes what it did not make",
        )
    mark(folder, what, about)


def remove_marked(folder: Path) -> None:
    """Delete a marked folder. The marker goes last, so that a deletion cut off can be continued.

    Raises UsageError where the folder has no marker; nothing happens where there is no folder.
    """
    if not folder.exists():
        return
    if folder.is_symlink() or read_marker(folder) is None:
        raise UsageError(
            f"the folder {folder} was not made by Teiten",
            "delete it yourself if it is not needed; Teiten deletes only what carries its marker",
        )
    with contextlib.suppress(FileNotFoundError):  # another Teiten sweeps too
        for entry in list(folder.iterdir()):
            if entry.name == MARKER_NAME:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink(missing_ok=True)
        (folder / MARKER_NAME).unlink(missing_ok=True)
        folder.rmdir()


def _float_or_none(value: float | str | None) -> float | None:
    return None if value is None else float(value)
