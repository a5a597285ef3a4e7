"""Root's Teiten works where the servers' user may change everything: a script of a stranger puts
links, FIFOs, sockets and folders in the place of every file, at every step, and root neither reads
nor writes through them, nor waits for them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from teiten.errors import ServerError, TeitenError, UsageError
from teiten.execute.postgres import elsewhere
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.marker import (
    MARKER_NAME,
    Kind,
    folder_bytes,
    mark,
    new_folder,
    read_marker,
)
from teiten.execute.postgres.modules import build_module
from teiten.execute.postgres.remains import is_alive, server_processes
from teiten.execute.postgres.sweep import sweep
from teiten.execute.postgres.templates.clone import clone_tree
from teiten.execute.postgres.templates.copy_methods import CopyMethod
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.page_cache import evict_files
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.study import Script
from teiten.model.trial import Outcome
from tests.fixtures.campaigns import Teiten
from tests.fixtures.servers import ClusterKit, left_processes
from tests.fixtures.storms import assert_secret_is_kept
from tests.fixtures.stranger import (
    KINDS,
    SECRET,
    Canary,
    Stranger,
    listening,
    nothing_hangs,
    put_back,
)
from tests.postgres.test_sweep import disown

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
]
FILES = (
    "postgresql.conf",
    "postgresql.initdb.conf",
    "postgresql.auto.conf",
    "pg_hba.conf",
    "postmaster.pid",
    "PG_VERSION",
    "base",
    "global",
)
STUDY = """
[study]
name = "stranger"
title = "A stranger's study"
question = "What does root do?"
purpose = "To be a test."
contrast = "server"

[factors]
server = ["old", "new"]
clients = [1]

[servers]
old = {server}
new = {server}

{workloads}

[settings.shared_buffers]
value = "64MB"
reason = "enough for scale 1"

[measure]
duration = "1s"
warmup = "0s"
settle = "0s"
blocks = {blocks}
disturbed_share = "100%"
"""
WORKLOAD = """
[[workloads]]
name = "changes-{changes_data}"
title = "theirs"
description = "Theirs."
script = {script}
scale = 1
changes_data = {changes_data}
"""
REPLACING = """
COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; ln -sfn {file} postgresql.conf';
\\sleep 50 ms
"""


@pytest.fixture
def canary(workdir: Workdir) -> Iterator[Canary]:
    canary = Canary.put(workdir.root / "canary")
    yield canary
    canary.assert_untouched()


@pytest.fixture
def server(installation_any: Installation) -> str:
    return str(installation_any.bin_directory)


@pytest.fixture
def stranger(canary: Canary) -> Stranger:
    return Stranger(server_user(), canary)


def study_of(
    teiten: Teiten, server: str, script: str, changing: Sequence[bool] = (True, False)
) -> Path:
    """A study of one script. Where data are changed, each trial has a fresh copy; else the cluster
    is kept for the next."""
    study = teiten.workdir.root / "stranger.toml"
    workloads = "".join(
        WORKLOAD.format(script=json.dumps(script), changes_data=str(one).lower())
        for one in changing
    )
    blocks = 2 if False in changing else 1
    study.write_text(STUDY.format(server=json.dumps(server), workloads=workloads, blocks=blocks))
    return study


def run_study(teiten: Teiten, study: Path) -> int:
    done = teiten.run("run", study)
    assert "defect" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert not left_processes([teiten.workdir.root])
    assert not list(teiten.workdir.clusters.iterdir())
    return done.returncode


def assert_a_replaced_file_failed_each_trial(teiten: Teiten) -> None:
    """Of each workload: its own, or its partner's."""
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        workloads = {trial.number: trial.cell.workload for trial in ledger.plan.trials}
    codes: dict[str, set[str]] = {workload: set() for workload in workloads.values()}
    for trial in teiten.trials():
        assert trial.outcome is Outcome.FAILED
        codes[workloads[trial.number]] |= {problem.code for problem in trial.problems}
    assert len(codes) == 2
    for found in codes.values():
        assert "replaced-file" in found
        assert found <= {"replaced-file", "partner"}


def test_a_link_in_the_place_of_the_configuration(
    teiten: Teiten, server: str, canary: Canary
) -> None:
    """A fresh copy for each trial: its file is copied into the evidence. One that is kept: it is
    written by the next start."""
    assert run_study(teiten, study_of(teiten, server, REPLACING.format(file=canary.file))) == 4
    assert_a_replaced_file_failed_each_trial(teiten)
    canary.assert_untouched()
    assert_secret_is_kept(teiten.workdir.campaigns, canary)


