"""Parts of a cluster on storages of their own: real tablespaces and WAL folders, and devices that
are emulated and leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.marker import remove_marked
from teiten.execute.postgres.placement import confirm_placement
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.sites.local import storages as storages_module
from teiten.execute.sites.local.emulated import EmulatedDevice, require_emulation, sweep_emulated
from teiten.execute.sites.local.storages import Storages
from teiten.host.system import loop_device
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation, Pgbench
from teiten.model.storage import Emulation, Part, StorageClass, resolved
from teiten.model.units import MIB, Bytes, Seconds
from tests.fixtures.pgbench_run import pgbench
from tests.fixtures.sweeping import swept
from tests.postgres.test_templates import quiet, spec_of

__all__ = ["pgbench"]

SMALL = Bytes(256 * MIB)


@pytest.mark.parametrize("major", ["9.6", "18"])
def test_each_part_lies_where_the_placement_says_and_another_place_is_found_out(
    major: str, installation: Callable[[str], Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    server_installation = installation(major)
    spec = spec_of(server_installation, replace(pgbench_data(1), spread=True))
    store = TemplateStore(workdir, server_user())
    store.build(spec, pgbench, quiet)
    home, fast = workdir.clusters / "slow", workdir.clusters / "fast"
    store.clone(spec, home, {"wal": fast, "indexes": fast})
    expected = {part: home / part.value for part in Part} | {
        Part.WAL: fast / "wal",
        Part.INDEXES: fast / "indexes",
    }
    data = home / "data"
    cluster = Cluster.adopt(server_installation, data, user=server_user(), log=home / "server.log")
    cluster.start()
    try:

        def connect() -> object:
            return cluster.connect(BENCH_DATABASE)

        found = confirm_placement(connect, data, expected)  # type: ignore[arg-type]
        assert found["tables"]["files"] >= 4
        assert found["indexes"]["files"] >= 3
        assert Path(found["wal"]["folder"]) == fast / "wal"
        with cluster.connect(BENCH_DATABASE) as connection:
            connection.execute("ALTER INDEX pgbench_accounts_pkey SET TABLESPACE teiten_tables")
        with pytest.raises(ServerError, match="pgbench_accounts_pkey lies in"):
            confirm_placement(connect, data, expected)  # type: ignore[arg-type]
    finally:
        cluster.stop(immediately=True)
    remove_marked(home)
    remove_marked(fast)
    taken = workdir.clusters / "taken"
    taken.mkdir()
    (taken / "mine").write_text("not Teiten's")
    with pytest.raises(UsageError, match="is not empty and was not made by Teiten"):
        store.clone(spec, home, {"tables": taken})
    assert (taken / "mine").read_text() == "not Teiten's"


def slow(**limits: float) -> StorageClass:
    return StorageClass("slow", "", Emulation(SMALL, **limits))  # type: ignore[arg-type]


def possible() -> None:
    try:
        require_emulation()
    except MachineError as error:
        pytest.skip(error.message)


def nothing_is_left(workdir: Workdir) -> None:
    assert not list(workdir.clusters.iterdir())
    assert str(workdir.clusters) not in Path("/proc/self/mountinfo").read_text()
    assert str(workdir.clusters) not in subprocess.run(
        ["losetup", "--list", "--noheadings", "--output", "BACK-FILE"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_an_emulated_device_is_held_to_its_limit_and_leaves_nothing(
    workdir: Workdir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    possible()
    monkeypatch.setattr(storages_module, "SECONDS", Seconds(0.4))
    storages = Storages(workdir, server_user())
    try:
        found = storages.open([slow(read_iops=200.0, write_iops=200.0)], quiet)["slow"]
        (device,) = storages.devices["slow"]
        assert found["devices"] == [device] and device.startswith("loop")
        assert found["emulation"]["read_iops"] == 200.0
        # a limit lets some go at once, and what a busy machine delays is less, never more
        assert 0 < found["random_reads"] <= 600
        assert storages.emulated_devices == {device}
        placement = resolved("wal-fast", ["fast", "slow"])
        only = replace(placement, storages=tuple((part, "slow") for part in Part))
        (limit,) = storages.limits(only)
        assert dict(limit.limits) == {"read_iops": 200.0, "write_iops": 200.0}
    finally:
        assert storages.close() == ()
    nothing_is_left(workdir)


def test_one_that_is_still_in_use_is_told_and_swept_later(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    possible()
    monkeypatch.setattr(storages_module, "SECONDS", Seconds(0.2))
    monkeypatch.setattr(loop_device, "BUSY", 0.2)
    storages = Storages(workdir, server_user())
    storages.open([slow(read_iops=200.0, write_iops=200.0)], quiet)
    with (storages.folder("slow") / "used").open("w"):
        (image,) = storages.close()
        assert image.exists()
    assert swept(workdir, ending=True) == [f"removed the left emulated device {image}"]
    nothing_is_left(workdir)


KILLED = """
import os, signal, sys
from pathlib import Path
from teiten.execute.sites.local.emulated import EmulatedDevice
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.paths import Workdir
from teiten.model.storage import Emulation, StorageClass
workdir = Workdir(Path(sys.argv[1]))
made = EmulatedDevice.make(
    workdir, StorageClass("slow", "", Emulation(256 << 20, read_iops=50.0))
)
Limit.make(workdir, Allowed(transfers=(made.limit,)))
print(made.mount_point, made.device.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_one_left_is_swept(workdir: Workdir) -> None:
    possible()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(workdir.root)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    point, _ = done.stdout.split()
    assert os.path.ismount(point)
    said = swept(workdir)
    assert any("removed the left emulated device" in line for line in said)
    assert any("removed the left control group" in line for line in said)
    nothing_is_left(workdir)
    assert swept(workdir) == []


def test_one_that_cannot_be_mounted_leaves_nothing(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    possible()

    def fails(device: loop_device.LoopDevice, _: Path) -> None:
        raise MachineError(f"mount failed: {device.path}", "none")

    monkeypatch.setattr("teiten.execute.sites.local.emulated.mount", fails)
    with pytest.raises(MachineError, match="mount failed"):
        EmulatedDevice.make(workdir, slow())
    nothing_is_left(workdir)


def test_a_note_of_something_else_removes_nothing(workdir: Workdir, tmp_path: Path) -> None:
    other = tmp_path / "other.img"
    other.write_text("somebody's")
    note = workdir.clusters / "x.emulated"
    note.write_text(
        f'{{"pid": {2**30}, "process_started": 0.0, "image": "{other}",'
        f' "mount_point": "{tmp_path}"}}'
    )
    assert sweep_emulated(workdir) == ()
    assert other.read_text() == "somebody's"
