"""Clusters of real servers: made, started, configured, stopped."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.postgres.cluster import ALTERED, Cluster, StartOptions, StopManner
from teiten.execute.postgres.remains import is_alive, read_trace, server_processes
from teiten.execute.postgres.server_log import scan
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation
from teiten.model.study import Setting
from teiten.model.text import Bilingual

PATIENCE = 120.0
"""Seconds."""


def setting(name: str, value: str) -> Setting:
    return Setting(name, value, Bilingual("a test", "試験"), "test")


def show(cluster: Cluster, name: str) -> str:
    with cluster.connect() as connection:
        row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.pg(">=9.6")
@pytest.mark.parametrize("checksums", [True, False])
def test_a_new_cluster_is_as_asked(
    server_installation: Installation, workdir: Workdir, checksums: bool
) -> None:
    folder = workdir.clusters / "new"
    cluster = Cluster.create(
        server_installation,
        folder / "data",
        user=server_user(),
        checksums=checksums,
        log=folder / "server.log",
    )
    try:
        cluster.start()
        assert show(cluster, "data_checksums") == ("on" if checksums else "off")
        assert show(cluster, "server_encoding") == "UTF8"
        assert show(cluster, "lc_messages") == "C"
        with cluster.connect() as connection:
            row = connection.execute(
                "SELECT datcollate, datctype FROM pg_database WHERE datname = 'postgres'"
            ).fetchone()
        assert row == ("C", "C")
        assert cluster.stop() is StopManner.FAST
        assert scan(cluster.log.read_text()) == ()
    finally:
        cluster.remove()
    assert not folder.exists()


@pytest.mark.pg(">=9.6")
def test_settings_reach_the_server_and_initdbs_choices_stay(stopped_cluster: Cluster) -> None:
    value = r"it's a \ test"
    stopped_cluster.configure([setting("work_mem", "7MB"), setting("teiten.text", value)])
    stopped_cluster.start()
    assert show(stopped_cluster, "work_mem") == "7MB"
    assert show(stopped_cluster, "teiten.text") == value
    assert show(stopped_cluster, "shared_buffers") == "128MB"
    text = (stopped_cluster.data_directory / "postgresql.conf").read_text()
    assert "# a test [test]\nwork_mem = '7MB'" in text


@pytest.mark.pg(">=9.6")
def test_only_a_private_socket_is_open(running_cluster: Cluster) -> None:
    folder, pid = running_cluster.socket_directory, running_cluster.pid
    assert pid is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    sockets = psutil.Process(pid).net_connections("inet")
    assert [socket for socket in sockets if socket.status == psutil.CONN_LISTEN] == []
    running_cluster.stop()
    assert not folder.exists()
    assert not psutil.pid_exists(pid)


@pytest.mark.pg(">=13")
def test_it_starts_again_after_a_stop(running_cluster: Cluster) -> None:
    with running_cluster.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    running_cluster.stop()
    running_cluster.start()
    with running_cluster.connect() as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)


@pytest.mark.pg(">=9.6")
def test_nothing_of_alter_system_outlives_a_start(running_cluster: Cluster) -> None:
    """It is read last: a port would be open, in which everybody is trusted."""
    altered = {"listen_addresses": "127.0.0.1", "work_mem": "9MB"}
    with running_cluster.connect() as connection:
        for name, value in altered.items():
            connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
    running_cluster.stop()
    assert b"127.0.0.1" in (running_cluster.data_directory / ALTERED).read_bytes()
    running_cluster.start()
    assert [show(running_cluster, name) for name in altered] == ["", "4MB"]
    with running_cluster.connect() as connection:  # within a start it works as always
        connection.execute("ALTER SYSTEM SET work_mem = '9MB'")
        connection.execute("SELECT pg_reload_conf()")
    wait_until(lambda: show(running_cluster, "work_mem") == "9MB")
    running_cluster.stop()
    running_cluster.restore_configuration()
    assert (running_cluster.data_directory / ALTERED).read_bytes() == b""


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.pg(">=9.6")
def test_an_unknown_setting_is_named(stopped_cluster: Cluster) -> None:
    stopped_cluster.configure([setting("no_such_setting", "1")])
    with pytest.raises(ServerError, match="does not know the setting no_such_setting") as caught:
        stopped_cluster.start()
    assert "leave no_such_setting out" in caught.value.hint
    assert not stopped_cluster.is_running()


@pytest.mark.pg(">=9.6")
def test_a_wrong_value_is_named(stopped_cluster: Cluster) -> None:
    stopped_cluster.configure([setting("max_connections", "many")])
    with pytest.raises(ServerError, match="refuses the setting max_connections"):
        stopped_cluster.start()


@pytest.mark.pg(">=13")
def test_too_much_memory_is_told(stopped_cluster: Cluster) -> None:
    stopped_cluster.configure([setting("shared_buffers", "7TB"), setting("huge_pages", "on")])
    with pytest.raises(ServerError, match="did not start") as caught:
        stopped_cluster.start()
    assert "shared_buffers" in caught.value.hint


@pytest.mark.pg(">=18")
def test_a_server_that_does_not_become_ready_is_ended(stopped_cluster: Cluster) -> None:
    with pytest.raises(ServerError, match=r"did not start: no connection within 0 s"):
        stopped_cluster.start(timeout=0)
    assert server_processes(stopped_cluster.data_directory) == []


@pytest.mark.pg(">=18")
def test_a_taken_port_is_told(stopped_cluster: Cluster) -> None:
    port = 50_000 + os.getpid() % 10_000  # of this run: another may be on the same machine
    taken = Path(f"/tmp/.s.PGSQL.{port}")
    taken.touch()
    try:
        with pytest.raises(MachineError, match=f"port {port} is taken") as caught:
            stopped_cluster.start(StartOptions(port=port))
    finally:
        taken.unlink()
    assert "another port" in caught.value.hint
    stopped_cluster.start(StartOptions(port=port))
    assert stopped_cluster.port == port


@pytest.mark.pg(">=9.6")
def test_a_busy_server_stops_fast_and_a_hanging_one_is_killed(running_cluster: Cluster) -> None:
    with running_cluster.connect() as connection:
        backend = psutil.Process(connection.info.backend_pid)
        backend.suspend()  # neither a fast nor an immediate shutdown ends it
        postmaster = running_cluster.pid
        assert postmaster is not None
        psutil.Process(postmaster).suspend()
        assert running_cluster.stop(0.2, immediate_timeout=0.2) is StopManner.KILL
    assert server_processes(running_cluster.data_directory) == []
    assert not is_alive(backend), "nobody may have reaped it yet, but it has ended"


@pytest.mark.pg(">=9.6")
def test_an_immediate_stop(running_cluster: Cluster) -> None:
    assert running_cluster.stop(immediately=True) is StopManner.IMMEDIATE
    assert running_cluster.stop() is StopManner.ENDED


@pytest.mark.pg(">=9.6")
def test_a_killed_postmaster_is_noticed_and_leaves_nothing(running_cluster: Cluster) -> None:
    pid = running_cluster.pid
    assert pid is not None
    trace = read_trace(running_cluster.data_directory.parent)
    assert trace is not None
    assert trace.pid == pid
    files = [Path(name) for name in trace.shared_memory_files]
    assert files
    assert all(file.exists() for file in files)
    with running_cluster.connect():
        psutil.Process(pid).kill()
        deadline = time.monotonic() + PATIENCE
        while running_cluster.is_running() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not running_cluster.is_running()
        assert running_cluster.stop() is StopManner.ENDED
    assert server_processes(running_cluster.data_directory) == []
    left = {line.split()[4] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}
    assert str(pid) not in left
    assert not any(file.exists() for file in files)


@pytest.mark.pg(">=9.6")
def test_a_killed_backend_is_a_crash_in_the_log(running_cluster: Cluster) -> None:
    with running_cluster.connect() as connection:
        psutil.Process(connection.info.backend_pid).kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(10)")
    _wait_until_it_is_back(running_cluster)  # 18.4 may hang on a fast end during its recovery
    running_cluster.stop()
    codes = {problem.code for problem in scan(running_cluster.log.read_text())}
    assert codes == {"server-crash"}


def _wait_until_it_is_back(cluster: Cluster) -> None:
    until = time.monotonic() + PATIENCE
    while cluster.read_log().count(b"ready to accept connections") < 2:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_folder_that_is_not_ours_is_refused(
    installation_any: Installation, workdir: Workdir
) -> None:
    folder = workdir.clusters / "theirs"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=r"theirs is not empty and was not made by Teiten"):
        Cluster.create(
            installation_any,
            folder / "data",
            user=server_user(),
            checksums=False,
            log=folder / "log",
        )
    with pytest.raises(UsageError, match="was not made by Teiten"):
        Cluster.adopt(installation_any, folder / "data", user=server_user(), log=folder / "log")
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]


def test_a_data_folder_with_files_is_refused(
    installation_any: Installation, workdir: Workdir
) -> None:
    data = workdir.clusters / "new" / "data"
    arguments = {"user": server_user(), "checksums": False, "log": data.parent / "log"}
    Cluster.create(installation_any, data, **arguments)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"the data folder .*data is not empty"):
        Cluster.create(installation_any, data, **arguments)  # type: ignore[arg-type]


@pytest.mark.pg(">=18")
@pytest.mark.skipif(sys.platform != "linux", reason="found in /proc")
def test_a_program_that_left_its_session_ends_with_the_server(running_cluster: Cluster) -> None:
    name = f"{running_cluster.data_directory}/left"
    with running_cluster.connect() as connection:
        command = f"setsid sh -c 'echo $$ >{name}; exec sleep 300' >/dev/null 2>&1 &"
        connection.execute(f"COPY (SELECT 1) TO PROGRAM $p$cat >/dev/null; {command}$p$")
    end = time.monotonic() + PATIENCE
    while not Path(name).exists() or not Path(name).read_text().strip():
        assert time.monotonic() < end
        time.sleep(0.01)
    left = psutil.Process(int(Path(name).read_text()))
    assert is_alive(left)
    running_cluster.stop()
    assert not is_alive(left)
