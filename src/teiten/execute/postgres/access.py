"""Whether the servers' user can reach a folder."""

from __future__ import annotations

import stat
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.system.users import ServerUser


def blocking_folder(path: Path, user: ServerUser) -> Path | None:
    """The first folder on the way to (and with) ``path`` that another user may not enter.

    None where the user may pass, or is ourselves. Access lists are not looked at.
    """
    if not user.is_other:
        return None
    resolved = path.resolve()
    for folder in (*reversed(resolved.parents), resolved):
        if not folder.is_dir():
            break
        if not _may_enter(folder, user):
            return folder
    return None


def require_access(path: Path, user: ServerUser) -> None:
    """Raise MachineError where the servers' user cannot reach a folder."""
    blocking = blocking_folder(path, user)
    if blocking is not None:
        raise MachineError(
            f"the servers' user {user.name} cannot enter {blocking} (on the way to {path})",
            f"chmod o+x {blocking}, or name another working folder with --workdir",
        )


def _may_enter(folder: Path, user: ServerUser) -> bool:
    status = folder.stat()
    if status.st_uid == user.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == user.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)
