"""The marker file: what Teiten made, so that it deletes nothing else.

A marked folder holds ``.teiten`` beside its contents (a data directory must be empty for initdb, so
the marker stands beside it, in the cluster's folder).
"""

from __future__ import annotations

import contextlib
import json
import stat
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from teiten import __version__
from teiten.errors import UsageError
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError, find_folder
from teiten.host.system.makers import Life, Maker, release_deleted
from teiten.model.units import Bytes

MARKER_NAME = ".teiten"
LARGEST = 65536
"""Bytes of a marker, and of a server's trace."""
NO_SUCH_VALUES = (
    ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError,
)  # fmt: skip
"""Errors of reading a text of another form."""


class Kind(StrEnum):
    """The purpose of a marked folder."""

    CLUSTER = "cluster"
    TEMPLATE = "template"
    TEMPLATE_BUILD = "template-build"
    SOCKETS = "sockets"
    LOGS = "logs"
    BUILD = "build"
    PACKAGE = "package"
    """Programs that another host's Teiten has sent."""


OUTLIVING = (Kind.TEMPLATE, Kind.PACKAGE)
"""Kinds of folders that are kept when their Teiten has ended."""


@dataclass(frozen=True)
class Marker:
    """Who made a folder. ``created``: seconds since the epoch."""

    what: Kind
    created: float
    maker: Maker
    life: Life
    """Whether the maker lived when the marker was read."""
    about: str = ""

    def is_left(self, *, or_ours: bool = False) -> bool:
        """Whether no other Teiten uses the folder: its maker has died, or is this process, where
        ``or_ours`` lets that count."""
        return (or_ours and self.maker.is_this_process) or self.life is Life.ENDED


def mark(folder: Path, what: Kind, about: str = "") -> None:
    """Write the marker of a folder that we made; raises OSError where it cannot be written."""
    with HeldFolder.open_itself(folder) as held:
        mark_held(held, what, about)


def mark_held(held: HeldFolder, what: Kind, about: str = "") -> None:
    """Write the marker of a folder that we made and hold.

    On the disk before anything else is in the folder: after a power cut, what stands in a folder
    whose marker is lost could neither be removed nor replaced.
    """
    if what not in OUTLIVING:
        held.lock_for_life()
    values = {
        "what": what,
        "teiten_version": __version__,
        "created": time.time(),
        **asdict(Maker.this_process()),
        "about": about,
    }
    held.write(MARKER_NAME, f"{json.dumps(values)}\n".encode(), mode=0o644, durable=True)


def read_marker(folder: Path) -> Marker | None:
    """The marker of a folder; None where there is none, or one that Teiten did not write.

    For root only root's own count: in a folder of another user, that user may have written it.
    """
    held = find_folder(folder)
    if held is None:
        return None
    with held:
        return marker_of(held)


def marker_of(held: HeldFolder) -> Marker | None:
    """Read the marker of a folder that is held; None as ``read_marker``."""
    if not held.is_trusted:
        return None
    try:
        values = json.loads(held.read(MARKER_NAME, LARGEST))
        maker = Maker.read(values)
        return Marker(
            what=Kind(values["what"]),
            created=float(values["created"]),
            maker=maker,
            life=held.life_of(maker),
            about=str(values.get("about", "")),
        )
    except (OSError, UnsafePlaceError, *NO_SUCH_VALUES):
        return None


def new_folder(folder: Path, what: Kind, about: str = "") -> None:
    """Make a marked folder, or mark an empty one.

    Raises UsageError where the folder holds something that is not marked as Teiten's, or is
    another user's, UnsafePlaceError where it is no folder.
    """
    folder = folder.absolute()
    with HeldFolder.open_or_make(folder.parent) as parent:
        with contextlib.suppress(FileExistsError):
            parent.make(folder.name, 0o755).close()
        with parent.inner(folder.name) as held:
            if marker_of(held) is None and (held.entries() or not held.is_trusted):
                raise UsageError(
                    f"the folder {folder} is not empty and was not made by Teiten",
                    "name a new or an empty folder; Teiten never deletes what it did not make",
                )
            mark_held(held, what, about)


def remove_marked(folder: Path) -> None:
    """Delete a marked folder. The marker goes last, so that a deletion cut off can be continued.

    Raises UsageError where the folder has no marker, OSError where something cannot be deleted;
    nothing happens where there is no folder.
    """
    folder = folder.absolute()
    try:
        parent = HeldFolder.open(folder.parent)
    except FileNotFoundError:
        return
    with parent:
        if parent.status(folder.name) is None:
            return
        try:
            held = parent.inner(folder.name)
        except UnsafePlaceError as error:
            raise _not_ours(folder) from error
        with held:
            if marker_of(held) is None:
                raise _not_ours(folder)
            held.empty(keep=(MARKER_NAME,))
            held.unlink(MARKER_NAME)
        parent.remove_folder(folder.name)
    release_deleted()


def _not_ours(folder: Path) -> UsageError:
    return UsageError(
        f"the folder {folder} was not made by Teiten",
        "delete it yourself if it is not needed; Teiten deletes only what carries its marker",
    )


def folder_bytes(folder: Path) -> Bytes:
    """Sum a folder's files on the disk; blocks shared by reflink count for each of them."""
    total = 0
    with contextlib.suppress(OSError, UnsafePlaceError), HeldFolder.open_itself(folder) as held:
        for _, _, status in held.walk():
            if not stat.S_ISDIR(status.st_mode):
                total += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return Bytes(total)
