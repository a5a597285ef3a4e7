"""The file system of a folder and the devices below it, by /proc/self/mountinfo (see proc(5))."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

from teiten.given_paths import exists
from teiten.host.facts.readings import read_int, read_text
from teiten.model.facts import DiskFacts
from teiten.model.units import Bytes

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "glusterfs"}
    | {"fuse.glusterfs", "fuse.sshfs", "fuse.s3fs", "lustre", "beegfs", "ocfs2", "gfs2", "gpfs"}
)
COPY_ON_WRITE_FILE_SYSTEMS = frozenset({"btrfs", "zfs", "bcachefs", "apfs", "refs"})
VIRTUAL_NAMES = ("vd", "xvd", "loop", "zd")
NETWORK_NAMES = ("nbd", "rbd", "drbd")
VIRTUAL_MODELS = ("elastic block", "amazon ec2", "persistentdisk", "qemu", "vmware", "virtual")
"""Words in the model or vendor of disks that a hypervisor or a cloud emulates."""


def disk_of(path: Path, root: Path = Path("/")) -> DiskFacts:
    """The file system that holds ``path`` (or its nearest parent that exists).

    ``root``: of another /proc and /sys, for tests. Raises OSError where the path cannot be asked.
    """
    existing = nearest_existing(path)
    usage = psutil.disk_usage(os.fspath(existing))
    mount = mount_of(PurePosixPath(existing.resolve()), read_mounts(root))
    if mount is None:
        return _from_psutil(existing, usage.total, usage.free)
    devices = devices_of_mount(mount, root)
    return DiskFacts(
        mount_point=mount.mount_point,
        file_system=mount.file_system,
        options=mount.options,
        device=mount.source,
        kind=kind_of_mount(mount, devices, root),
        total=Bytes(usage.total),
        # psutil.free is f_bavail: without the blocks reserved for root or another user, and the
        # servers, which fill the disk, never run as root
        free=Bytes(usage.free),
    )


def block_devices(path: Path, root: Path = Path("/")) -> tuple[str, ...]:
    """Whole disks below the folder's file system, named as in /proc/diskstats.

    Partitions, LVM, RAID and encryption are followed down to the disks, so that no transfer is
    seen twice. Empty for memory, network and overlay file systems, and on other systems than Linux.
    """
    mount = mount_of(PurePosixPath(nearest_existing(path).resolve()), read_mounts(root))
    return () if mount is None else devices_of_mount(mount, root)


def disk_numbers(path: Path, root: Path = Path("/")) -> tuple[str, ...]:
    """Number the disks of ``block_devices`` as the kernel does, major and minor: ``254:0``."""
    folder = root / "sys/class/block"
    numbers = (read_text(folder / name / "dev") for name in block_devices(path, root))
    return tuple(text.strip() for text in numbers if text is not None)


def devices_of_mount(mount: Mount, root: Path) -> tuple[str, ...]:
    """The names of the whole disks, sorted."""
    members = _btrfs_members(mount, root) if mount.file_system == "btrfs" else []
    folders = members or [root / "sys/dev/block" / mount.device_number]
    return tuple(sorted(set().union(*map(_whole_disks, folders))))


def kind_of_mount(mount: Mount, devices: tuple[str, ...], root: Path) -> str:
    """nvme, ssd, hdd, virtual, network, memory or unknown; of mixed disks the slowest kind."""
    if mount.file_system in MEMORY_FILE_SYSTEMS:
        return "memory"
    if mount.file_system in NETWORK_FILE_SYSTEMS:
        return "network"
    kinds = {device_kind(name, root) for name in devices}
    order = ("network", "hdd", "virtual", "unknown", "ssd", "nvme")
    return next((kind for kind in order if kind in kinds), "unknown")


def device_kind(name: str, root: Path) -> str:
    """The kind of one whole disk."""
    folder = root / "sys/block" / name
    if name.startswith(NETWORK_NAMES):
        return "network"
    if name.startswith(("ram", "zram", "pmem")):
        return "memory"
    model = " ".join(read_text(folder / "device" / key) or "" for key in ("vendor", "model"))
    if name.startswith(VIRTUAL_NAMES) or any(word in model.lower() for word in VIRTUAL_MODELS):
        return "virtual"
    if name.startswith("nvme"):
        return "nvme"
    rotational = read_int(folder / "queue/rotational")
    return {1: "hdd", 0: "ssd"}.get(-1 if rotational is None else rotational, "unknown")


def nearest_existing(path: Path) -> Path:
    """The path itself, or its nearest parent that exists."""
    absolute = path.absolute()
    return next(filter(exists, (absolute, *absolute.parents)), Path(absolute.anchor))


def _whole_disks(folder: Path) -> set[str]:
    """Follow a device's folder in /sys down to the disks that carry it."""
    if not exists(folder):
        return set()
    device = folder.resolve()
    if exists(device / "partition"):
        return _whole_disks(device.parent)
    slaves = device / "slaves"
    below = list(slaves.iterdir()) if slaves.is_dir() else []
    if not below:
        return {device.name}
    return set().union(*(_whole_disks(slave) for slave in below))


def _btrfs_members(mount: Mount, root: Path) -> list[Path]:
    """btrfs shows a device number of its own; its members stand in /sys/fs/btrfs."""
    name = PurePosixPath(mount.source).name
    for folder in (root / "sys/fs/btrfs").glob("*/devices"):
        members = list(folder.iterdir())
        if any(member.name == name for member in members):
            return members
    return []


def _from_psutil(path: Path, total: int, free: int) -> DiskFacts:
    """Other systems than Linux."""
    parts = sorted(psutil.disk_partitions(all=False), key=lambda part: len(part.mountpoint))
    text = os.fspath(path)
    part = next((part for part in reversed(parts) if text.startswith(part.mountpoint)), None)
    return DiskFacts(
        mount_point=part.mountpoint if part else path.anchor,
        file_system=part.fstype.lower() if part else sys.platform,
        options=part.opts if part else "",
        device=part.device if part else "",
        kind="unknown",
        total=Bytes(total),
        free=Bytes(free),
    )


@dataclass(frozen=True)
class Mount:
    """A line of mountinfo."""

    device_number: str
    """``major:minor``."""
    root: str
    """The part of the file system that is mounted: ``/``, or a folder (a bind mount, a cgroup)."""
    mount_point: str
    file_system: str
    source: str
    options: str
    """Options of the mount and of the file system, each once."""


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """The mounts in the order of the kernel; lines that cannot be understood are left out."""
    return tuple(mount for line in text.splitlines() if (mount := _parse_line(line)) is not None)


def read_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """The mounts that this program sees; empty where the system has no mountinfo."""
    return parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")


def mount_of(path: PurePosixPath, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds an absolute path: the deepest one, of several the last."""
    best: Mount | None = None
    for mount in mounts:
        point = PurePosixPath(mount.mount_point)
        deeper = best is None or len(point.parts) >= len(PurePosixPath(best.mount_point).parts)
        if deeper and (point == path or point in path.parents):
            best = mount
    return best


def _parse_line(line: str) -> Mount | None:
    fields = line.split(" ")
    after = fields[fields.index("-", 6) + 1 :] if "-" in fields[6:] else []
    if len(after) < 3:
        return None
    options = dict.fromkeys([*fields[5].split(","), *after[2].split(",")])
    return Mount(
        device_number=fields[2],
        root=_unescape(fields[3]),
        mount_point=_unescape(fields[4]),
        file_system=after[0],
        source=_unescape(after[1]),
        options=",".join(options),
    )


def _unescape(text: str) -> str:
    """Blanks and backslashes are written as ``\\040``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
