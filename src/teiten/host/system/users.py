"""The user as whom servers run: PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from teiten.errors import MachineError

PREFERRED_USERS = ("postgres", "nobody")


@dataclass(frozen=True)
class ServerUser:
    """The user that owns clusters and runs servers. ``uid`` is None where it is ourselves."""

    name: str
    uid: int | None
    gid: int | None

    @property
    def is_other(self) -> bool:
        return self.uid is not None

    @property
    def home(self) -> str:
        """Another user's home folder, which need not be there; / where the system knows none."""
        import pwd  # noqa: PLC0415 - not on Windows

        try:
            return pwd.getpwnam(self.name).pw_dir
        except KeyError:
            return "/"


def run_as(user: ServerUser | None) -> dict[str, Any]:
    """Arguments of subprocess with which a program runs as another user; empty for ourselves."""
    if user is None or not user.is_other:
        return {}
    return {"user": user.uid, "group": user.gid, "extra_groups": []}


def is_root() -> bool:
    """Whether we may do everything, so that servers run as another user."""
    return sys.platform != "win32" and os.geteuid() == 0


def server_user() -> ServerUser:
    """Ourselves; for root the user ``postgres``, or else ``nobody``.

    Raises MachineError where root finds neither.
    """
    if not is_root():
        return ServerUser(name=_own_name(), uid=None, gid=None)
    import pwd  # noqa: PLC0415 - not on Windows

    for name in PREFERRED_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise MachineError(
        "PostgreSQL refuses to run as root, and neither a user postgres nor nobody exists",
        "make an unprivileged user: useradd --system postgres",
    )


def uid_of(name: str) -> int | None:
    """A user's number; None on Windows. Raises KeyError for an unknown one."""
    if sys.platform == "win32":
        return None
    import pwd  # noqa: PLC0415 - not on Windows

    return pwd.getpwnam(name).pw_uid


def user_of(uid: int) -> ServerUser:
    """The user of a number, whom the system need not know: then his group has the same number."""
    import pwd  # noqa: PLC0415 - not on Windows

    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return ServerUser(name=str(uid), uid=uid, gid=uid)
    return ServerUser(name=entry.pw_name, uid=uid, gid=entry.pw_gid)


def own_uid() -> int:
    """Ours, as files show it; 0 on Windows, where they show nobody's."""
    return 0 if sys.platform == "win32" else os.geteuid()


def own_user() -> ServerUser:
    """Ourselves, as the new owner of what was another user's."""
    if sys.platform == "win32":
        return ServerUser(_own_name(), None, None)
    return ServerUser(_own_name(), os.geteuid(), os.getegid())


def _own_name() -> str:
    import getpass  # noqa: PLC0415 - only needed here

    return getpass.getuser()
