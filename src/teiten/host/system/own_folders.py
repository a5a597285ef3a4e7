"""Folders in which root's Teiten works by paths: nobody else may exchange them.

``su`` without ``-`` and ``sudo -E`` keep the TMPDIR of another user, who could put a link in the
place of what root makes there.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from teiten.errors import MachineError, UsageError
from teiten.host.system.users import is_root

WRITING_OF_OTHERS = 0o022
"""The bits of a mode that let others than the owner write."""


def leave_folders_of_others() -> None:
    """As root, make temporary files where nobody else can exchange them, whatever TMPDIR says, and
    nothing that others may write. Raises MachineError where /tmp itself is another user's."""
    if not is_root():
        return
    os.umask(os.umask(WRITING_OF_OTHERS) | WRITING_OF_OTHERS)
    for name in ("TMPDIR", "TEMP", "TMP"):
        folder = os.environ.get(name)
        if folder and foreign_folder(Path(folder)) is not None:
            del os.environ[name]
            tempfile.tempdir = None
    temporary = Path(tempfile.gettempdir())
    foreign = foreign_folder(temporary)
    if foreign is not None:
        raise MachineError(
            f"temporary files would be in {temporary}, but {foreign} is not root's alone",
            "set TMPDIR to a folder of root's within folders of root's, or chmod 1777 /tmp",
        )


def require_own(workdir: Path) -> None:
    """Raise UsageError where root's working folder could be exchanged by another user."""
    foreign = foreign_folder(workdir)
    if foreign is not None:
        raise UsageError(
            f"the working folder {workdir} is not root's alone: another user can exchange what is"
            f" in {foreign}",
            "name a folder of root's within folders of root's: teiten --workdir /var/lib/teiten …;"
            " or run Teiten as the user to whom it belongs",
        )


def foreign_folder(path: Path) -> Path | None:
    """The folder on the way to ``path``, as far as there is one, in which another user can exchange
    what is root's, or his link there; None where there is none, or where we are not root."""
    if not is_root():
        return None
    from teiten.host.facts.disks import nearest_existing  # noqa: PLC0415 - only root needs them
    from teiten.host.system.held_folder import (  # noqa: PLC0415
        HeldFolder,
        UnsafePlaceError,
        exchangeable_folder,
    )

    existing = nearest_existing(path)
    with suppress(OSError):  # what else is wrong with it is told when it is used
        if not existing.is_dir():
            return None
        try:
            HeldFolder.open(existing).close()
        except UnsafePlaceError:
            return path
        return exchangeable_folder(existing)
    return None
