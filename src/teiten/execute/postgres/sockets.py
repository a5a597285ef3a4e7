"""The private folder of a server's socket, and its port number."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.postgres.access import blocking_folder
from teiten.execute.postgres.marker import MARKER_NAME, Kind, Marker, mark_held, marker_of
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError, find_folder
from teiten.host.system.makers import release_deleted
from teiten.host.system.users import ServerUser, own_uid

PREFIX = "teiten-"
INNER = "s"
"""The folder of the socket itself; its path must be short."""
ENTRANCE = "e"
"""Another folder beside it, which its owner cannot enter."""
SOCKET = ".s.PGSQL."
"""How the names of a socket and of its lock file begin."""
LONGEST_PATH = 107 if sys.platform == "linux" else 103
"""Bytes in sockaddr_un.sun_path without its closing NUL."""
SHARED_FOLDERS = (Path("/var/run/postgresql"), Path("/tmp"))  # noqa: S108 - looked at only
"""Where other servers of the machine usually put their sockets."""


def bases(user: ServerUser) -> tuple[Path, ...]:
    """The folders in which socket folders are made, the preferred first."""
    temporary = Path(tempfile.gettempdir())
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if user.is_other or not runtime or not os.access(runtime, os.W_OK | os.X_OK):
        return (temporary,)
    return (Path(runtime), temporary)


def new_socket_directory(user: ServerUser) -> Path:
    """Make a folder of mode 0700 for one server's socket, within a marked folder of ours.

    The servers' user owns the inner folder only: what is in the outer one stays what it is.
    Raises MachineError where the socket's path would be too long for the operating system, or the
    servers' user could not reach it.
    """
    candidates = bases(user)
    fitting = [base for base in candidates if fits(base / f"{PREFIX}12345678" / INNER)]
    if not fitting:
        raise MachineError(
            f"a socket's path in {candidates[-1]} would be longer than {LONGEST_PATH} bytes",
            "set TMPDIR to a shorter folder",
        )
    base = fitting[0]
    blocking = blocking_folder(base, user)
    if blocking is not None:
        raise MachineError(
            f"the servers' user {user.name} cannot enter {blocking}, where the socket would be",
            "set TMPDIR to a folder that every user may enter, such as /tmp",
        )
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    with HeldFolder.open_itself(folder) as held:
        mark_held(held, Kind.SOCKETS)
        with held.make(INNER, 0o700) as inner:
            inner.give(user)
        if user.is_other:
            held.give(None, 0o711)
    return folder / INNER


def link_socket(folder: Path, port: int, user: ServerUser) -> Path:
    """A second folder beside the one of a server's socket, with the same socket, that only we
    enter and change: whatever the servers' user puts into his, this one leads where it led.

    Raises UnsafePlaceError where something else is in the socket's place, MachineError where the
    file system cannot do that.
    """
    name = f"{SOCKET}{port}"
    with (
        HeldFolder.open_itself(folder.parent) as outer,
        outer.inner(folder.name) as inner,
        translate_os_errors(f"{folder / name} cannot be linked"),
        outer.make(ENTRANCE, 0o700) as entrance,
    ):
        try:
            inner.hard_link(name, entrance)
        except OSError:
            if _is_socket_of(inner.status(name), user):
                raise
        if not _is_socket_of(entrance.status(name), user):
            raise UnsafePlaceError(folder / name, f"is not the socket of a server of {user.name}")
    return folder.parent / ENTRANCE


def _is_socket_of(status: os.stat_result | None, user: ServerUser) -> bool:
    return status is not None and stat.S_ISSOCK(status.st_mode) and status.st_uid == user.uid


def remove_socket_directory(folder: Path) -> None:
    """Remove a socket folder with a server's socket and lock, and the marked one around it;
    nothing else in them."""
    outer = find_folder(folder.parent)
    if outer is None:
        return
    with outer:
        if folder.name != INNER or marker_of(outer) is None:
            return
        for name in (INNER, ENTRANCE):
            with contextlib.suppress(OSError, UnsafePlaceError):
                with outer.inner(name) as inner:
                    _remove_sockets(inner)
                outer.remove_folder(name)
        _remove_sockets(outer)  # ssh's own
        outer.unlink(MARKER_NAME)
    # what somebody else has put there stays, and so does the folder
    with contextlib.suppress(OSError), HeldFolder.open(folder.parents[1]) as base:
        base.remove_folder(folder.parent.name)
    release_deleted()


def _remove_sockets(folder: HeldFolder) -> None:
    for name, _ in folder.entries():
        if name.startswith(SOCKET):
            with contextlib.suppress(OSError):
                folder.unlink(name)


def socket_directories(user: ServerUser) -> Iterator[tuple[Path, Marker]]:
    """All socket folders in marked folders of ours, with the markers."""
    for base in bases(user):
        for outer in base.glob(f"{PREFIX}*"):
            held = find_folder(outer)
            if held is None:
                continue
            with held:
                marker = marker_of(held) if held.owner == own_uid() else None
            if marker is not None and marker.what == Kind.SOCKETS:
                yield outer / INNER, marker


def fits(folder: Path) -> bool:
    """Whether a server's socket in this folder has a path that the system takes."""
    return len(os.fsencode(folder / ".s.PGSQL.65535")) <= LONGEST_PATH


def choose_port(named: int | None) -> int:
    """A port number that no server uses: the named one, or one that the system gives.

    Servers listen on their own socket only, so that the number is a name; it is still kept apart
    from those in use. Raises MachineError where the named one is taken.
    """
    if named is None:
        return next(port for port in iter(_free_port, None) if not _socket_exists(port))
    if _socket_exists(named) or not _can_bind(named):
        raise MachineError(
            f"port {named} is taken by another program",
            "name another port, or none: Teiten then chooses one that is free",
        )
    return named


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _can_bind(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _socket_exists(port: int) -> bool:
    return any((folder / f".s.PGSQL.{port}").exists() for folder in SHARED_FOLDERS)
