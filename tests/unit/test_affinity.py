"""Pinning: the topology of processors, and what the kernel says of a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.host.facts.cpus import logical_cpus
from teiten.host.system.affinity import affinity, kept_off, pinned_to
from teiten.host.system.processes import spawn
from teiten.model.facts import LogicalCpu
from tests.unit.test_host_cgroups import write

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins")


def test_the_topology_is_read_from_sys(tmp_path: Path) -> None:
    files = {
        "sys/devices/system/node/node0/cpulist": "0,2",
        "sys/devices/system/node/node1/cpulist": "1,3",
    }
    for number in range(4):
        folder = f"sys/devices/system/cpu/cpu{number}/topology"
        files[f"{folder}/core_id"] = str(number // 2)
        files[f"{folder}/physical_package_id"] = str(number % 2)
    root = write(tmp_path, files)
    assert list(logical_cpus(root, (3, 0))) == [
        LogicalCpu(0, core=0, package=0, node=0),
        LogicalCpu(3, core=1, package=1, node=1),
    ]
    assert list(logical_cpus(tmp_path / "none", (5,))) == [LogicalCpu(5, 5, 0, 0)]


def test_the_kernel_s_word_on_a_process(tmp_path: Path) -> None:
    status = "Name:\tpostgres\nCpus_allowed:\tff\nCpus_allowed_list:\t0-2,5\nNspid:\t7\n"
    assert pinned_to(7, write(tmp_path, {"proc/7/status": status})) == (0, 1, 2, 5)
    assert pinned_to(8, tmp_path) == ()


@on_linux
def test_a_child_is_pinned_before_it_runs_and_we_are_not() -> None:
    before = affinity(0)
    assert before
    one = min(before)
    script = "import os; print(sorted(os.sched_getaffinity(0)))"
    process = spawn([sys.executable, "-c", script], stdout=subprocess.PIPE, cpus=[one])
    output, _ = process.communicate()
    assert output.decode().strip() == f"[{one}]"
    assert affinity(0) == before


@on_linux
def test_processors_that_are_not_there_are_an_error() -> None:
    with pytest.raises(OSError, match=r"cannot be pinned to the processors \[100000\]"):
        spawn([sys.executable, "-c", ""], cpus=[100_000])


@on_linux
def test_a_thread_is_kept_off_and_comes_back() -> None:
    before = os.sched_getaffinity(0)
    with kept_off([min(before)]):
        inside = os.sched_getaffinity(0)
        assert inside == (before - {min(before)} or before)
    assert os.sched_getaffinity(0) == before
    with kept_off(before):
        assert os.sched_getaffinity(0) == before, "none would be left"
