"""In which control group a limit is made, on invented machines of both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import MachineError
from teiten.execute.sites.local import limit as module
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.paths import Workdir

UNIFIED = {
    "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
    "proc/self/cgroup": "0::/a/b\n",
    "sys/fs/cgroup/cgroup.controllers": "cpu memory pids",
    "sys/fs/cgroup/cgroup.subtree_control": "cpu memory",
    "sys/fs/cgroup/a/cgroup.controllers": "cpu memory",
    "sys/fs/cgroup/a/cgroup.subtree_control": "cpu memory",
    "sys/fs/cgroup/a/b/cgroup.controllers": "cpu memory",
    "sys/fs/cgroup/a/b/cgroup.subtree_control": "",
}
SPLIT = {
    "proc/self/mountinfo": (
        "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    ),
    "proc/self/cgroup": "2:memory:/m\n1:cpu:/\n",
    "sys/fs/cgroup/cpu/cgroup.procs": "",
    "sys/fs/cgroup/memory/m/cgroup.procs": "",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def made(tmp_path: Path, files: dict[str, str], memory: int) -> Limit:
    root = write(tmp_path / "root", files)
    return Limit.make(Workdir(tmp_path / "work"), Allowed(memory), root)


def test_version_2_takes_the_nearest_group_that_passes_the_controllers_on(tmp_path: Path) -> None:
    limit = made(tmp_path, UNIFIED, 1000)
    (group,) = limit.groups
    assert group.parent == tmp_path / "root/sys/fs/cgroup/a"
    assert (group / "memory.max").read_text(encoding="ascii") == "1000"
    assert limit.facts == {"memory": 1000, "cgroup": 2}


def test_version_1_takes_our_own_group_of_the_controller(tmp_path: Path) -> None:
    limit = made(tmp_path, SPLIT, 2000)
    (memory,) = limit.groups
    assert memory.parent == tmp_path / "root/sys/fs/cgroup/memory/m"
    assert (memory / "memory.limit_in_bytes").read_text(encoding="ascii") == "2000"


SWAP = {"proc/swaps": "Filename Type Size Used Priority\n/swap file 1 0 -2\n"}


@pytest.mark.parametrize("files", [UNIFIED, SPLIT])
def test_a_limit_that_swap_would_go_round_is_refused(
    tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The invented groups have no file that limits swap, and are folders that stay."""
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    with pytest.raises(MachineError, match="this machine has swap") as caught:
        made(tmp_path, files | SWAP, 1000)
    assert "swapoff" in caught.value.hint


@pytest.mark.parametrize(
    ("files", "file", "text", "said"),
    [
        (UNIFIED, "memory.events", "oom 3\noom_kill 2\n", {"oom_kills": 2}),
        (UNIFIED, "memory.peak", "900\n", {"peak": 900}),
        (UNIFIED, "memory.current", "800\n", {"peak": 800}),
        (SPLIT, "memory.oom_control", "under_oom 0\noom_kill 1\n", {"oom_kills": 1}),
        (SPLIT, "memory.max_usage_in_bytes", "700\n", {"peak": 700}),
        (SPLIT, "memory.other", "1\n", {}),
    ],
)
def test_what_the_kernel_counted_is_read_in_both_versions(
    tmp_path: Path, files: dict[str, str], file: str, text: str, said: dict[str, int]
) -> None:
    limit = made(tmp_path, files, 1000)
    (limit.groups[-1] / file).write_text(text, encoding="ascii")
    assert limit.readings() == said


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"proc/self/mountinfo": "", "proc/self/cgroup": ""}, "no control groups that limit"),
        (
            {**UNIFIED, **{name: "" for name in UNIFIED if name.endswith("subtree_control")}},
            "do not pass memory on",
        ),
    ],
)
def test_where_it_cannot_be_it_is_refused_with_the_reason(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    with pytest.raises(MachineError, match=words) as caught:
        made(tmp_path, files, 1000)
    assert "leave the limit out" in caught.value.hint
    assert not list(tmp_path.glob("work/clusters/*"))


STORAGE = Allowed(memory=1000, read=5, disk="8:0", counted=True)
WITH_STORAGE_1 = SPLIT | {
    "proc/self/mountinfo": (
        SPLIT["proc/self/mountinfo"]
        + "35 31 0:32 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
        + "36 31 0:33 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
    ),
    "proc/self/cgroup": "4:cpuacct:/\n3:blkio:/\n2:memory:/m\n1:cpu:/\n",
    "sys/fs/cgroup/blkio/cgroup.procs": "",
    "sys/fs/cgroup/cpuacct/cgroup.procs": "",
}


def test_version_1_throttles_storage_and_counts_in_groups_of_their_own(tmp_path: Path) -> None:
    root = write(tmp_path / "root", WITH_STORAGE_1)
    limit = Limit.make(Workdir(tmp_path / "work"), STORAGE, root)
    groups = {
        group.parent.relative_to(root / "sys/fs/cgroup").as_posix(): group for group in limit.groups
    }
    assert set(groups) == {"memory/m", "blkio", "cpuacct"}
    blkio = groups["blkio"]
    assert (blkio / "blkio.throttle.read_bps_device").read_text(encoding="ascii") == "8:0 5"
    written = (blkio / "blkio.throttle.write_bps_device").read_text(encoding="ascii")
    assert written == f"8:0 {1 << 50}", "no limit, but without a rule nothing is counted"


def test_version_2_throttles_storage_where_the_controller_is_passed_on(tmp_path: Path) -> None:
    passed = {name: text.replace("cpu memory", "cpu io memory") for name, text in UNIFIED.items()}
    limit = Limit.make(Workdir(tmp_path / "a"), STORAGE, write(tmp_path / "root", passed))
    (group,) = limit.groups
    assert (group / "io.max").read_text(encoding="ascii") == "8:0 rbps=5 wbps=max"
    with pytest.raises(MachineError, match="no control groups that limit storage"):
        Limit.make(Workdir(tmp_path / "b"), STORAGE, write(tmp_path / "other", UNIFIED))
    counting = Allowed(memory=1000, disk="8:0", counted=True)
    counted = Limit.make(Workdir(tmp_path / "c"), counting, tmp_path / "other")
    assert not (counted.groups[0] / "io.max").exists(), "what cannot be counted is left out"
