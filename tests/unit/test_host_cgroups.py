from __future__ import annotations

from pathlib import Path

import pytest

from teiten.host.facts.cgroups import parse_own_groups, read_cgroup_limits

V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_version_2_takes_the_tightest_limit_of_all_levels(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/self/mountinfo": V2_MOUNT,
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000",
            "sys/fs/cgroup/a/cpu.max": "150000 100000",
            "sys/fs/cgroup/a/b/memory.max": "4000",
            "sys/fs/cgroup/a/b/memory.current": "3000",
            "sys/fs/cgroup/a/b/memory.stat": "anon 2000\ninactive_file 500\n",
            "sys/fs/cgroup/a/memory.max": "max",
        },
    )
    limits = read_cgroup_limits(root)
    assert limits.cpu_quota_cores == 1.5
    assert limits.memory_limit == 4000
    assert limits.memory_available == 1500


def test_in_a_container_the_mount_shows_our_group_as_its_root(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/self/mountinfo": "30 23 0:26 /../../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
            "proc/self/cgroup": "0::/../../system.slice\n",
            "sys/fs/cgroup/cpu.max": "50000 100000",
        },
    )
    assert read_cgroup_limits(root).cpu_quota_cores == 0.5


def test_version_1_in_docker_mounts_the_containers_group(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/self/mountinfo": (
                "33 31 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup"
                " rw,cpu,cpuacct\n"
                "34 31 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
            ),
            "proc/self/cgroup": "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000\n",
            "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 300\n",
        },
    )
    limits = read_cgroup_limits(root)
    assert limits.cpu_quota_cores == 2.0
    assert (limits.memory_limit, limits.memory_available) == (1073741824, 1073741124)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/mountinfo": V2_MOUNT, "proc/self/cgroup": "0::/\n"},
        {
            "proc/self/mountinfo": (
                "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                "35 31 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            ),
            "proc/self/cgroup": "4:memory:/x\n1:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712",
        },
    ],
)
def test_without_a_limit_everything_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    limits = read_cgroup_limits(write(tmp_path, files))
    assert (limits.cpu_quota_cores, limits.memory_limit, limits.memory_available) == (None,) * 3


def test_a_path_with_a_colon_is_kept_whole() -> None:
    assert parse_own_groups("0::/a:b\n3:cpu,cpuacct:/x\n") == {
        "": "/a:b",
        "cpu": "/x",
        "cpuacct": "/x",
    }
