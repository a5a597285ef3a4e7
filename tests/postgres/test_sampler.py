"""The sampler against real servers: what it counts, and that no server can break it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from teiten.execute.postgres.cluster import Cluster
from teiten.execute.probes.columns import POSTGRES
from teiten.execute.probes.postgres import statements
from teiten.execute.probes.procfs import parse_process
from teiten.execute.probes.sampler import Sampler, Sampling, open_reader
from teiten.host.facts.disks import block_devices
from teiten.kinds.metrics import by_name

pytestmark = [
    pytest.mark.pg(),
    pytest.mark.disk,
    pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs Linux's /proc"),
]
newest = pytest.mark.pg(">=18")
"""Where the server's version has no part in it."""
DATABASE = "postgres"
CORES = os.cpu_count() or 1


def sampler_of(cluster: Cluster, **changes: object) -> Sampler:
    options: dict[str, object] = {
        "conninfo": cluster.conninfo(DATABASE),
        "version": cluster.installation.version,
        "reader": open_reader((cluster.pid or 0,), block_devices(cluster.data_directory)),
    }
    return Sampler(**{**options, **changes})  # type: ignore[arg-type]


def column(sampling: Sampling, source: str, name: str) -> list[float]:
    series = next(one for one in sampling.series if one.source == source)
    return [float(value) for value in series.columns[name]]


def sources(sampling: Sampling) -> set[str]:
    return {series.source for series in sampling.series}


@contextmanager
def blocked_backend(cluster: Cluster) -> Iterator[None]:
    """A session that waits for a lock."""
    with cluster.connect(DATABASE) as holder, cluster.connect(DATABASE) as waiter:
        holder.execute("BEGIN")
        holder.execute("LOCK TABLE held")
        thread = threading.Thread(target=lambda: waiter.execute("TABLE held"))
        thread.start()
        while not holder.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            time.sleep(0.02)
        yield
        holder.execute("ROLLBACK")
        thread.join()


def test_a_window_holds_what_happened_in_it(running_cluster: Cluster) -> None:
    with running_cluster.connect(DATABASE) as connection:
        connection.execute("CREATE TABLE held (n int, filler text)")
        connection.execute("CHECKPOINT")
        sampler = sampler_of(running_cluster)
        sampler.start()
        connection.execute(
            "INSERT INTO held SELECT n, repeat('x', 500) FROM generate_series(1, 20000) n"
        )
        connection.execute("CHECKPOINT")
        with blocked_backend(running_cluster):
            time.sleep(2.3)  # some samples see it, however long the rows took
        sampling = sampler.stop()
    metrics = sampling.metrics
    assert sampling.cautions == ()
    assert set(metrics) <= set(by_name())
    assert {"os", "cpu:0", "postgres", "waits"} <= sources(sampling)
    # 20000 rows of 500 bytes
    assert 10e6 < metrics["wal_bytes"] < 100e6
    assert metrics["checkpoints"] >= 1
    assert metrics["buffers_written_by_checkpointer"] >= 0
    assert metrics["blocks_hit"] >= 0
    assert 0 < metrics["server_cpu_share"] <= 1
    assert metrics["disk_written_bytes"] >= 10e6 or "disk_written_bytes" not in metrics
    assert max(column(sampling, "waits", "Lock:relation")) == pytest.approx(1)
    assert sum(column(sampling, "postgres", "wal_bytes_per_second")) > 0
    assert sampler.stop() is sampling


def test_every_counter_of_this_version_becomes_a_column(running_cluster: Cluster) -> None:
    sampler = sampler_of(running_cluster, interval=0.2)
    sampler.start()
    time.sleep(0.5)
    sampling = sampler.stop()
    texts = " ".join(statements(running_cluster.installation.version).values())
    expected = {one.name for one in POSTGRES if f"AS {one.counter}" in texts}
    series = next(one for one in sampling.series if one.source == "postgres")
    assert set(series.columns) == expected


