"""Placements: how they are written, what each needs, and what is concluded of what was counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import MachineError, TeitenError, UsageError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.execute.probes.os import OsSnapshot
from teiten.execute.probes.procfs import DiskCounters
from teiten.execute.probes.sampler import window_totals
from teiten.execute.sites.local import emulated
from teiten.execute.sites.local.limit import Limit, require_transfers
from teiten.execute.sites.local.limit_files import (
    Allowed,
    TransferLimit,
    lifted,
    transfer_controller,
    transfer_settings,
)
from teiten.factors.placement import FACTOR
from teiten.factors.registry import rule
from teiten.host.cautions.variants import variant_cautions
from teiten.host.system.paths import Workdir
from teiten.kinds.pgbench.placements import (
    Direction,
    PlacementRow,
    StorageUse,
    bottleneck,
    correlations,
    followed,
)
from teiten.model.facts import DirectoryFacts, HostFacts
from teiten.model.plan import Plan
from teiten.model.storage import Emulation, Part, is_of_storage, resolved, storage_metric
from teiten.model.units import GIB, MIB, Bytes
from teiten.study.load import load_study
from teiten.study.values import storage
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import HOST, make_installation

FAST_SLOW = ("fast=/mnt/ssd", "slow=/mnt/hdd")


def plan_of(*given: str, overrides: tuple[str, ...] = (), facts: HostFacts = HOST) -> Plan:
    study = load_study("placement", profile="quick", storage=given, overrides=overrides)
    return expanded(study, facts=facts)


def test_the_rest_of_a_placement_lies_on_the_other_storage() -> None:
    found = resolved("wal-fast", ["fast", "slow"])
    assert found.of(Part.WAL) == "fast"
    assert {found.of(part) for part in Part if part is not Part.WAL} == {"slow"}
    own = resolved("all-b+wal-a+indexes-c", ["a", "b", "c"])
    assert [own.of(part) for part in Part] == ["b", "a", "b", "c", "b"]
    assert own.used == ("b", "a", "c")
    with pytest.raises(ValueError, match="does not say where the rest lies"):
        resolved("wal-a", ["a", "b", "c"])


@pytest.mark.parametrize("level", ["wal", "logs-fast", "wal-fast+wal-slow", "wal-", 3])
def test_what_is_no_placement_is_refused(level: object) -> None:
    with pytest.raises(ValueError, match=r"placement|twice"):
        FACTOR.level(level)


def test_a_storage_is_a_folder_or_an_emulated_device() -> None:
    assert storage("/mnt/a/../b").path == "/mnt/b"
    assert storage("/mnt/b").emulation is None
    found = storage("emulate:size=2GB,iops=400,write_bandwidth=8MB/s,in=/srv")
    assert found.path == "/srv"
    assert found.emulation == Emulation(
        Bytes(2 * GIB), read_iops=400.0, write_iops=400.0, write_bandwidth=Bytes(8 * MIB)
    )
    assert dict(found.emulation.limits).keys() == {"read_iops", "write_iops", "write_bandwidth"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("emulate:iop=4", "no property"),
        ("emulate:iops", "needs a value"),
        ("emulate:iops=0", "from 1"),
        ("emulate:size=1MB", "too small"),
        ("emulate:bandwidth=8", "needs a unit"),
        ("", "not a folder"),
    ],
)
def test_a_storage_that_cannot_be_is_refused_with_its_flag(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        storage(text)


def test_a_storage_that_cannot_be_is_told_what_else_to_write() -> None:
    with pytest.raises(UsageError, match="--storage slow: size=64MB is too small") as refused:
        plan_of("fast=/mnt/ssd", "slow=emulate:size=64MB")
    assert "--storage slow=emulate:size=4GB" in refused.value.hint


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "need the storage slow, fast, and no storage is named"),
        (("slow=/mnt/hdd",), "need the storage fast, and there is only slow"),
        ((*FAST_SLOW, "third=/mnt/c"), "does not say where the rest lies"),
    ],
)
def test_a_placement_without_its_storages_is_refused(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        plan_of(*given)
    assert "--storage fast=DIR" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "overrides", [("directory=/mnt/a",), ("slices=2",), ("measure.restart_every=2",)]
)
def test_what_does_not_go_with_placements_is_refused(overrides: tuple[str, ...]) -> None:
    with pytest.raises(TeitenError, match="placement"):
        plan_of(*FAST_SLOW, overrides=overrides)


def test_a_plan_says_where_each_part_lies_and_what_each_storage_needs() -> None:
    plan = plan_of(*FAST_SLOW)
    placed = {trial.placement.name: trial for trial in plan.trials if trial.placement is not None}
    assert set(placed) == {"all-slow", "wal-fast", "indexes-fast", "tables-fast", "all-fast"}
    assert all(trial.placement is not None for trial in plan.trials)
    settings = dict(placed["wal-fast"].settings)
    assert settings["temp_tablespaces"] == "teiten_temporary"
    assert settings["default_tablespace"] == "teiten_tables"
    (template,) = plan.templates
    assert template.data.spread
    needs = dict(plan.needs.storages)
    assert needs["slow"] == needs["fast"] > template.expected_bytes
    assert dict(plan.needs.directories) == {"/mnt/ssd": needs["fast"], "/mnt/hdd": needs["slow"]}


def test_an_emulated_device_holds_what_is_to_lie_on_it() -> None:
    small = plan_of("fast=/mnt/ssd", "slow=emulate:size=300MB")
    with pytest.raises(MachineError, match="storage slow: the clusters need"):
        FACTOR.check_plan(small, HOST)
    FACTOR.check_plan(plan_of("fast=/mnt/ssd", "slow=emulate:size=20GB"), HOST)
    plain = plan_of(*FAST_SLOW)
    assert small.needs.disk == plain.needs.disk + 300 * MIB, "its file lies in the working folder"


def directory(path: str, device: str, **changes: object) -> DirectoryFacts:
    disk = replace(HOST.disk, mount_point=path, device=device, free=Bytes(10**15))
    return replace(DirectoryFacts(path, disk, True, True), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"is_folder": False}, "storage slow=/mnt/hdd: there is no such folder"),
        ({"writable": False}, "storage slow=/mnt/hdd: no folder can be created"),
        ({"closed_at": "/mnt"}, "storage slow=/mnt/hdd: the servers' user cannot enter /mnt"),
    ],
)
def test_a_folder_that_cannot_be_used_is_told_by_its_storage(
    changes: dict[str, object], said: str
) -> None:
    fast, slow = directory("/mnt/ssd", "sda"), directory("/mnt/hdd", "sdb", **changes)
    facts = replace(HOST, directories=(fast, slow))
    with pytest.raises(TeitenError, match=said):
        rule("directory").check_plan(plan_of(*FAST_SLOW), facts)


def test_no_space_is_told_by_its_storage() -> None:
    fast, slow = directory("/mnt/ssd", "sda"), directory("/mnt/hdd", "sdb")
    full = replace(slow, disk=replace(slow.disk, free=Bytes(MIB)))
    facts = replace(HOST, directories=(fast, full))
    with pytest.raises(MachineError, match=r"storage slow=/mnt/hdd: the clusters need .* are free"):
        rule("directory").check_plan(plan_of(*FAST_SLOW), facts)


def test_one_device_twice_and_an_emulated_one_are_cautions() -> None:
    same = replace(HOST, directories=(directory("/mnt/ssd", "sda"), directory("/mnt/hdd", "sda")))
    codes = {one.code: dict(one.values) for one in variant_cautions(plan_of(*FAST_SLOW), same)}
    assert codes["storage-shared"] == {"names": "fast, slow", "device": "sda"}
    two = replace(HOST, directories=(directory("/mnt/ssd", "sda"), directory("/mnt/hdd", "sdb")))
    assert not [one for one in variant_cautions(plan_of(*FAST_SLOW), two) if "storage" in one.code]
    emulated = variant_cautions(plan_of("fast=/mnt/ssd", "slow=emulate:iops=400"), two)
    assert [dict(one.values) for one in emulated if one.code == "storage-emulated"] == [
        {"name": "slow"}
    ]


def test_tables_in_tablespaces_are_another_template_and_others_stay() -> None:
    server, data = make_installation("18.4"), pgbench_data(1)
    spread = template_fingerprint(server, True, replace(data, spread=True))
    assert spread != template_fingerprint(server, True, data)


UNIFIED = {
    "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
    "proc/self/cgroup": "0::/a\n",
    "sys/fs/cgroup/cgroup.controllers": "io memory",
    "sys/fs/cgroup/cgroup.subtree_control": "io memory",
    "sys/fs/cgroup/a/cgroup.controllers": "io memory",
    "sys/fs/cgroup/a/cgroup.subtree_control": "io memory",
}
SPLIT = {
    "proc/self/mountinfo": (
        "33 31 0:30 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
        "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    ),
    "proc/self/cgroup": "2:memory:/m\n1:blkio:/t\n",
    "sys/fs/cgroup/blkio/blkio.throttle.read_iops_device": "",
    "sys/fs/cgroup/blkio/t/cgroup.procs": "",
    "sys/fs/cgroup/memory/m/cgroup.procs": "",
}
LIMIT = TransferLimit("7:3", (("read_iops", 400.0), ("write_bandwidth", 8000.0)))


def machine(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text, encoding="utf-8")
    return tmp_path / "root"


def test_version_2_limits_transfers_and_memory_in_one_group(tmp_path: Path) -> None:
    root = machine(tmp_path, UNIFIED)
    limit = Limit.make(Workdir(tmp_path / "w"), Allowed(memory=1000, transfers=(LIMIT,)), root)
    (group,) = limit.groups
    assert (group / "io.max").read_text(encoding="ascii") == "7:3 riops=400 wbps=8000"
    assert (group / "memory.max").read_text(encoding="ascii") == "1000"
    assert limit.kernel == ()


def test_version_1_limits_what_the_kernel_writes_too_and_lifts_that(tmp_path: Path) -> None:
    root = machine(tmp_path, SPLIT)
    limit = Limit.make(Workdir(tmp_path / "w"), Allowed(memory=1000, transfers=(LIMIT,)), root)
    blkio = next(group for group in limit.groups if "blkio" in str(group))
    assert blkio.parent.name == "t"
    rule_file = blkio / "blkio.throttle.write_bps_device"
    assert rule_file.read_text(encoding="ascii") == "7:3 8000"
    top = root / "sys/fs/cgroup/blkio/blkio.throttle.read_iops_device"
    assert top.read_text(encoding="ascii") == "7:3 400"
    for file in [*blkio.iterdir(), *(limit.groups[0].iterdir())]:
        file.unlink(missing_ok=True)  # real groups have files that go with them
    limit.remove()
    assert top.read_text(encoding="ascii") == "7:3 0"


def test_a_group_that_is_not_given_io_is_told_how_to_get_it(tmp_path: Path) -> None:
    require_transfers(machine(tmp_path / "given", UNIFIED))
    require_transfers(machine(tmp_path / "version-1", SPLIT))
    kept = {
        name: "memory" if name.endswith("subtree_control") else text
        for name, text in UNIFIED.items()
    }
    with pytest.raises(MachineError, match="do not pass storage on") as raised:
        require_transfers(machine(tmp_path / "kept", kept))
    assert "systemd-run --scope -p Delegate=yes" in (raised.value.hint or "")


def test_a_kernel_that_limits_no_transfers_is_told(tmp_path: Path) -> None:
    without = {name: text.replace("io ", "") for name, text in UNIFIED.items()}
    with pytest.raises(MachineError, match="no control group limits what is read"):
        transfer_controller(machine(tmp_path, without))
    assert list(transfer_settings(2, [TransferLimit("7:3", ())])) == []
    assert lifted("7:3 400") == "7:3 0"


def test_what_reaches_a_second_device_is_counted_once() -> None:
    def at(seconds: float, loop: DiskCounters, disk: DiskCounters) -> OsSnapshot:
        return OsSnapshot(seconds, disks={"loop0": loop, "vda": disk})

    nothing = DiskCounters(0, 0, 0, 0, 0.0, 0.0)
    before = at(0.0, nothing, nothing)
    after = at(2.0, DiskCounters(10, 4000, 20, 8000, 1.0, 3.0),
               DiskCounters(10, 4000, 20, 8000, 2.0, 4.0))  # fmt: skip
    found = window_totals(before, after, storages={"slow": ("loop0",)}, apart=frozenset({"loop0"}))
    assert found["disk_read_bytes"] == 4000
    assert found[storage_metric("slow", "read_bytes_per_second")] == 2000
    assert found[storage_metric("slow", "busy_share")] == 0.5
    assert found[storage_metric("slow", "queue_length")] == 1.5
    assert is_of_storage("storage:slow:busy_share", "busy_share")


def use(name: str, busy: float, of_limit: float | None = None) -> StorageUse:
    return StorageUse(name, 0.0, 0.0, 0.0, 0.0, busy, 0.0, of_limit)


def test_the_device_that_limits_is_named_only_where_it_is_clear() -> None:
    assert bottleneck([use("slow", 0.97), use("fast", 0.04)]) == "slow"
    assert bottleneck([use("slow", 0.05, of_limit=0.98), use("fast", 0.3)]) == "slow"
    assert bottleneck([use("slow", 0.97), use("fast", 0.80)]) is None
    assert bottleneck([use("slow", 0.5), use("fast", 0.1)]) is None
    assert bottleneck([]) is None


def row(tps: float, read: float, written: float) -> PlacementRow:
    found = StorageUse("slow", read, written, 0.0, 0.0, 0.0, 0.0)
    return PlacementRow("x", tps, None, (found,), None)


def test_tps_follows_the_bandwidth_that_it_went_with() -> None:
    """The printed tables 4.8 and 4.9 of 2013."""
    update = [row(198.5, 3657.71, 8119.80), row(253.9, 5272.63, 12424.71),
              row(349.2, 2968.61, 16347.02), row(332.9, 6873.61, 16338.76),
              row(5996.6, 143504.39, 230956.73)]  # fmt: skip
    found = correlations(update)
    assert found[Direction.WRITTEN] > 0.99 > found[Direction.READ] > 0.9
    assert followed(update) is None, "with both alike"
    assert followed(update[:4]) is None
    none_written = [row(one.tps, one.total(Direction.READ), 0.0) for one in update]
    assert set(correlations(none_written)) == {Direction.READ}


def test_what_tps_followed_over_all_placements() -> None:
    reads = (3.0, 1.0, 2.0, 1.5, 2.5)
    rows = [
        row(100.0 * 2**at, 100 * read, 1000.0 * 2**at * (1 + at % 2 / 10))
        for at, read in enumerate(reads)
    ]
    assert followed(rows) is Direction.WRITTEN


def test_one_placement_far_from_the_others_is_no_correlation() -> None:
    """Four that are alike but for chance, and one on another storage: 0.97 of reading."""
    alike = [row(100.0, 1000.0, 520.0), row(104.0, 960.0, 480.0), row(97.0, 1030.0, 530.0),
             row(101.0, 990.0, 470.0)]  # fmt: skip
    outlier = row(4000.0, 50_000.0, 700.0)
    rows = [*alike, outlier]
    assert correlations(rows)[Direction.READ] > 0.97
    assert followed(rows) is None


def test_emulation_without_root_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulated, "own_uid", lambda: 1000)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(MachineError, match="needs root") as refused:
        emulated.require_emulation()
    assert "--storage NAME=DIR" in (refused.value.hint or "")
