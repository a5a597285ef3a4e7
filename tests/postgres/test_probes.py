"""Probes on real servers inside a small memory: states that hold, and what each probe shows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import pytest

from teiten.errors import MachineError
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.paths import Workdir
from teiten.kinds.probes.measurement import (
    PageOrigin,
    ProbeMeasurement,
    measurement_of,
    share_of,
    sweeps,
)
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.trial import Outcome, Trial
from teiten.model.units import MIB
from tests.fixtures.campaigns import Teiten
from tests.fixtures.servers import open_folder, place_on_a_disk, share_chart_library

MEMORY = 384 * MIB
LITTLE = 200 * MIB
"""Where the smallest sizes of the buffers suffice."""
RUN = (
    *("run", "buffers", "--profile", "quick", "--yes", "--blocks", "1", "--set", "repeats=2"),
    *("--set", "disturbed_share=100%", "--set", "share=25%"),
)
OF_BUFFERS = "buffer-read,clock-sweep,update,checkpoint"
OF_CACHES = "os-cache-read,after-scan"


@pytest.fixture(scope="module")
def on_disk() -> Iterator[Teiten]:
    """On a disk, whose page cache is limited with the rest; skips with the reason where this
    machine does not let memory be limited."""
    with open_folder("teiten-test-", place_on_a_disk()) as folder:
        workdir = Workdir(folder)
        workdir.prepare()
        try:
            Limit.make(workdir, Allowed(memory=MEMORY)).remove()
        except MachineError as error:
            pytest.skip(error.message)
        share_chart_library(workdir)
        yield Teiten(workdir)  # its templates on the disk too


@pytest.fixture
def teiten(on_disk: Teiten) -> Teiten:
    shutil.rmtree(on_disk.workdir.campaigns)
    on_disk.workdir.campaigns.mkdir()
    return on_disk


@dataclass(frozen=True)
class Shown:
    """The counted trial of each probe and size of shared_buffers: one whose state did not hold, as
    the kernel drops pages at times, is repeated."""

    memory: int
    trials: Mapping[tuple[str, str], Trial]

    def of(self, probe: str, size: str) -> ProbeMeasurement:
        found = measurement_of(self.trials[probe, size].facts)
        assert found is not None and found.probe == probe and found.memory == self.memory
        assert found.shared_buffers == self.memory * int(size[:-1]) // 100
        return found


def run(
    teiten: Teiten, server: Installation, probes: str, sizes: str, memory: int = MEMORY
) -> Shown:
    changes = (f"measure.memory={memory // MIB}MiB", f"guc:shared_buffers={sizes}")
    said = [word for one in (*changes, f"probe={probes}") for word in ("--set", one)]
    done = teiten.run(*RUN, "--servers", str(server.bin_directory), *said)
    assert done.returncode == 0, done.stderr
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        cells = {trial.number: dict(trial.cell.levels) for trial in ledger.plan.trials}
    counted = {
        (cells[one.number]["probe"], cells[one.number]["guc:shared_buffers"]): one
        for one in teiten.trials()
        if one.outcome is Outcome.COUNTED
    }
    return Shown(memory, counted)


@pytest.mark.pg(">=18")
def test_each_probe_shows_its_mechanism(teiten: Teiten, server_installation: Installation) -> None:
    clients = "clients-buffers,clients-os-cache"
    shown = run(teiten, server_installation, f"{OF_BUFFERS},{OF_CACHES},{clients}", "25%,75%")
    assert len(shown.trials) == 16
    for size in ("25%", "75%"):
        check_buffers(shown, size, wal=True)

    (small,) = shown.of("os-cache-read", "25%").measured
    (large,) = shown.of("os-cache-read", "75%").measured
    # The kernel may take back a page of a thousand where memory is limited; seen: 4.
    assert (share_of(small.statements, PageOrigin.OS_CACHE) or 0) >= 0.99
    assert share_of(large.statements, PageOrigin.BUFFERS) == 1

    small, large = (shown.of("after-scan", size).measured[0] for size in ("25%", "75%"))
    assert 0.4 < (share_of(small.statements, PageOrigin.BUFFERS) or 0) < 0.6
    # The rest was read ahead of them, where the kernel saw a pattern in what they ask for.
    assert (share_of(small.statements, PageOrigin.DISK) or 0) > 0.1
    assert share_of(large.statements, PageOrigin.BUFFERS) == 1

    for probe in clients.split(","):
        for size in ("25%", "75%"):
            check_clients(shown, probe, size)
    for language in ("en", "ja"):
        assert (teiten.campaign() / "report" / f"report.{language}.html").is_file()


@pytest.mark.pg(">=10,<13")
def test_without_the_functions_of_later_versions(
    teiten: Teiten, server_installation: Installation
) -> None:
    """No pg_buffercache_usage_counts(), no WAL in EXPLAIN."""
    shown = run(teiten, server_installation, OF_BUFFERS, "35%,50%", LITTLE)
    assert len(shown.trials) == 8
    for size in ("35%", "50%"):
        check_buffers(shown, size, wal=False)


def check_buffers(shown: Shown, size: str, *, wal: bool) -> None:
    (read,) = shown.of("buffer-read", size).measured
    assert {statement.origin for statement in read.statements} == {PageOrigin.BUFFERS}
    assert {(statement.hit, statement.read) for statement in read.statements} == {(1, 0)}

    sweep = shown.of("clock-sweep", size)
    statements = sweep.measured[0].statements
    assert share_of(statements, PageOrigin.BUFFERS) == 0
    assert (share_of(statements, PageOrigin.OS_CACHE) or 0) > 0.95
    swept, others = sweeps(statements, sweep.buffers)
    assert swept and len(others) > 10 * len(swept)
    assert all(0.9 < (one.swept or 0) / sweep.buffers < 1.1 for one in swept)
    before, after = (one.buffers.usage for one in sweep.seen if one.step == "read")
    assert before[5] > 0.97 * sweep.buffers > 100 * after[5]

    update = shown.of("update", size).measured[0].statements
    assert all(one.commit_seconds and one.commit_seconds > 0 for one in update)
    assert all((one.wal_records or 0) > 0 for one in update) is wal
    assert shown.trials["update", size].metrics["commit_seconds"] == median(
        one.commit_seconds or 0.0 for one in update
    )

    checkpoints = shown.of("checkpoint", size).checkpoints
    assert {checkpoint.step for checkpoint in checkpoints} == {"checkpoint", "search"}
    assert all(0 < checkpoint.written <= checkpoint.dirty < 20 for checkpoint in checkpoints)


def check_clients(shown: Shown, probe: str, size: str) -> None:
    found = shown.of(probe, size).with_clients
    counts = [one.clients for one in found]
    assert counts == sorted(set(counts)) and counts[0] == 1
    read = sum(one.read for one in found) / sum(one.hit + one.read for one in found)
    assert (read > 0.2) is ((probe, size) == ("clients-os-cache", "25%"))
    assert shown.trials[probe, size].metrics["probe_tps"] == found[-1].tps


@pytest.mark.pg(">=18")
def test_working_sets_fall_off_their_cliffs(
    teiten: Teiten, server_installation: Installation
) -> None:
    shown = run(teiten, server_installation, "working-set", "25%,50%,75%")
    from_disk = {}
    for size in ("25%", "50%", "75%"):
        parts = shown.of("working-set", size).measured
        assert [part.part for part in parts] == [f"{10 * at}% of table" for at in range(1, 11)]
        disk = [share_of(part.statements, PageOrigin.DISK) or 0.0 for part in parts]
        assert max(disk[:4]) < 0.02, "a kernel with little memory drops a page at times"
        assert disk[-1] > 0.2
        from_disk[size] = sum(disk)
    assert from_disk["50%"] > from_disk["25%"] > from_disk["75%"], "the medium one falls first"