@pytest.mark.pg(">=18")  # no server has a part in it
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_replaced_before_a_start(
    stopped_cluster: Cluster, stranger: Stranger, workdir: Workdir, kind: str
) -> None:
    data = stopped_cluster.data_directory
    for name in FILES:
        with put_back(data / name), nothing_hangs():
            assert stranger.replace(data / name, kind), name
            with contextlib.suppress(UnsafePlaceError):
                stopped_cluster.read_configuration()
            with contextlib.suppress(ServerError):
                stopped_cluster.restore_configuration()
            with contextlib.suppress(ServerError):
                clone_tree(
                    data,
                    workdir.root / "copy",
                    user=stranger.user,
                    method=CopyMethod.PARALLEL_COPY,
                    sync=False,
                )
            evict_files(data)
            folder_bytes(data.parent)
            server_processes(data)
            if (workdir.root / "copy").exists():
                stranger.canary.assert_untouched()
                assert_secret_is_kept(workdir.root / "copy", stranger.canary)
                os.rename(workdir.root / "copy", workdir.root / f"copy-{name}")  # noqa: PTH104
            stranger.canary.assert_untouched()


@pytest.mark.pg(">=18")
@pytest.mark.parametrize("kind", ["link to a file", "FIFO", "socket", "folder"])
def test_a_start_among_replaced_files(
    stopped_cluster: Cluster, stranger: Stranger, kind: str
) -> None:
    """It starts, or it is told in words why not; it neither hangs nor leaves a server."""
    data = stopped_cluster.data_directory
    for name in ("postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "postmaster.pid"):
        with put_back(data / name), nothing_hangs():
            assert stranger.replace(data / name, kind)
            with contextlib.suppress(ServerError):
                stopped_cluster.start(timeout=2)
            stopped_cluster.stop(immediately=True, immediate_timeout=3)
            assert server_processes(data) == []
            stranger.canary.assert_untouched()


@pytest.mark.pg(">=18")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_replaced_under_a_running_server(
    cluster_kit: ClusterKit,
    server_installation: Installation,
    workdir: Workdir,
    stranger: Stranger,
    kind: str,
) -> None:
    cluster = cluster_kit.make(server_installation, workdir.clusters / "test")
    cluster.start()
    sockets = cluster.socket_directory
    for name in FILES:
        assert stranger.replace(cluster.data_directory / name, kind), name
    for path in list(sockets.iterdir()):
        assert stranger.replace(path, kind)
    # What is not his stays what it is.
    for path in (
        cluster.data_directory,
        cluster.log,
        cluster.data_directory.parent / MARKER_NAME,
        cluster.data_directory.parent / "server.json",
        sockets,
        sockets.parent / MARKER_NAME,
    ):
        assert not stranger.replace(path, kind), path
    with nothing_hangs():
        with contextlib.suppress(UnsafePlaceError):
            assert SECRET.encode() not in (cluster.read_configuration() or b"")
        assert b"ready to accept connections" in cluster.read_log()
        cluster.remove()
    assert not cluster.data_directory.parent.exists()
    assert left_processes([workdir.root]) == []
    stranger.canary.assert_untouched()


@pytest.mark.pg(">=17")
def test_a_forged_pid_gets_no_signal(stopped_cluster: Cluster, stranger: Stranger) -> None:
    victim = psutil.Popen(["sleep", "60"], cwd="/")
    try:
        (stopped_cluster.data_directory / "postmaster.pid").write_text(f"{victim.pid}\n\n\n1\n")
        disown(stopped_cluster.data_directory.parent)
        workdir = Workdir(stopped_cluster.data_directory.parents[2])
        assert f"removed the left folder {stopped_cluster.data_directory.parent}" in sweep(workdir)
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.pg(">=17")
def test_a_program_that_a_server_started_ends_with_it(
    running_cluster: Cluster,
) -> None:
    note = running_cluster.data_directory / "sleeper"
    program = f"echo $$ >{note}.new; mv {note}.new {note}; exec sleep 600"

    def copy() -> None:
        with contextlib.suppress(psycopg.Error), running_cluster.connect() as connection:
            connection.execute(f"COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; {program}'")

    with nothing_hangs(), ThreadPoolExecutor(1) as thread:
        thread.submit(copy)
        while not note.exists():
            time.sleep(0.02)
        program_itself = psutil.Process(int(note.read_text()))
        assert is_alive(program_itself)
        running_cluster.stop(immediately=True)
    assert not is_alive(program_itself)


@pytest.mark.pg(">=17")
def test_root_speaks_to_no_other_server(running_cluster: Cluster, stranger: Stranger) -> None:
    """The socket becomes a link to one of somebody else's."""
    path = running_cluster.socket_directory / f".s.PGSQL.{running_cluster.port}"
    with listening(stranger.canary.folder.parent / "socket") as other, nothing_hangs():
        path.unlink()
        path.symlink_to(other)
        other.chmod(0o777)
        with pytest.raises(psycopg.OperationalError, match="requirepeer"):
            running_cluster.connect()


@pytest.mark.pg(">=18")  # no server has a part in it
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_in_a_folder_of_theirs(
    cluster_kit: ClusterKit,
    server_installation: Installation,
    workdir: Workdir,
    stranger: Stranger,
    kind: str,
) -> None:
    """The factor ``directory`` names one that the servers' user owns: he moves the cluster's folder
    away and puts something else there, with a marker and a trace of his own."""
    theirs = workdir.root / "theirs"
    theirs.mkdir()
    os.chown(theirs, stranger.user.uid or 0, stranger.user.gid or 0)
    folder = theirs / "teiten-cluster"
    elsewhere.note(workdir, folder)
    cluster = cluster_kit.make(server_installation, folder)
    disown(folder)
    assert stranger.replace(folder, kind)
    if kind == "folder":
        forged = (workdir.root / "theirs" / "teiten-cluster.away" / MARKER_NAME).read_text()
        (folder / MARKER_NAME).write_text(forged)
        os.chown(folder / MARKER_NAME, stranger.user.uid or 0, stranger.user.gid or 0)
    with nothing_hangs():
        assert read_marker(folder) is None
        with pytest.raises(TeitenError):
            cluster.start(timeout=2)
        for reading in (cluster.read_log, cluster.read_configuration, cluster.log_size):
            with contextlib.suppress(ServerError):
                reading()
        with pytest.raises(TeitenError):
            Cluster.adopt(
                server_installation, folder / "data", user=stranger.user, log=folder / "log"
            )
        with pytest.raises(TeitenError):
            new_folder(folder, Kind.CLUSTER)
        with pytest.raises(UsageError):
            cluster.remove()
        assert all(str(folder) not in line for line in sweep(workdir))
    stranger.canary.assert_untouched()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [MARKER_NAME, "server.json"])
