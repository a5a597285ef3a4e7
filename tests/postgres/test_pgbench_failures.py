"""pgbench that cannot do what it should: wrong scripts, lost servers, and its end."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from teiten.errors import WorkloadError
from teiten.execute.client.address import Address
from teiten.execute.postgres.cluster import Cluster
from teiten.kinds.pgbench.load import process as pgbench_module
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.process import PgbenchProcess, try_script
from teiten.model.study import Script
from teiten.model.units import Seconds
from tests.fixtures.pgbench_run import DATABASE, filled_kit, pgbench, run, running_cluster

__all__ = ["filled_kit", "pgbench", "run", "running_cluster"]

PATIENCE = 120.0
"""Seconds."""
pytestmark = pytest.mark.pg(">=18")


def script(text: str) -> Script:
    return Script("mine.sql", False, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\\set aid random(1, 10\nSELECT 1;\n", 'mine.sql:1: syntax error in command "set"'),
        ("SELECTT nope;\n", 'syntax error at or near "SELECTT"'),
        ("SELECT * FROM no_such_table;\n", 'relation "no_such_table" does not exist'),
        ("\\set x 1/0\nSELECT :x;\n", "division by zero"),
        ("", 'empty command list for script "mine.sql"'),
    ],
)
def test_an_error_in_a_script_is_told_in_pgbenchs_words(
    run: PgbenchRun, text: str, message: str
) -> None:
    wrong = replace(run, script=script(text))
    with pytest.raises(WorkloadError) as tried:
        try_script(wrong)
    process = PgbenchProcess(wrong)
    process.start()
    with pytest.raises(WorkloadError) as ran:
        process.wait(PATIENCE)
    for caught in (tried, ran):
        assert caught.value.message.startswith("script mine.sql: ")
        assert message in caught.value.message
        assert caught.value.hint.startswith("correct mine.sql")
        assert str(run.pgbench.path) in caught.value.hint


def test_an_option_that_pgbench_does_not_know(run: PgbenchRun) -> None:
    with pytest.raises(WorkloadError, match="--no-such-option"):
        try_script(replace(run, options=("--no-such-option=1",)))


def test_a_good_script_is_tried_with_one_transaction(
    run: PgbenchRun, running_cluster: Cluster
) -> None:
    text = "\\set bid random(1, :scale)\nUPDATE pgbench_branches SET bbalance = 7;\n"
    try_script(replace(run, script=script(text)))
    with running_cluster.connect(DATABASE) as connection:
        assert connection.execute("SELECT bbalance FROM pgbench_branches").fetchall() == [(7,)]


def test_a_script_that_does_not_end_is_told(run: PgbenchRun) -> None:
    with pytest.raises(WorkloadError, match="had not ended after 1 s"):
        try_script(replace(run, script=script("SELECT pg_sleep(2);\n")), timeout=Seconds(1))
    time.sleep(1.5)  # the server learns of pgbench's end only after the query


def test_a_missing_server_is_no_error_of_the_script(run: PgbenchRun) -> None:
    nowhere = Address.by_socket(Path("/tmp/no-such-folder"), 5432, "postgres", DATABASE)
    process = PgbenchProcess(replace(run, address=nowhere))
    process.start()
    result = process.wait(PATIENCE)
    assert result.problems[0].code == "pgbench-failed"
    assert result.problems[0].detail.startswith("exit code 1; ")
    assert "connection to server" in result.problems[0].detail
    assert "tps" not in result.metrics


def test_a_missing_pgbench_is_told(run: PgbenchRun) -> None:
    gone = replace(run, pgbench=replace(run.pgbench, path=Path("/no/such/pgbench")))
    with pytest.raises(WorkloadError, match=r"/no/such/pgbench cannot be started: No such file"):
        PgbenchProcess(gone).start()


def test_a_crash_of_the_server_is_a_problem_and_no_exception(
    run: PgbenchRun, running_cluster: Cluster
) -> None:
    process = PgbenchProcess(replace(run, duration=Seconds(60)))
    process.start()
    assert not process.ended_within(1.3), "it has counted transactions by now"
    # Asked now and not at the start, when it may be the connection by which pgbench learns of its
    # data.
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1"
    with running_cluster.connect() as connection:
        found = connection.execute(query).fetchone()
    assert found is not None
    os.kill(found[0], signal.SIGKILL)
    result = process.wait(PATIENCE)
    assert [problem.code for problem in result.problems] == ["pgbench-failed"]
    assert "exit code 2; client" in result.problems[0].detail
    assert result.latencies is not None
    assert result.latencies.count > 0
    _wait_for_recovery(running_cluster)


def test_stop_ends_pgbench_and_leaves_no_log(run: PgbenchRun) -> None:
    process = PgbenchProcess(replace(run, duration=Seconds(60)))
    process.start()
    pid = process.pid
    assert not process.ended_within(1.2)
    process.stop()
    assert not psutil.pid_exists(pid)
    assert not list(run.folder.glob("transactions.*"))
    result = process.wait()
    assert result.problems[0].detail == "stopped"
    process.stop()


def test_a_frozen_pgbench_is_stopped_after_the_timeout(
    run: PgbenchRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgbench_module, "STOP_SECONDS", 0.5)
    process = PgbenchProcess(replace(run, duration=Seconds(1), script=script("SELECT 1;\n")))
    process.start()
    os.kill(process.pid, signal.SIGSTOP)
    started = time.monotonic()
    result = process.wait(1)
    assert time.monotonic() - started < PATIENCE
    assert result.problems[0].detail == "stopped: it had not ended after 1 s"
    assert not psutil.pid_exists(process.pid)


def test_pgbench_does_not_outlive_this_program(run: PgbenchRun) -> None:
    """A child of ours that starts pgbench and is killed with -9 takes pgbench with it."""
    program = (
        "import pickle, sys, time\n"
        "from teiten.kinds.pgbench.load.process import PgbenchProcess\n"
        "process = PgbenchProcess(pickle.load(sys.stdin.buffer))\n"
        "process.start()\n"
        "print(process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(pickle.dumps(replace(run, duration=Seconds(600))))
        parent.stdin.close()
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.kill()
    _wait_until(lambda: not psutil.pid_exists(pid) or _is_zombie(pid))


def _is_zombie(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _wait_for_recovery(cluster: Cluster) -> None:
    def answers() -> bool:
        try:
            cluster.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    _wait_until(answers)
