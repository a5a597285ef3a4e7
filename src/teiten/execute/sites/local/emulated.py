"""Devices that this machine does not have: a file, attached as one, with a file system of its own.

What it transfers is limited by a control group (``limit``); here it is made and removed. It is
noted in the working folder before it is made, so that one that a killed Teiten has left is found
again. Only what is noted is removed, and only files and folders of the names that are given here.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.sites.local.limit import require_transfers
from teiten.execute.sites.local.limit_files import TransferLimit
from teiten.execute.sites.local.notes import PREFIX as OURS
from teiten.execute.sites.local.notes import left_notes, write_note
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError, exchangeable_folder
from teiten.host.system.loop_device import (
    LoopDevice,
    attach,
    detach,
    has_loop_devices,
    missing_tools,
    mount,
    take_room,
    unmount,
)
from teiten.host.system.paths import Workdir
from teiten.host.system.users import own_uid
from teiten.model.quantities import format_size
from teiten.model.storage import StorageClass

ENDING = ".emulated"
"""Ending of notes in the folder of clusters."""
PREFIX = f"{OURS}emulated-"
IMAGE = ".img"
IMAGE_AT, MOUNT_POINT = "image", "mount_point"
HINT = "name a folder on another disk: --storage NAME=DIR"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class EmulatedDevice:
    """A mounted one."""

    mount_point: Path
    device: LoopDevice
    limit: TransferLimit
    image: Path
    note: Path

    @classmethod
    def make(cls, workdir: Workdir, storage: StorageClass) -> EmulatedDevice:
        """Raises MachineError where this machine or its rights do not permit it; nothing is left
        then."""
        require_emulation()
        assert storage.emulation is not None
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        home = Path(storage.path) if storage.path else workdir.clusters
        image, point = home / f"{name}{IMAGE}", workdir.clusters / name
        made = {IMAGE_AT: os.fspath(image), MOUNT_POINT: os.fspath(point)}
        note = write_note(workdir, f"{name}{ENDING}", made)
        try:
            _make_image(home, image.name, storage.emulation.size, storage.name)
            with HeldFolder.open(workdir.clusters) as room:
                room.make(name, 0o755).close()
            device = attach(image)
            mount(device, point)
            point.chmod(0o755)
        except BaseException:
            _removed(image, point, note)
            raise
        limit = TransferLimit(device.number, storage.emulation.limits)
        return cls(point, device, limit, image, note)

    def remove(self) -> bool:
        """Whether nothing of it is left; what cannot be removed stays noted, and is swept at the
        next start."""
        return not self.note.exists() or _removed(self.image, self.mount_point, self.note)


def require_emulation() -> None:
    """Raise MachineError, with the reason, where no device can be emulated; makes nothing."""
    if sys.platform != "linux":
        raise MachineError("only Linux can emulate a slow device", HINT)
    if own_uid() != 0:
        raise MachineError(
            "emulating a slow device needs root (losetup, mount, control groups)",
            f"run it as root, or {HINT}",
        )
    missing = missing_tools()
    if missing:
        raise MachineError(
            f"emulating a slow device needs {', '.join(missing)}, which are not in the PATH",
            f"install them (util-linux, e2fsprogs), or {HINT}",
        )
    if not has_loop_devices():
        raise MachineError("this system has no loop devices (/dev/loop-control)", HINT)
    require_transfers()


def sweep_emulated(workdir: Workdir, *, ending: bool = False) -> tuple[str, ...]:
    """Remove the devices that a Teiten which has died has left; say which. The servers whose data
    lie on them must have ended.

    ``ending``: those that this process made go too.
    """
    done = []
    for note, noted in left_notes(workdir, ENDING, ours=ending):
        image, point = Path(noted.get(IMAGE_AT, "")), Path(noted.get(MOUNT_POINT, ""))
        if not point.name.startswith(PREFIX) or image.name != f"{point.name}{IMAGE}":
            continue
        gone = _removed(image, point, note)
        done.append(f"{'removed' if gone else 'could not remove'} the left emulated device {image}")
    return tuple(done)


def _make_image(home: Path, name: str, size: int, storage: str) -> None:
    try:
        exchangeable = exchangeable_folder(home)  # losetup and mkfs.ext4 go by paths
        if exchangeable is not None:
            raise MachineError(
                f"storage {storage}: {exchangeable} is not root's alone: another user could put a"
                f" file of theirs in the place of the emulated device in {home}",
                "name a folder of root's, within folders of root's: emulate:in=DIR",
            )
        with HeldFolder.open(home) as held, held.create(name) as file:
            take_room(file.fileno(), size)
    except (OSError, UnsafePlaceError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise MachineError(
            f"storage {storage}: no file of {format_size(size)} can be made in {home}: "
            + ("the disk is full" if full else str(error)),
            "a smaller one: emulate:size=…; or another folder: emulate:in=DIR",
        ) from error


def _removed(image: Path, point: Path, note: Path) -> bool:
    if not unmount(point) or not detach(image):
        return False
    with contextlib.suppress(OSError):
        image.unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):
        point.rmdir()
    if image.exists() or point.exists():
        return False
    note.unlink(missing_ok=True)
    return True
