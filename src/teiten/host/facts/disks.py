"""The file system of a folder and the devices below it."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath

import psutil

from teiten.host.facts.mounts import Mount, mount_of, read_mounts
from teiten.host.facts.readings import exists, read_int, read_text
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
    found = (read_text(folder / name / "dev") for name in block_devices(path, root))
    return tuple(text.strip() for text in found if text is not None)


def devices_of_mount(mount: Mount, root: Path) -> tuple[str, ...]:
    """The names of the whole disks, sorted."""
    folders = _btrfs_members(mount, root) if mount.file_system == "btrfs" else []
    if not folders:
        folders = [root / "sys/dev/block" / mount.device_number]
    names: set[str] = set()
    for folder in folders:
        names |= _whole_disks(folder)
    return tuple(sorted(names))


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
    for candidate in (absolute, *absolute.parents):
        if exists(candidate):
            return candidate
    return Path(absolute.anchor)


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
