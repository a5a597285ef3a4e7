"""In which control group a limit is made, on invented machines of both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import MachineError
from teiten.execute.sites.local import limit as module
from teiten.execute.sites.local.limit import Limit
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


def made(tmp_path: Path, files: dict[str, str], cpus: float | None, memory: int | None) -> Limit:
    return Limit.make(Workdir(tmp_path / "work"), cpus, memory, write(tmp_path / "root", files))


def test_version_2_takes_the_nearest_group_that_passes_the_controllers_on(tmp_path: Path) -> None:
    limit = made(tmp_path, UNIFIED, 1.5, 1000)
    (group,) = limit.groups
    assert group.parent == tmp_path / "root/sys/fs/cgroup/a"
    assert (group / "memory.max").read_text(encoding="ascii") == "1000"
    assert (group / "cpu.max").read_text(encoding="ascii") == "150000 100000"
    assert limit.facts == {"cpu": 1.5, "memory": 1000, "cgroup": 2}


def test_version_1_takes_our_own_group_of_each_controller(tmp_path: Path) -> None:
    limit = made(tmp_path, SPLIT, 0.5, 2000)
    cpu, memory = limit.groups
    assert cpu.parent == tmp_path / "root/sys/fs/cgroup/cpu"
    assert memory.parent == tmp_path / "root/sys/fs/cgroup/memory/m"
    assert (cpu / "cpu.cfs_quota_us").read_text(encoding="ascii") == "50000"
    assert (memory / "memory.limit_in_bytes").read_text(encoding="ascii") == "2000"


SWAP = {"proc/swaps": "Filename Type Size Used Priority\n/swap file 1 0 -2\n"}


@pytest.mark.parametrize("files", [UNIFIED, SPLIT])
def test_a_limit_that_swap_would_go_round_is_refused(
    tmp_path: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The invented groups have no file that limits swap, and are folders that stay."""
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    with pytest.raises(MachineError, match="this machine has swap") as caught:
        made(tmp_path, files | SWAP, None, 1000)
    assert "swapoff" in caught.value.hint
    made(tmp_path / "of-processors", files | SWAP, 1.0, None)


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
    limit = made(tmp_path, files, None, 1000)
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
        made(tmp_path, files, None, 1000)
    assert "leave the limit out" in caught.value.hint
    assert not list(tmp_path.glob("work/clusters/*"))
