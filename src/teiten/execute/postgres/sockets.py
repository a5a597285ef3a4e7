"""The private folder of a server's socket, and its port number."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.postgres.access import blocking_folder
from teiten.execute.postgres.marker import MARKER_NAME, Kind, mark, read_marker
from teiten.host.system.users import ServerUser, give, own_uid

PREFIX = "teiten-"
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
    """Make a marked folder of mode 0700 for one server's socket.

    Raises MachineError where the socket's path would be too long for the operating system, or the
    servers' user could not reach it.
    """
    candidates = bases(user)
    fitting = [base for base in candidates if fits(base / f"{PREFIX}12345678")]
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
    mark(folder, Kind.SOCKETS)
    give(folder, user)
    return folder


def remove_socket_directory(folder: Path) -> None:
    """Remove a marked socket folder with a server's socket and lock; nothing else in it."""
    if read_marker(folder) is None:
        return
    for entry in [*folder.glob(".s.PGSQL.*"), folder / MARKER_NAME]:
        entry.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # somebody put something else there: theirs
        folder.rmdir()


def socket_directories(user: ServerUser) -> Iterator[Path]:
    """All marked socket folders that ourselves or the servers' user own."""
    owners = {own_uid(), user.uid}
    for base in bases(user):
        for folder in base.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                status = folder.lstat()
                if status.st_uid in owners and not folder.is_symlink():
                    marker = read_marker(folder)
                    if marker is not None and marker.what == Kind.SOCKETS:
                        yield folder


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
