"""Campaigns of every kind in which a script's program replaces files at every step, on and on: by
links, hard links to root's, FIFOs, folders, forged pid files; and makes the server's log giant."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from teiten.host.system.paths import Workdir
from tests.fixtures.campaigns import Teiten
from tests.fixtures.stranger import SECRET, Canary
from tests.postgres.test_strangers import assert_secret_is_kept, run_study

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
]
SECONDS = 20
"""Of a storm: some steps of every trial, and the end of the campaign."""
STORM = """#!/bin/sh
# Replaces files of the data directory one after the other, on and on; one that goes on after its
# server has ended: it drops the mark by which it would be ended with it. Once only.
[ -z "$TEITEN_STARTED_BY" ] || exec env -u TEITEN_STARTED_BY "$0"
perl -e 'truncate(STDERR, 1 << 40)'  # the server's log, larger than any disk
mkdir {flag} 2>/dev/null || exit 0
(
    until [ -n "$(ls -d {awaited} 2>/dev/null)" ]; do sleep 0.1; done
    end=$(($(date +%s) + {seconds}))
    while [ $(date +%s) -lt $end ]; do
        for where in {folder}/clusters/*/data; do
            cd $where 2>/dev/null || continue
            for name in postgresql.conf postgresql.initdb.conf pg_hba.conf PG_VERSION; do
                ln -sfn {canary}/file $name; rm -rf $name; mkfifo $name; rm -rf $name
                ln {linked} $name; rm -rf $name
                mkdir $name; rm -rf $name; ln -sfn {canary} $name
            done
            rm -rf postmaster.pid
            printf '{victim}\\n%s\\n' $where >postmaster.pid
        done
    done
    touch {flag}/ended
) </dev/null >/dev/null &
"""
STUDY = """
[study]
name = "stranger"
title = "A stranger's study"
question = "What does root do?"
purpose = "To be a test."
contrast = "{contrast}"
[factors]
server = [{server}]
{factors}
[[workloads]]
name = "theirs"
title = "Theirs"
description = "Theirs."
{workload}
[settings.max_connections]
value = 20
reason = "few are needed"
[measure]
settle = "0s"
blocks = 2
disturbed_share = "100%"
"""
PGBENCH = """script = {script}
scale = 1
changes_data = false
"""
PROCEDURE = """kind = "procedure"
changes_data = true
counted = "SELECT count(*) FROM mine"
sized = "SELECT pg_total_relation_size('mine')"
[workloads.data]
script = {tables}
[[workloads.methods]]
name = "first"
title = "First"
steps = [{{ name = "storm", sql = {statement} }}]
[[workloads.methods]]
name = "second"
title = "Second"
setup = [{setup}]
steps = [{{ name = "insert", sql = "SELECT 1" }}]
"""
PROBES = """kind = "probes"
probes = [{probe}]
scale = 16
changes_data = false
[workloads.data]
kind = "probes"
[workloads.data.tables]
pages = {{ size = "10%" }}
"""
ARCHIVING = """[settings.wal_level]
value = "replica"
reason = "needed"
[settings.archive_mode]
value = "on"
reason = "needed"
[settings.archive_command]
value = {program}
reason = "a program of theirs"
"""
"""A probe's statements are all explained first, which those that start a program cannot be."""
PROBE = """title = "Theirs"
description = "Theirs."
number = {{ of = "read", take = "median" }}
[[steps]]
do = "execute"
name = "storm"
statement = "SELECT pg_switch_wal()"
[[steps]]
do = "measure"
name = "read"
table = "pages"
statement = "SELECT id FROM pages WHERE ctid = '({{block}},1)'"
statements = 100
"""


@dataclass(frozen=True)
class Storm:
    """A program that a statement of SQL starts."""

    folder: Path
    """That other users may enter."""
    canary: Canary
    linked: Path
    """A file of root's alone that others can link to, where the system lets them."""
    victim: psutil.Popen
    awaited: str = "/"
    """What must be there before it begins."""

    @property
    def flag(self) -> Path:
        return Path("/tmp", f"storm-{self.folder.name}")

    @property
    def statement(self) -> str:
        return f"COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; {self.program}'"

    @property
    def program(self) -> Path:
        program = self.folder / "storm.sh"
        program.write_text(
            STORM.format(
                flag=self.flag,
                folder=self.folder,
                awaited=self.awaited,
                seconds=SECONDS,
                canary=self.canary.folder,
                linked=self.linked,
                victim=self.victim.pid,
            )
        )
        program.chmod(0o755)
        return program

    def assert_harmless(self) -> None:
        self.canary.assert_untouched()
        status = self.linked.stat()
        assert (status.st_uid, status.st_mode & 0o777) == (0, 0o600)
        assert self.linked.read_text() == SECRET
        assert self.victim.poll() is None, "a forged pid file had it ended"


@pytest.fixture
def storm(workdir: Workdir) -> Iterator[Storm]:
    linked = workdir.root / "linked"
    linked.write_text(SECRET)
    linked.chmod(0o600)
    victim = psutil.Popen(["sleep", "600"], cwd="/")
    storm = Storm(workdir.root, Canary.put(workdir.root / "canary"), linked, victim)
    try:
        yield storm
        deadline = time.monotonic() + 120
        while not (storm.flag / "ended").exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert (storm.flag / "ended").exists(), "the statement was run"
        storm.assert_harmless()
    finally:
        shutil.rmtree(storm.flag, ignore_errors=True)
        victim.kill()
        victim.wait()


def pgbench_study(storm: Storm, server: str) -> str:
    script = storm.folder / "theirs.sql"
    script.write_text(f"{storm.statement};\nSELECT 1;\n\\sleep 10 ms\n")
    workload = PGBENCH.format(script=json.dumps(str(script)))
    factors = 'clients = [1]\n"guc:work_mem" = ["4MB", "8MB"]'
    study = STUDY.format(contrast="guc:work_mem", server=server, factors=factors, workload=workload)
    return f'{study}duration = "2s"\nwarmup = "0s"\n'


def procedure_study(storm: Storm, server: str) -> str:
    tables = storm.folder / "tables.sql"
    tables.write_text("CREATE TABLE mine (x int);\n")
    workload = PROCEDURE.format(
        tables=json.dumps(str(tables)),
        statement=json.dumps(storm.statement),
        setup=json.dumps(f"{storm.statement};"),
    )
    return STUDY.format(contrast="method", server=server, factors="", workload=workload)


def probes_study(storm: Storm, server: str) -> str:
    probe = storm.folder / "theirs.toml"
    probe.write_text(PROBE.format())
    study = STUDY.format(
        contrast="guc:shared_buffers",
        server=server,
        factors='"guc:shared_buffers" = ["16MB", "32MB"]',
        workload=PROBES.format(probe=json.dumps(str(probe))),
    )
    return study + ARCHIVING.format(program=json.dumps(str(storm.program)))


@pytest.mark.pg(">=18")
@pytest.mark.parametrize("kind", ["pgbench", "procedure", "probes"])
def test_files_that_are_replaced_during_the_trials(
    teiten: Teiten, server: str, storm: Storm, kind: str
) -> None:
    storm = replace(storm, awaited=f"{teiten.workdir.campaigns}/*/evidence/trial-*.1")
    make = {"pgbench": pgbench_study, "procedure": procedure_study, "probes": probes_study}
    study = teiten.workdir.root / "stranger.toml"
    study.write_text(make[kind](storm, json.dumps(server)))
    assert run_study(teiten, study) in {0, 3, 4}
    assert teiten.trials(), "the campaign began"
    storm.assert_harmless()
    assert_secret_is_kept(teiten.workdir.campaigns, storm.canary)
    assert sum(path.stat().st_size for path in teiten.workdir.campaigns.rglob("*")) < 1 << 30


@pytest.mark.pg(">=18")
def test_files_that_are_replaced_from_the_rehearsal_on(
    teiten: Teiten, server: str, storm: Storm
) -> None:
    study = teiten.workdir.root / "stranger.toml"
    study.write_text(pgbench_study(storm, json.dumps(server)))
    assert run_study(teiten, study) in {0, 3, 4}
    storm.assert_harmless()
    assert_secret_is_kept(teiten.workdir.campaigns, storm.canary)
