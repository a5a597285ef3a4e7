from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from teiten.host.facts.disks import (
    Mount,
    block_devices,
    device_kind,
    devices_of_mount,
    disk_of,
    kind_of_mount,
    mount_of,
    nearest_existing,
    parse_mountinfo,
)

pytestmark = pytest.mark.disk

MOUNTS = """\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,resuid=65534
28 27 8:1 / /data rw - xfs /dev/sda1 rw
29 27 8:2 / /data rw - xfs /dev/sdb1 rw
30 27 0:44 / /with\\040blank rw - tmpfs tmpfs rw
broken line
31 27 0:45 / /net rw - nfs4 host:/x rw,vers=4.2
"""


def mount(number: str = "259:1", file_system: str = "ext4", source: str = "/dev/x") -> Mount:
    return Mount(number, "/", "/", file_system, source, "rw")


def device(root: Path, path: str, number: str, **files: str) -> Path:
    """A device's folder in an invented /sys, with the links that the kernel makes."""
    folder = root / "sys/devices" / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for link in (root / "sys/dev/block" / number, root / "sys/block" / folder.name):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
    return folder


def test_the_last_of_the_deepest_mounts_holds_a_path() -> None:
    mounts = parse_mountinfo(MOUNTS)
    assert len(mounts) == 5

    def source(path: str) -> str | None:
        found = mount_of(PurePosixPath(path), mounts)
        return found.source if found else None

    assert source("/data/x/y") == "/dev/sdb1"
    assert source("/database") == "/dev/vda"
    assert source("/with blank/x") == "tmpfs"
    assert source("/") == "/dev/vda"
    assert mounts[0].options == "rw,relatime,resuid=65534"


def test_a_partition_leads_to_its_disk(tmp_path: Path) -> None:
    device(tmp_path, "pci/nvme0n1", "259:0", queue__rotational="0", device__model="Samsung")
    device(tmp_path, "pci/nvme0n1/nvme0n1p2", "259:1", partition="2")
    assert devices_of_mount(mount(), tmp_path) == ("nvme0n1",)
    assert kind_of_mount(mount(), ("nvme0n1",), tmp_path) == "nvme"


def test_lvm_on_raid_leads_to_the_disks_and_the_slowest_names_the_kind(tmp_path: Path) -> None:
    device(tmp_path, "pci/sda", "8:0", queue__rotational="0")
    partition = device(tmp_path, "pci/sda/sda1", "8:1", partition="1")
    rotating = device(tmp_path, "pci/sdb", "8:16", queue__rotational="1")
    raid = device(tmp_path, "virtual/md0", "9:0")
    volume = device(tmp_path, "virtual/dm-0", "253:0")
    for upper, lowers in ((volume, [raid]), (raid, [partition, rotating])):
        (upper / "slaves").mkdir()
        for lower in lowers:
            (upper / "slaves" / lower.name).symlink_to(lower)
    devices = devices_of_mount(mount("253:0"), tmp_path)
    assert devices == ("sda", "sdb")
    assert kind_of_mount(mount("253:0"), devices, tmp_path) == "hdd"


def test_btrfs_members_are_found_by_its_own_list(tmp_path: Path) -> None:
    members = tmp_path / "sys/fs/btrfs/uuid/devices"
    members.mkdir(parents=True)
    for name, number in (("sda", "8:0"), ("sdb", "8:16")):
        (members / name).symlink_to(device(tmp_path, f"pci/{name}", number))
    assert devices_of_mount(mount("0:30", "btrfs", "/dev/sda"), tmp_path) == ("sda", "sdb")


@pytest.mark.parametrize(
    ("name", "files", "kind"),
    [
        ("vda", {"queue__rotational": "1"}, "virtual"),
        ("sda", {"device__vendor": "QEMU", "queue__rotational": "1"}, "virtual"),
        ("nvme0n1", {"device__model": "Amazon Elastic Block Store"}, "virtual"),
        ("nvme1n1", {"device__model": "INTEL SSDPE"}, "nvme"),
        ("sdb", {"queue__rotational": "0"}, "ssd"),
        ("sdc", {"queue__rotational": "1"}, "hdd"),
        ("sdd", {}, "unknown"),
        ("nbd0", {}, "network"),
        ("zram0", {}, "memory"),
    ],
)
def test_the_kind_of_a_disk(tmp_path: Path, name: str, files: dict[str, str], kind: str) -> None:
    device(tmp_path, f"pci/{name}", "1:1", **files)
    assert device_kind(name, tmp_path) == kind


def test_kinds_without_a_disk(tmp_path: Path) -> None:
    assert kind_of_mount(mount(file_system="tmpfs"), (), tmp_path) == "memory"
    assert kind_of_mount(mount(file_system="nfs4"), (), tmp_path) == "network"
    assert kind_of_mount(mount(file_system="overlay"), (), tmp_path) == "unknown"


def test_free_is_what_an_unprivileged_user_may_fill(tmp_path: Path) -> None:
    disk = disk_of(tmp_path)
    status = os.statvfs(tmp_path)
    assert abs(disk.free - status.f_bavail * status.f_frsize) < 64 * 1024**2
    assert 0 < disk.free <= disk.total


def test_a_folder_that_does_not_exist_yet_is_on_its_parents_disk(tmp_path: Path) -> None:
    assert nearest_existing(tmp_path / "a/b") == tmp_path
    assert disk_of(tmp_path / "a/b").mount_point == disk_of(tmp_path).mount_point
    assert block_devices(tmp_path / "a/b") == block_devices(tmp_path)


def test_without_mountinfo_psutil_answers(tmp_path: Path) -> None:
    disk = disk_of(tmp_path, root=tmp_path / "no")
    assert disk.kind == "unknown"
    assert disk.total > 0