@newest
def test_samples_stand_a_second_apart(running_cluster: Cluster) -> None:
    sampler = sampler_of(running_cluster)
    begun = time.monotonic()
    sampler.start()
    time.sleep(4.1)
    sampling = sampler.stop()
    longest = time.monotonic() - begun
    for series in sampling.series:
        # A busy machine takes one late, and leaves out what it is too late for.
        seconds = list(series.seconds)
        assert seconds[0] > 0.98 and seconds == sorted(seconds), series.source
        assert 3 <= len(seconds) <= longest + 1, series.source  # the end of the window too
    assert all(0 <= value <= 1.01 for value in column(sampling, "os", "cpu_idle_share"))


@newest
def test_the_time_of_a_backend_that_ended_is_the_servers(running_cluster: Cluster) -> None:
    sampler = sampler_of(running_cluster)
    start = time.monotonic()
    sampler.start()
    with running_cluster.connect(DATABASE) as connection:
        connection.execute("SELECT count(*) FROM generate_series(1, 3000000)")
        record = parse_process(Path(f"/proc/{connection.info.backend_pid}/stat").read_bytes())
    time.sleep(0.3)
    share = sampler.stop().metrics["server_cpu_share"]
    seconds = time.monotonic() - start  # a little more than the window's
    used = record.own / os.sysconf("SC_CLK_TCK")
    assert used > 0.05
    assert share * seconds * CORES >= 0.9 * used


@newest
def test_a_server_that_is_killed_costs_a_caution_and_no_sample_of_the_machine(
    running_cluster: Cluster,
) -> None:
    sampler = sampler_of(running_cluster, interval=0.2)
    begun = time.monotonic()
    sampler.start()
    time.sleep(0.3)
    assert running_cluster.pid is not None
    os.kill(running_cluster.pid, signal.SIGKILL)
    killed = time.monotonic() - begun
    time.sleep(1.5)
    sampling = sampler.stop()
    assert "wal_bytes" not in sampling.metrics
    assert "cpu_idle_share" in sampling.metrics
    (caution,) = sampling.cautions
    assert caution.code == "telemetry-missing"
    assert dict(caution.values)["source"] == "postgres"
    (machine,) = (one for one in sampling.series if one.source == "os")
    assert machine.seconds[-1] > killed, "the machine is looked at on and on"


@newest
def test_a_backend_that_hangs_does_not_hang_us(running_cluster: Cluster) -> None:
    sampler = sampler_of(running_cluster, interval=0.2)
    sampler.start()
    with running_cluster.connect(DATABASE) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'teiten-sampler'"
        ).fetchone()
    assert found is not None
    (pid,) = found
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(0.3)
        sampling = sampler.stop()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert {dict(caution.values)["source"] for caution in sampling.cautions} == {"postgres"}
    assert "server did not answer" in str(sampling.cautions)
    assert "server_cpu_share" in sampling.metrics
    left = [one.name for one in threading.enumerate() if one.name.startswith("teiten-")]
    assert left == []


@newest
def test_a_server_that_cannot_be_reached_costs_a_caution(running_cluster: Cluster) -> None:
    wrong = psycopg.conninfo.make_conninfo(running_cluster.conninfo(DATABASE), dbname="nowhere")
    sampler = sampler_of(running_cluster, conninfo=wrong, interval=0.2)
    sampler.start()
    time.sleep(0.3)
    sampling = sampler.stop()
    (caution,) = sampling.cautions
    assert '"nowhere" does not exist' in dict(caution.values)["reason"]
    assert "cpu_idle_share" in sampling.metrics
    assert "waits" not in sources(sampling)


def test_a_user_without_rights_still_samples(running_cluster: Cluster) -> None:
    with running_cluster.connect(DATABASE) as connection:
        connection.execute("CREATE ROLE plain LOGIN")
    plain = psycopg.conninfo.make_conninfo(running_cluster.conninfo(DATABASE), user="plain")
    sampler = sampler_of(running_cluster, conninfo=plain, interval=0.2)
    sampler.start()
    time.sleep(0.5)
    sampling = sampler.stop()
    assert {"wal_bytes", "blocks_hit", "checkpoints"} <= set(sampling.metrics)
