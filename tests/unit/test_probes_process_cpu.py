from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.execute.probes.process_cpu import CpuAccount, ProcessGroup, ProcessReader, group_of
from teiten.execute.probes.procfs import ProcessRecord

TEITEN, POSTMASTER, PGBENCH = 10, 20, 30
ROOTS = {
    TEITEN: ProcessGroup.TEITEN,
    POSTMASTER: ProcessGroup.SERVER,
    PGBENCH: ProcessGroup.PGBENCH,
}


def process(parent: int, own: int, children: int = 0, started: int = 1) -> ProcessRecord:
    return ProcessRecord(parent, False, own, children, started)


def looks(*records: dict[int, ProcessRecord]) -> dict[ProcessGroup, int]:
    account = CpuAccount(TEITEN)
    for record in records:
        account.update(record, ROOTS)
    return account.ticks


def test_the_nearest_root_above_a_process_names_its_group() -> None:
    records = {
        1: process(0, 0),
        TEITEN: process(1, 0),
        POSTMASTER: process(TEITEN, 0),
        21: process(POSTMASTER, 0),
        22: process(21, 0),
        11: process(TEITEN, 0),
        50: process(1, 0),
        60: process(60, 0),
    }
    groups = {pid: group_of(pid, records, ROOTS) for pid in records}
    assert groups[21] == groups[22] == ProcessGroup.SERVER
    assert groups[11] == ProcessGroup.TEITEN
    assert groups[50] == groups[1] == groups[60] == ProcessGroup.OTHER


def test_the_first_look_is_the_zero() -> None:
    assert set(looks({POSTMASTER: process(1, 500, 900)}).values()) == {0}


def test_a_backend_that_ends_is_not_lost() -> None:
    ticks = looks(
        {POSTMASTER: process(1, 100), 21: process(POSTMASTER, 40)},
        {POSTMASTER: process(1, 101, children=47)},
    )
    assert ticks[ProcessGroup.SERVER] == 8


def test_a_backend_between_two_looks_is_not_lost() -> None:
    ticks = looks({POSTMASTER: process(1, 100)}, {POSTMASTER: process(1, 100, children=5)})
    assert ticks[ProcessGroup.SERVER] == 5


def test_a_new_backend_counts_from_its_start() -> None:
    ticks = looks(
        {POSTMASTER: process(1, 100)}, {POSTMASTER: process(1, 100), 21: process(POSTMASTER, 7)}
    )
    assert ticks[ProcessGroup.SERVER] == 7


def test_a_pid_that_is_used_again_is_another_process() -> None:
    ticks = looks(
        {POSTMASTER: process(1, 0), 21: process(POSTMASTER, 50, started=1)},
        {POSTMASTER: process(1, 0, children=50), 21: process(POSTMASTER, 3, started=2)},
    )
    assert ticks[ProcessGroup.SERVER] == 3


def test_pgbench_that_ended_leaves_its_time_to_pgbench_not_to_us() -> None:
    ticks = looks(
        {TEITEN: process(1, 10), PGBENCH: process(TEITEN, 60)},
        {TEITEN: process(1, 12, children=75)},
    )
    assert ticks[ProcessGroup.PGBENCH] == 15
    assert ticks[ProcessGroup.TEITEN] == 2


def test_a_helper_that_ends_with_pgbench_keeps_what_was_counted() -> None:
    ticks = looks(
        {TEITEN: process(1, 0), PGBENCH: process(TEITEN, 0), 11: process(TEITEN, 0)},
        {TEITEN: process(1, 0), PGBENCH: process(TEITEN, 60), 11: process(TEITEN, 20)},
        {TEITEN: process(1, 0, children=85)},
    )
    assert ticks[ProcessGroup.TEITEN] == 20
    assert ticks[ProcessGroup.PGBENCH] == 65


def test_a_helper_of_ours_that_ends_is_ours() -> None:
    ticks = looks(
        {TEITEN: process(1, 0), PGBENCH: process(TEITEN, 0), 11: process(TEITEN, 20)},
        {TEITEN: process(1, 0, children=23), PGBENCH: process(TEITEN, 4)},
    )
    assert ticks[ProcessGroup.TEITEN] == 3
    assert ticks[ProcessGroup.PGBENCH] == 4


def test_a_parent_that_does_not_wait_takes_nothing_away_from_the_living() -> None:
    ticks = looks(
        {1: process(0, 0), 50: process(1, 1000), 51: process(1, 0)},
        {1: process(0, 0), 51: process(1, 30)},
    )
    assert ticks[ProcessGroup.OTHER] == 30


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
def test_our_own_work_and_that_of_an_ended_child_are_seen() -> None:
    reader, account = ProcessReader(), CpuAccount(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    roots = {os.getpid(): ProcessGroup.TEITEN, child.pid: ProcessGroup.PGBENCH}
    account.update(reader.read(), roots)
    child.stdin.write(b"\n")  # type: ignore[union-attr]
    child.stdin.close()  # type: ignore[union-attr]
    child.wait()
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    account.update(reader.read(), roots)
    reader.close()
    assert account.ticks[ProcessGroup.PGBENCH] > 0
    assert reader.read().keys() >= {os.getpid()}
    reader.close()


def test_a_folder_of_invented_processes_is_read_and_kernel_threads_are_not(
    tmp_path: Path,
) -> None:
    def write(pid: int, flags: int, own: int) -> None:
        (tmp_path / str(pid)).mkdir(exist_ok=True)
        (tmp_path / str(pid) / "stat").write_text(
            f"{pid} (x) S 1 1 1 0 -1 {flags} 0 0 0 0 {own} 0 0 0 20 0 1 0 77 0 0\n"
        )

    write(2, 0x00200000, 5)
    write(100, 0, 5)
    (tmp_path / "200").mkdir()
    reader = ProcessReader(tmp_path)
    assert set(reader.read()) == {100}
    assert reader.sees_all
    write(100, 0, 9)
    assert reader.read()[100].own == 9
    reader.close()
