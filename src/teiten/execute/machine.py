"""This machine, for whoever runs something on it."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser


@dataclass(frozen=True)
class ThisMachine:
    """This machine, as far as clusters need it."""

    workdir: Workdir
    user: ServerUser
    """The user as whom servers run."""
    devices: tuple[str, ...]
    """The disks below the folders of clusters."""
