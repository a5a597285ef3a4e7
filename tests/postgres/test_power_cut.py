"""A power cut, as ext4 sees one: what is not on the disk yet is lost, empty or never there."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.errors import MachineError
from teiten.execute.postgres.marker import Kind, mark, new_folder, read_marker, remove_marked
from teiten.execute.postgres.provision.staging import give_name
from teiten.execute.sites.cluster_node import keep
from teiten.execute.sites.local.notes import left_notes, write_note
from teiten.host.system import loop_device
from teiten.host.system.paths import Workdir
from teiten.model.units import MIB

SHUT_DOWN = 0x8004587D
"""EXT4_IOC_SHUTDOWN of fs/ext4/ext4.h; what tests of file systems cut the power with."""
WITHOUT_FLUSH = 2
SIZE = 32 * MIB

pytestmark = [
    pytest.mark.disk,
    pytest.mark.skipif(
        not hasattr(os, "geteuid")
        or os.geteuid() != 0
        or bool(loop_device.missing_tools())
        or not loop_device.has_loop_devices(),
        reason="a file system of its own needs root, losetup and mkfs.ext4",
    ),
]


class Disk:
    """A small ext4 of its own."""

    def __init__(self, image: Path, point: Path) -> None:
        self.point = point
        with image.open("xb") as file:
            loop_device.take_room(file.fileno(), SIZE)
        point.mkdir()
        self._device = loop_device.attach(image)
        loop_device.mount(self._device, point)
        with (point / "other").open("xb") as other:
            os.fsync(other.fileno())

    def cut(self) -> None:
        """Another program's file is written, and with it the journal: names and empty files of
        ours. Then the power goes, and comes again."""
        with (self.point / "other").open("ab") as other:
            other.write(b"x")
            other.flush()
            os.fsync(other.fileno())
        folder = os.open(self.point, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUT_DOWN, struct.pack("I", WITHOUT_FLUSH))
        finally:
            os.close(folder)
        assert loop_device.unmount(self.point)
        # loop_device.mount would make a new file system
        subprocess.run(["mount", "-t", "ext4", self._device.path, self.point], check=True)


@pytest.fixture
def disk(workdir: Workdir) -> Iterator[Disk]:
    image, point = workdir.root / "disk.img", workdir.root / "disk"
    try:
        try:
            made = Disk(image, point)
        except MachineError as error:
            pytest.skip(str(error))
        yield made
    finally:
        loop_device.unmount(point)
        loop_device.detach(image)


def test_what_is_not_waited_for_is_lost(disk: Disk) -> None:
    """Else the other tests here would show nothing."""
    (disk.point / "file").write_text("something", encoding="utf-8")
    disk.cut()
    assert (disk.point / "file").read_bytes() == b""


def test_a_folder_is_known_as_ours_after_a_power_cut(disk: Disk) -> None:
    folder = disk.point / "cluster"
    new_folder(folder, Kind.CLUSTER)
    (folder / "content").mkdir()
    disk.cut()
    assert (folder / "content").is_dir()
    marker = read_marker(folder)
    assert marker is not None and marker.what is Kind.CLUSTER
    remove_marked(folder)
    assert not folder.exists()


def test_an_installation_has_its_name_when_it_is_on_the_disk(disk: Disk) -> None:
    staging = disk.point / ".new"
    staging.mkdir()
    (staging / "postgres").write_bytes(b"program" * 1000)
    give_name(staging, disk.point / "18.4")
    disk.cut()
    assert (disk.point / "18.4/postgres").read_bytes() == b"program" * 1000


def test_notes_and_evidence_are_not_lost(disk: Disk) -> None:
    workdir = Workdir(disk.point)
    write_note(workdir, "teiten-1.limit", {"groups": ["/sys/fs/cgroup/teiten-1"]})
    evidence = disk.point / "evidence"
    evidence.mkdir()
    keep(evidence, "server.log", b"a line\n")
    mark(evidence, Kind.LOGS)
    disk.cut()
    ((_, found),) = left_notes(workdir, ".limit", ours=True)
    assert found["groups"] == ["/sys/fs/cgroup/teiten-1"]
    assert (evidence / "server.log").read_bytes() == b"a line\n"
