"""Folders and files that somebody named to have results written there: reports, exports, sites.

Root writes them where other users may write too, who can have put a link, a FIFO or a folder in the
place of any file there. So the folder is held open, what is below it is reached from there, and no
link is followed; on the way to it root follows only root's own links, an ordinary user every one.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, cast

from teiten.given_paths import is_file
from teiten.host.system.held_folder import (
    MOST_LINKS,
    HeldFolder,
    UnsafePlaceError,
    exchangeable_folder,
)
from teiten.host.system.users import own_uid

_FOLDER_MODE = 0o777
"""The mode of a folder that is made, of which the umask takes its part."""
_PROCESSES = "/proc"


@contextmanager
def target_folder(path: Path) -> Iterator[HeldFolder]:
    """Hold the folder to write to; what is missing of the path is made.

    Raises UnsafePlaceError where root would follow another user's link, and OSError.
    """
    try:
        target = HeldFolder.open_or_make(path, _FOLDER_MODE)
    except UnsafePlaceError as error:
        absolute = path.absolute()
        blocking = next(filter(is_file, (absolute, *absolute.parents)), None)
        if blocking is None:
            raise
        raise NotADirectoryError(
            errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(blocking)
        ) from error
    with target:
        with suppress(OSError):
            target.remove_unfinished()
        yield target


def write_below(target: HeldFolder, name: str, content: bytes) -> None:
    """Write or replace a file below a folder, of one piece; its own folders are made.

    ``name``: with the names of these folders before it. The umask says its mode. Raises
    UnsafePlaceError where a folder on the way is none, or a folder has this name, and OSError.
    """
    with _room(target, name, made=True) as (room, own_name):
        room.write(own_name, content, mode=None)


def new_file(folder: HeldFolder, name: str) -> IO[bytes]:
    """Open a new file that is written bit by bit, with a buffer: Arrow does not notice where the
    system takes less than it is given. Raises FileExistsError, and OSError."""
    return io.BufferedWriter(cast("io.RawIOBase", folder.create(name, 0o666)))


def remove_below(target: HeldFolder, name: str) -> None:
    """Remove a file below a folder, and its own folder where that is empty then.

    Nothing is removed where a folder on the way is missing or is a link. Raises OSError.
    """
    with suppress(FileNotFoundError, UnsafePlaceError), _room(target, name) as (room, own_name):
        room.unlink(own_name)
    *rooms, _ = PurePath(name).parts
    if rooms:
        with (
            suppress(OSError, UnsafePlaceError),  # not empty, or gone
            _room(target, "/".join(rooms)) as (outer, room_name),
        ):
            outer.remove_folder(room_name)


@contextmanager
def _room(target: HeldFolder, name: str, *, made: bool = False) -> Iterator[tuple[HeldFolder, str]]:
    """Hold the folder in which a file below ``target`` stands; with the file's own name."""
    *names, own_name = PurePath(name).parts
    with ExitStack() as rooms:
        room = target
        for inner in names:
            if made:
                with suppress(FileExistsError):
                    room.make(inner, _FOLDER_MODE).close()
            room = rooms.enter_context(room.inner(inner))
        if made and names:
            with suppress(OSError):
                room.remove_unfinished()
        yield room, own_name


def write_file(path: Path, content: bytes) -> None:
    """Write a file that somebody named, for example a device or a pipe.

    In a folder of another user root replaces it of one piece. Elsewhere it is written in place.
    Raises UnsafePlaceError, and OSError.
    """
    place = _led_to(path)
    if _is_ours_to_follow(place.parent):
        place.write_bytes(content)
        return
    with HeldFolder.open(place.parent) as folder:
        folder.write(place.name, content, mode=None)


def append_file(path: Path, content: bytes) -> None:
    """Append to a file that somebody named, in place. Raises UnsafePlaceError where root would
    follow another user's link, and OSError."""
    place = _led_to(path)
    if _is_ours_to_follow(place.parent):
        with place.open("ab") as file:
            file.write(content)
        return
    with HeldFolder.open(place.parent) as folder, folder.append_to(place.name, shared=True) as file:
        file.write(content)


def _led_to(path: Path) -> Path:
    """Where links lead that root may follow; those of /proc stay, which are files that are open
    already and may have no path."""
    absolute = path.absolute()
    for _ in range(MOST_LINKS if own_uid() == 0 else 0):
        if (
            not _is_ours_to_follow(absolute.parent)
            or not absolute.is_symlink()
            or absolute.parent.resolve().is_relative_to(_PROCESSES)
        ):
            break
        absolute = absolute.parent / absolute.readlink()
    return absolute


def _is_ours_to_follow(folder: Path) -> bool:
    """Whether no other user can have put, or can put, a link or a pipe there to lead root away."""
    if own_uid() != 0:
        return True
    if exchangeable_folder(folder) is not None:
        return False
    with HeldFolder.open(folder) as held:
        return held.is_trusted