def test_a_marker_or_a_trace_that_is_something_else(
    workdir: Workdir, stranger: Stranger, name: str, kind: str
) -> None:
    """Also where the folder is his: a FIFO in place of a marker does not hold up a run."""
    user = stranger.user
    for room in (workdir.clusters, workdir.templates, workdir.builds):
        folder = room / "theirs"
        folder.mkdir()
        mark(folder, Kind.CLUSTER)
        disown(folder)
        os.chown(folder, user.uid or 0, user.gid or 0)
        assert stranger.replace(folder / name, kind)
        with nothing_hangs():
            assert all(str(folder) not in line for line in sweep(workdir))
        assert folder.exists()
        os.chown(folder, 0, 0)
        with nothing_hangs():
            done = sweep(workdir)
        removed = f"removed the left folder {folder}" in done
        assert removed == (name != MARKER_NAME)
        stranger.canary.assert_untouched()


def test_a_folder_of_any_depth_is_removed(workdir: Workdir, stranger: Stranger) -> None:
    folder = workdir.clusters / "deep"
    new_folder(folder, Kind.CLUSTER)
    disown(folder)
    (folder / "data").mkdir()
    back = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder / "data")
        for _ in range(1500):
            os.mkdir("d")  # noqa: PTH102 - relative: the whole path is too long for the system
            os.chdir("d")
        os.symlink(stranger.canary.folder, "link")  # noqa: PTH211
    finally:
        os.fchdir(back)
        os.close(back)
    with nothing_hangs():
        assert folder_bytes(folder) >= 0
        assert evict_files(folder / "data") is False
        assert f"removed the left folder {folder}" in sweep(workdir)
    assert not folder.exists()


def test_a_hard_link_to_a_file_of_roots(workdir: Workdir, canary: Canary) -> None:
    """Not every system forbids it, so it is made here by root."""
    user = server_user()
    source = workdir.root / "source"
    source.mkdir()
    (source / "postgresql.conf").hardlink_to(canary.file)
    os.chown(source, user.uid or 0, user.gid or 0)
    with pytest.raises(UnsafePlaceError, match="belongs to user 0"):
        clone_tree(source, workdir.root / "copy", user=user, method=CopyMethod.PARALLEL_COPY)
    assert evict_files(source) is False
    (source / "postgresql.conf").unlink()
    assert not (workdir.root / "copy").exists()


PGXS = """%.so: %.c
\tcc -shared -fPIC -o $@ $<
"""
PG_CONFIG = """#!/bin/sh
case $1 in --pgxs) echo {folder}/pgxs.mk;; *) echo {folder};; esac
"""


@pytest.mark.skipif(
    shutil.which("cc") is None or shutil.which("make") is None, reason="no cc, make"
)
def test_c_functions_of_a_study_are_compiled_as_the_servers_user(
    installation_any: Installation, workdir: Workdir, canary: Canary
) -> None:
    """What a source includes becomes part of a library, or of a message. The server's own headers
    have no part in it: those of another make a library all the same."""
    folder = workdir.root / "server"
    (folder / "bin").mkdir(parents=True)
    (folder / "postgres.h").touch()
    (folder / "pgxs.mk").write_text(PGXS)
    (folder / "bin" / "pg_config").write_text(PG_CONFIG.format(folder=folder))
    (folder / "bin" / "pg_config").chmod(0o755)
    server = replace(installation_any, bin_directory=folder / "bin", library_path=None)
    modules = workdir.campaigns / "stranger" / "modules"
    for number, text in enumerate(
        (f'__asm__(".incbin \\"{canary.file}\\"");', f'#include "{canary.file}"')
    ):
        with pytest.raises(ServerError, match=r"compiling theirs\.c for") as caught:
            build_module(server, Script("theirs.c", False, text), modules / str(number))
        assert SECRET not in caught.value.message
        canary.assert_untouched()
    for _ in range(2):  # a campaign that is resumed compiles again
        made = build_module(server, Script("ours.c", False, "int one(void);"), modules / "right")
        assert made.stat().st_uid == server_user().uid
