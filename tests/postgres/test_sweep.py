"""What a killed Teiten leaves is ended and removed, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.marker import MARKER_NAME, Kind, mark, new_folder
from teiten.execute.postgres.remains import read_trace, server_processes
from teiten.execute.postgres.sweep import sweep
from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.orphans import (
    may_make_pid_namespaces,
    server_in_another_container,
    start_and_kill,
)


def wait_until_ended(data: Path) -> None:
    deadline = time.monotonic() + 120
    while server_processes(data) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server_processes(data) == []


def disown(folder: Path) -> None:
    """Make a marked folder one of a Teiten that has died."""
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    marker = json.loads((folder / MARKER_NAME).read_text())
    marker["pid"], marker["process_started"] = dead.pid, 1.0
    (folder / MARKER_NAME).write_text(json.dumps(marker))


@pytest.mark.pg(">=9.6")
def test_a_server_ends_with_its_teiten(server_installation: Installation, workdir: Workdir) -> None:
    data = workdir.clusters / "killed" / "data"
    sockets = start_and_kill(server_installation, data, survives=False)
    wait_until_ended(data)  # by the parent-death signal, without a sweep
    done = sweep(workdir)
    assert f"removed the left folder {data.parent}" in done
    assert not data.parent.exists()
    assert not sockets.exists()


@pytest.mark.pg(">=9.6")
def test_a_server_that_outlived_its_teiten_is_ended(
    server_installation: Installation, workdir: Workdir
) -> None:
    data = workdir.clusters / "orphan" / "data"
    sockets = start_and_kill(server_installation, data, survives=True)
    assert server_processes(data)
    trace = read_trace(data.parent)
    assert trace is not None
    done = sweep(workdir)
    assert f"ended the server that was left in {data}" in done
    assert server_processes(data) == []
    assert not data.parent.exists()
    assert not sockets.exists()
    assert not any(Path(name).exists() for name in trace.shared_memory_files)


@pytest.mark.pg(">=18")
def test_a_living_teitens_server_is_left_alone(running_cluster: Cluster, workdir: Workdir) -> None:
    sweep(workdir)
    assert running_cluster.is_running()
    with running_cluster.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.pg(">=18")
@pytest.mark.skipif(not may_make_pid_namespaces(), reason="no pid namespace can be made here")
def test_a_server_of_a_teiten_in_another_container_goes_on(
    server_installation: Installation, workdir: Workdir
) -> None:
    """As where two containers share a volume: neither sees the other's processes by their pids."""
    data = workdir.clusters / "elsewhere" / "data"
    with server_in_another_container(server_installation, data):
        for ending in (False, True):
            assert not any(str(data.parent) in line for line in sweep(workdir, ending=ending))
        assert server_processes(data)
        assert (data / "PG_VERSION").exists()
    wait_until_ended(data)
    assert f"removed the left folder {data.parent}" in sweep(workdir)


@pytest.mark.pg(">=18")
def test_an_unmarked_server_is_left_alone(running_cluster: Cluster, workdir: Workdir) -> None:
    folder = running_cluster.data_directory.parent
    marker = (folder / MARKER_NAME).read_text()
    (folder / MARKER_NAME).unlink()
    assert all(str(folder) not in line for line in sweep(workdir))
    assert running_cluster.is_running()
    (folder / MARKER_NAME).write_text(marker)


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"what": "cluster"}', "[1]"])
def test_a_folder_with_a_marker_that_is_not_ours_stays(workdir: Workdir, content: str) -> None:
    folder = workdir.clusters / "theirs"
    folder.mkdir()
    (folder / MARKER_NAME).write_text(content)
    (folder / "letter.txt").touch()
    assert all(str(folder) not in line for line in sweep(workdir))
    assert (folder / "letter.txt").exists()


def test_a_link_to_a_marked_folder_stays(workdir: Workdir, session_folder: Path) -> None:
    target = session_folder / "linked"
    new_folder(target, Kind.CLUSTER)
    disown(target)
    (workdir.clusters / "link").symlink_to(target)
    sweep(workdir)
    assert (target / MARKER_NAME).exists()


def test_a_template_stays_and_a_build_cut_off_goes(workdir: Workdir) -> None:
    finished, partial = workdir.templates / "finished", workdir.templates / "building-x"
    new_folder(finished, Kind.TEMPLATE)
    new_folder(partial, Kind.TEMPLATE_BUILD)
    (partial / "data").mkdir()
    for folder in (finished, partial):
        disown(folder)
    assert f"removed the left folder {partial}" in sweep(workdir)
    assert finished.exists()
    assert not partial.exists()


def test_a_shell_in_the_data_folder_is_not_killed(workdir: Workdir) -> None:
    data = workdir.clusters / "left" / "data"
    new_folder(data.parent, Kind.CLUSTER)
    data.mkdir()
    disown(data.parent)
    with subprocess.Popen(["sleep", "60"], cwd=data) as shell:
        sweep(workdir)
        assert shell.poll() is None
        shell.kill()


def test_a_pid_that_is_used_again_is_another_process(workdir: Workdir) -> None:
    folder = workdir.clusters / "old"
    new_folder(folder, Kind.CLUSTER)
    marker = json.loads((folder / MARKER_NAME).read_text())
    assert marker["pid"] == os.getpid()
    marker["process_started"] -= 3600
    (folder / MARKER_NAME).write_text(json.dumps(marker))
    assert f"removed the left folder {folder}" in sweep(workdir)


def test_a_socket_folder_keeps_what_is_not_a_servers(workdir: Workdir) -> None:
    folder = Path(tempfile.mkdtemp(prefix="teiten-"))
    mark(folder, Kind.SOCKETS)
    disown(folder)
    for name in (".s.PGSQL.5432", ".s.PGSQL.5432.lock", "mine"):
        (folder / name).touch()
    sweep(workdir)
    assert [path.name for path in folder.iterdir()] == ["mine"]
    shutil.rmtree(folder)


def test_a_note_that_was_being_written_is_removed(workdir: Workdir) -> None:
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    for folder in (workdir.clusters, workdir.attached):
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".teiten-{dead.pid}-0123abcd"
        unfinished.touch()
        os.utime(unfinished, (0, 0))
    sweep(workdir)
    assert not [*workdir.clusters.iterdir(), *workdir.attached.iterdir()]
