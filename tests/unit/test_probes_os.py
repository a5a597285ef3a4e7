from __future__ import annotations

import math
from dataclasses import replace

import pytest

from teiten.execute.probes.columns import COLUMNS, CPU_STATES, DISK, OS, OWN
from teiten.execute.probes.os import NodeUse, OsSnapshot, cpu_shares, rates, totals
from teiten.execute.probes.os_other import PsutilReader
from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.probes.procfs import DiskCounters
from teiten.kinds.metrics import by_name

BEFORE = OsSnapshot(
    at=100.0,
    cpu=(0, 0, 0, 0, 0, 0, 0, 0),
    cores={0: (0,) * 8, 1: (0,) * 8},
    online=2,
    context_switches=1000,
    run_queue=1.0,
    memory_available=5,
    page_cache=6,
    disks={"vda": DiskCounters(0, 0, 0, 0, 0.0, 0.0)},
    network=(10, 20),
    pressure={"cpu": 1.0, "memory": 0.0, "io": 0.0},
    groups={
        ProcessGroup.SERVER: 1.0,
        ProcessGroup.PGBENCH: 0.0,
        ProcessGroup.TEITEN: 0.0,
        ProcessGroup.OTHER: 0.0,
    },
)
AFTER = OsSnapshot(
    at=102.0,
    cpu=(90, 10, 60, 200, 20, 10, 5, 5),
    cores={0: (100, 0, 0, 100, 0, 0, 0, 0), 1: (0, 0, 0, 200, 0, 0, 0, 0)},
    online=2,
    context_switches=3000,
    run_queue=4.0,
    memory_available=7,
    page_cache=8,
    disks={"vda": DiskCounters(10, 4096, 20, 8192, 1.0, 4.0)},
    network=(110, 220),
    pressure={"cpu": 2.0, "memory": 0.0, "io": 0.5},
    groups={
        ProcessGroup.SERVER: 3.0,
        ProcessGroup.PGBENCH: 0.4,
        ProcessGroup.TEITEN: 0.02,
        ProcessGroup.OTHER: 0.1,
    },
)


def test_a_sample_has_exactly_the_columns_that_are_documented() -> None:
    rows = rates(BEFORE, AFTER)
    assert set(rows) == {"os", "cpu:0", "cpu:1", "disk:vda"}
    assert set(rows["os"]) == {column.name for column in OS}
    assert set(rows["cpu:0"]) == {column.name for column in CPU_STATES}
    assert set(rows["disk:vda"]) == {column.name for column in DISK}
    assert len({(column.source, column.name) for column in COLUMNS}) == len(COLUMNS)


def test_shares_are_of_all_cores() -> None:
    row = rates(BEFORE, AFTER)["os"]
    assert row["cpu_user_share"] == 0.25
    assert row["cpu_system_share"] == 75 / 400
    assert row["server_cpu_share"] == 0.5
    assert row["pgbench_cpu_share"] == 0.1
    assert row["other_cpu_share"] == 0.025
    assert row["pressure_cpu_share"] == 0.5
    assert row["context_switches_per_second"] == 1000
    assert row["received_bytes_per_second"] == 50


def test_the_five_states_sum_to_one() -> None:
    assert sum(cpu_shares(BEFORE.cpu or (), AFTER.cpu or ()).values()) == pytest.approx(1)


def test_a_counter_that_steps_back_gives_no_negative_share() -> None:
    shares = cpu_shares((0, 0, 0, 100, 50, 0, 0, 0), (10, 0, 0, 190, 48, 0, 0, 0))
    assert shares["cpu_iowait_share"] == 0
    assert shares["cpu_user_share"] == 0.1


def test_without_a_tick_shares_are_not_numbers() -> None:
    assert all(math.isnan(value) for value in cpu_shares((1,) * 8, (1,) * 8).values())
    still = replace(AFTER, at=AFTER.at + 1e-3)
    assert "cpu_user_share" not in totals(AFTER, still)


def test_disk_rates() -> None:
    row = rates(BEFORE, AFTER)["disk:vda"]
    assert row == {
        "reads_per_second": 5,
        "writes_per_second": 10,
        "read_bytes_per_second": 2048,
        "written_bytes_per_second": 4096,
        "busy_share": 0.5,
        "queue_length": 2,
    }


def test_totals_are_metrics_of_the_model() -> None:
    found = totals(BEFORE, AFTER)
    assert set(found) <= set(by_name())
    assert found["cpu_other_share"] == 0.025
    assert found["server_cpu_share"] == 0.5
    assert found["context_switches"] == 2000
    assert found["disk_read_bytes"] == 4096


def test_where_others_cannot_be_seen_they_are_what_the_kernel_counts_and_we_do_not_know() -> None:
    def hidden(snapshot: OsSnapshot) -> OsSnapshot:
        groups = dict(snapshot.groups)
        del groups[ProcessGroup.OTHER]
        return replace(snapshot, groups=groups)

    # 160 ticks of programs in 2 s; 1.6 s less 2.0 + 0.4 + 0.02 s would be negative
    assert totals(hidden(BEFORE), hidden(AFTER))["cpu_other_share"] == 0
    busy = replace(hidden(AFTER), cpu=(290, 10, 60, 20, 0, 0, 0, 0))
    assert totals(hidden(BEFORE), busy)["cpu_other_share"] == pytest.approx((3.6 - 2.42) / 4)


def test_a_snapshot_without_sources_gives_nothing() -> None:
    empty = OsSnapshot(at=0.0)
    assert rates(empty, replace(empty, at=1.0)) == {"os": {}}
    assert totals(empty, replace(empty, at=1.0)) == {}


def test_psutil_reads_this_machine_as_well() -> None:
    reader = PsutilReader(postmasters=(2**22 + 1,), devices=())
    first = reader.read(0.0, None)
    second = reader.read(1.0, 2**22 + 2)
    assert {"os"} <= set(rates(first, second))
    assert totals(first, second)["server_cpu_share"] == 0
    reader.close()


def test_what_an_emulated_node_used_stands_beside_the_machines() -> None:
    before = replace(BEFORE, node=NodeUse(1.0, 10, 5, 100, 200, 300, 400))
    after = replace(AFTER, node=NodeUse(2.0, 30, 20, 1100, 1200, 1300, 2400))
    row, found = rates(before, after)["own"], totals(before, after)
    assert set(row) == {column.name for column in OWN}
    seconds = AFTER.at - BEFORE.at
    assert row["cpu_share"] == found["own_cpu_share"] == 1.0 / (seconds * AFTER.online)
    assert row["sent_bytes_per_second"] == 2000 / seconds
    assert found["own_disk_read_bytes"] == 1000 and found["own_received_bytes"] == 1000
    assert (found["own_memory_bytes"], found["own_page_cache_bytes"]) == (30, 20)
    assert {name for name in found if name.startswith("own_")} <= set(by_name())
    assert "own" not in rates(BEFORE, after) and "own" not in rates(BEFORE, AFTER)
    uncounted = replace(AFTER, node=NodeUse(memory_bytes=7))
    assert rates(before, uncounted)["own"] == {"memory_bytes": 7}
