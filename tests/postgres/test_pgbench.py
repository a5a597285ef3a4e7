"""pgbench against a real server: its numbers and its log. The same pgbench loads servers of all
versions, as a campaign of the oldest shows (test_campaign.py)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teiten.execute.client.log_folder import LogFile
from teiten.execute.postgres.cluster import Cluster
from teiten.host.system import files
from teiten.kinds.metrics import by_name
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.process import PgbenchProcess
from teiten.kinds.pgbench.load.trial import tpcb_balances
from teiten.model.installation import Version
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds
from tests.fixtures.pgbench_run import DATABASE, filled_kit, pgbench, run, running_cluster

__all__ = ["filled_kit", "pgbench", "run", "running_cluster"]

TPCB_LIKE = Script("tpcb-like", True, "")
PAUSED = Script(
    "paused.sql",
    False,
    "\\set aid random(1, 100000 * :scale)\n"
    "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
    "\\sleep 1 ms\n",
)
CALM = ("--rate=300",)
"""Where how much is done is not what is looked at, other tests have the processors."""
CONFLICTS = Script(
    "conflicts.sql",
    False,
    "BEGIN ISOLATION LEVEL REPEATABLE READ;\n"
    "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n"
    "END;\n",
)

pytestmark = pytest.mark.pg(">=18")


def kept_times(folder: Path) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The latencies of a log that was kept, parsed the plain way."""
    lines = [
        line
        for path in sorted(folder.glob("transactions.*"))
        for line in path.read_text().splitlines()
    ]
    return np.array(sorted(int(line.split()[2]) for line in lines), dtype=np.int64)


@pytest.fixture
def log_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction log stays, whole."""

    def close(log: LogFile, *, delete: bool) -> None:
        del delete
        closed(log, delete=False)

    closed = LogFile.close
    monkeypatch.setattr(files, "_fallocate", None)
    monkeypatch.setattr(LogFile, "close", close)


@pytest.mark.usefixtures("log_kept")
def test_percentiles_agree_with_the_whole_log(run: PgbenchRun) -> None:
    process = PgbenchProcess(replace(run, script=PAUSED, query_mode=QueryMode.PREPARED))
    process.start()
    result = process.wait(30)
    assert result.problems == ()
    times = kept_times(run.folder)
    metrics = result.metrics
    assert set(metrics) <= set(by_name())
    assert metrics["transactions"] == len(times)
    for name, percent in (("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99), ("p99_9", 99.9)):
        exact = times[max(int(percent / 100 * len(times) + 0.5), 1) - 1] / 1e6
        assert exact <= metrics[f"latency_{name}"] <= exact * 1.001
    assert metrics["latency_max"] == times[-1] / 1e6
    assert metrics["latency_mean"] == pytest.approx(times.mean() / 1e6)
    assert metrics["latency_stddev"] == pytest.approx(times.std() / 1e6, rel=1e-6)
    assert metrics["measured_seconds"] == pytest.approx(2.0, abs=0.2)
    assert metrics["tps"] == pytest.approx(metrics["transactions"] / metrics["measured_seconds"])
    assert metrics["connection_seconds"] > 0
    assert metrics["log_sampling_rate"] == 1.0
    assert 0 < result.cpu_seconds < 2 * (os.cpu_count() or 1)
    assert result.series.source == "pgbench"
    assert len(result.series.seconds) in {1, 2}
    assert result.command.startswith(str(run.pgbench.path))


def test_the_log_is_read_and_deleted_while_pgbench_runs(run: PgbenchRun) -> None:
    process = PgbenchProcess(replace(run, duration=Seconds(4)))
    process.start()
    while not process.ended_within(0.2):
        progress = process.poll()
    result = process.wait()
    assert progress is not None
    assert progress.tps > 0
    assert 0 < progress.latency < 1
    assert result.problems == ()
    assert result.latencies is not None
    assert result.latencies.count == result.metrics["transactions"]
    assert not list(run.folder.glob("transactions.*"))


def test_without_a_log_there_are_no_percentiles(run: PgbenchRun) -> None:
    process = PgbenchProcess(replace(run, log_sampling_rate=None, duration=Seconds(1)))
    process.start()
    result = process.wait(30)
    assert result.problems == ()
    assert result.latencies is None
    assert "latency_p99" not in result.metrics
    assert "log_sampling_rate" not in result.metrics
    assert result.metrics["latency_mean"] > 0


def test_a_share_of_the_transactions_is_logged(run: PgbenchRun) -> None:
    process = PgbenchProcess(replace(run, log_sampling_rate=0.1, duration=Seconds(1)))
    process.start()
    result = process.wait(30)
    assert result.problems == ()
    assert result.latencies is not None
    assert result.metrics["log_sampling_rate"] == 0.1
    share = result.latencies.count / result.metrics["transactions"]
    assert share == pytest.approx(0.1, rel=0.5)


@pytest.mark.parametrize("name", ["tpcb-like", "simple-update", "select-only"])
def test_the_balances_agree_after_pgbenchs_own_scripts(
    run: PgbenchRun, running_cluster: Cluster, name: str
) -> None:
    script = Script(name, True, "")
    process = PgbenchProcess(replace(run, script=script, options=CALM, duration=Seconds(1)))
    process.start()
    assert process.wait(30).problems == ()
    with running_cluster.connect(DATABASE) as connection:
        problem = tpcb_balances(connection)
        if name == "simple-update":  # which leaves tellers and branches alone
            assert problem is not None
            return
        assert problem is None
        connection.execute("UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 1")
        problem = tpcb_balances(connection)
        assert problem is not None
        assert problem.code == "invariant"
        assert "the sums differ: accounts" in problem.detail


def test_the_latency_of_each_statement(run: PgbenchRun) -> None:
    load = replace(run, script=TPCB_LIKE, options=CALM, duration=Seconds(1))
    process = PgbenchProcess(load)
    process.start()
    result = process.wait(30)
    last = result.output.splitlines()[-1].split(maxsplit=2)
    assert "END;" in last[-1] and float(last[0]) > 0


def test_failed_transactions_are_counted_apart(run: PgbenchRun) -> None:
    if run.pgbench.version < Version(150000):
        pytest.skip("pgbench counts failed transactions from 15 on")
    process = PgbenchProcess(replace(run, script=CONFLICTS, duration=Seconds(1)))
    process.start()
    result = process.wait(30)
    assert result.problems == ()
    assert result.latencies is not None
    assert result.metrics["failed_transactions"] > 0
    assert result.latencies.count == result.metrics["transactions"]
