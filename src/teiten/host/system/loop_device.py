"""Files as block devices with a file system of their own (losetup, mkfs.ext4, mount); root alone.

Sources: losetup(8), loop(4), mkfs.ext4(8).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.host.facts.disks import read_mounts
from teiten.host.system.environment import last_words, run_briefly
from teiten.host.system.makers import release_on

TOOLS = ("losetup", "mkfs.ext4", "mount", "umount")
FILE_SYSTEM = "ext4"
NOT_LAZILY = "lazy_itable_init=0,lazy_journal_init=0"
"""Option of mkfs: nothing is written in the background later on."""
OPTIONS = "noatime,nodev,nosuid,noexec"
PATIENCE = 60.0
"""Seconds that a tool may take."""
BUSY = 10.0
"""Seconds in which a file system may still be in use when it is unmounted."""


@dataclass(frozen=True)
class LoopDevice:
    """An attached file."""

    path: Path
    """``/dev/loop3``"""
    direct: bool
    """Its transfers reach the file past the page cache, so that nothing is cached twice."""

    @property
    def name(self) -> str:
        """Its name in /proc/diskstats."""
        return self.path.name

    @property
    def number(self) -> str:
        """``7:3``"""
        device = self.path.stat().st_rdev
        return f"{os.major(device)}:{os.minor(device)}"


def has_loop_devices() -> bool:
    return Path("/dev/loop-control").exists()


def take_room(descriptor: int, size: int) -> None:
    """Give an empty file its size with room on the disk for all of it. Raises OSError."""
    os.posix_fallocate(descriptor, 0, size)


def missing_tools() -> tuple[str, ...]:
    """Name the needed programs that are not in the PATH."""
    return tuple(tool for tool in TOOLS if shutil.which(tool) is None)


def attach(image: Path) -> LoopDevice:
    """Attach a file to a free device. Raises MachineError."""
    with contextlib.suppress(MachineError):
        device = _run("losetup", "--find", "--show", "--direct-io=on", os.fspath(image))
        return LoopDevice(Path(device.strip()), direct=True)
    device = _run("losetup", "--find", "--show", os.fspath(image))
    return LoopDevice(Path(device.strip()), direct=False)


def mount(device: LoopDevice, point: Path) -> None:
    """Make a file system on a device, and mount it. Raises MachineError."""
    _run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", NOT_LAZILY, os.fspath(device.path))
    _run("mount", "-t", FILE_SYSTEM, "-o", OPTIONS, os.fspath(device.path), os.fspath(point))


def unmount(point: Path) -> bool:
    """Whether nothing is mounted there any more."""
    if is_mounted(point):
        release_on(point)
    end = time.monotonic() + BUSY
    while is_mounted(point):
        with contextlib.suppress(MachineError):
            _run("umount", os.fspath(point))
            continue
        if time.monotonic() >= end:
            return False
        time.sleep(0.2)
    return True


def is_mounted(point: Path) -> bool:
    real = os.path.realpath(point)  # as the kernel names it
    return any(mount.mount_point == real for mount in read_mounts(Path("/")))


def detach(image: Path) -> bool:
    """Whether no device has this file any more."""
    for device in devices_of(image):
        with contextlib.suppress(MachineError):
            _run("losetup", "--detach", device)
    end = time.monotonic() + BUSY  # the kernel detaches when the last user has gone
    while devices_of(image):
        if time.monotonic() >= end:
            return False
        time.sleep(0.1)
    return True


def devices_of(image: Path) -> tuple[str, ...]:
    """The devices that have this file; found by its number, so that it must be there."""
    if not image.exists() or missing_tools():
        return ()
    listed = _run("losetup", "--noheadings", "--output", "NAME", "--associated", os.fspath(image))
    return tuple(listed.split())


def _run(*arguments: str) -> str:
    try:
        done = run_briefly(arguments, timeout=PATIENCE)
    except OSError as error:
        raise MachineError(f"{arguments[0]} failed: {error}", "run it by hand") from error
    if done.returncode:
        reason = last_words(done) or "it gave no reason"
        raise MachineError(f"{arguments[0]} failed: {reason}", f"by hand: {' '.join(arguments)}")
    return done.stdout.decode("utf-8", "replace")
