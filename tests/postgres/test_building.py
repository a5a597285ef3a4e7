"""``teiten pg build`` with a small source (tests.fixtures.small_source) that is a real server; with
PostgreSQL's own, which takes minutes, where TEITEN_TEST_SOURCE names a tarball."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten, with_own_installations
from tests.fixtures.small_source import BROKEN_CODE, commit, git, write_source

COMPILE = "\t@compiler@ -O2"
FLAGS = ("--configure", "--without-readline --without-zlib", "--jobs", "2")


@pytest.fixture
def teiten(workdir: Workdir) -> Teiten:
    return with_own_installations(workdir, "17")


@pytest.fixture
def source(workdir: Workdir, installation: Callable[[str], Installation]) -> Path:
    return write_source(workdir.root / "sources" / "postgresql", installation("17"))


def test_a_build_is_a_server_like_others_and_is_made_once(teiten: Teiten, source: Path) -> None:
    words = ("pg", "build", "mine", "--source", source, *FLAGS)
    result = teiten.run(*words, "--cflags", "-O1", "--json")
    assert result.returncode == 0, result.stderr
    built = json.loads(result.stdout)
    folder = teiten.workdir.installations / "mine"
    assert built["name"] == "mine" and built["source"] == "build"
    assert built["bin_directory"] == str(folder / "bin")
    assert "pg_prewarm" in built["contrib"]
    assert built["build"]["cflags"] == "-O1"
    assert "--without-zlib" in (folder / "build.log").read_text()
    # The installed server was made by somebody else: what it reports is not what was asked.
    assert "does not say of itself what was asked: compiler" in " ".join(result.stderr.split())
    assert _owners(folder) == {os.geteuid()}
    assert sorted(path.name for path in teiten.workdir.builds.iterdir()) == [".lock"]
    before = _tree(source)
    again = teiten.run(*words, "--cflags", "-O1", "--json")
    assert json.loads(again.stdout) == built and "built already" in again.stderr
    other_name = teiten.run("pg", "build", "other", *words[3:], "--cflags", "-O1")
    assert other_name.returncode == 0 and "already as mine" in other_name.stderr
    taken = teiten.run(*words, "--cflags", "-O2")
    assert taken.returncode == 2 and "another installation mine" in taken.stderr
    assert _tree(source) == before
    planned = teiten.run("plan", "observe", "--servers", "17,mine", "--profile", "quick", "--json")
    assert json.loads(planned.stdout)["servers"]["mine"]["folder"] == str(folder / "bin")
    by_version = teiten.run("pg", "remove", "build:17")
    assert by_version.returncode == 0, by_version.stderr
    assert not folder.exists()


def test_a_source_that_does_not_build_shows_the_compilers_lines(
    teiten: Teiten, source: Path
) -> None:
    (source / "main.c").write_text(BROKEN_CODE, encoding="utf-8")
    result = teiten.run("pg", "build", "broken", "--source", source, *FLAGS)
    assert result.returncode == 3
    assert "error: compile failed" in result.stderr
    assert "a_name_that_is_not_there" in result.stderr
    log = teiten.workdir.builds / "broken.log"
    assert log.is_file()
    assert f"hint: the whole log is {log}" in result.stderr
    assert not (teiten.workdir.installations / "broken").exists()
    assert not list(teiten.workdir.builds.glob("tree-*"))
    unknown = teiten.run("pg", "build", "b", "--source", source, "--configure", "--with-what")
    assert "unrecognized option: --with-what" in unknown.stderr


def test_an_interrupted_build_leaves_nothing(teiten: Teiten, source: Path) -> None:
    makefile = (source / "Makefile.in").read_text()
    slow = makefile.replace(COMPILE, f"\tsleep 300\n{COMPILE}")
    (source / "Makefile.in").write_text(slow)
    process = teiten.start("pg", "build", "slow", "--source", source, *FLAGS)
    sleeping = _wait_for_child(process.pid, "sleep")
    assert sleeping.username() == server_user().name
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130 and "interrupted" in said
    assert not sleeping.is_running() or sleeping.status() == psutil.STATUS_ZOMBIE
    assert not list(teiten.workdir.builds.glob("tree-*"))
    assert not (teiten.workdir.installations / "slow").exists()


def test_what_a_killed_build_left_goes_with_the_next(teiten: Teiten, source: Path) -> None:
    makefile = (source / "Makefile.in").read_text()
    (source / "Makefile.in").write_text(makefile.replace(COMPILE, f"\tsleep 300\n{COMPILE}"))
    process = teiten.start("pg", "build", "slow", "--source", source, *FLAGS)
    sleeping = _wait_for_child(process.pid, "sleep")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=300)
    assert list(teiten.workdir.builds.glob("tree-*"))
    (source / "Makefile.in").write_text(makefile)
    result = teiten.run("pg", "build", "quick", "--source", source, *FLAGS)
    assert result.returncode == 0, result.stderr
    assert not list(teiten.workdir.builds.glob("tree-*"))
    if sleeping.is_running():  # make was ended by the kernel; what it had started ends by itself
        sleeping.kill()


def test_a_build_of_a_study_is_foretold_then_made(teiten: Teiten, source: Path) -> None:
    commit(source, "the base")
    study = teiten.workdir.root / "builds.toml"
    study.write_text(STUDY, encoding="utf-8")
    words = (study, "--source", f"{source}@HEAD")
    planned = teiten.run("plan", *words, "--json")
    assert planned.returncode == 0, planned.stderr
    plan = json.loads(planned.stdout)
    assert [one["name"] for one in plan["builds"]] == ["plain", "other"]
    assert plan["needs"]["seconds"] > sum(one["seconds"] for one in plan["builds"]) > 0
    assert not (teiten.workdir.installations / "plain").exists()
    result = teiten.run("run", *words, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["complete"]
    assert json.loads(teiten.run("plan", *words, "--json").stdout)["builds"] == []
    assert teiten.server_facts()["plain"]["asked"]["cflags"] == "-O2"
    assert git(source, "status", "--porcelain") == ""
    missing = teiten.run("plan", study)
    assert missing.returncode == 2 and "--source TARBALL" in missing.stderr


@pytest.mark.skipif(
    "TEITEN_TEST_SOURCE" not in os.environ, reason="TEITEN_TEST_SOURCE names no tarball"
)
def test_postgresql_itself(teiten: Teiten) -> None:
    source = os.environ["TEITEN_TEST_SOURCE"]
    result = teiten.run("pg", "build", "real", "--source", source, "--cflags", "-O1", "--json")
    assert result.returncode == 0, result.stderr
    assert "caution" not in result.stderr
    built = json.loads(result.stdout)
    assert {"pg_stat_statements", "postgres_fdw", "auto_explain"} <= set(built["contrib"])
    assert built["pgbench"]


STUDY = """
[study]
name = "builds"
title = "Two builds"
question = "Does it all work?"

[factors]
server = ["plain", "other"]
clients = [1]

[builds.plain]
cflags = "-O2"

[builds.other]
cflags = "-O1"

[[workloads]]
name = "select-only"
title = "One row"
script = "select-only"
scale = 1
changes_data = false

[settings]
shared_buffers = "64MB"

[measure]
duration = "1s"
warmup = "0s"
settle = "0s"
blocks = 2
disturbed_share = "100%"
"""


def _owners(folder: Path) -> set[int]:
    return {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}


def _tree(folder: Path) -> dict[str, tuple[int, float]]:
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime) for path in folder.rglob("*")}


def _wait_for_child(pid: int, name: str) -> psutil.Process:
    """The process of this name that a process has started, however deep."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        for child in psutil.Process(pid).children(recursive=True):
            try:
                if child.name() == name:
                    return child
            except psutil.Error:
                continue
        time.sleep(0.05)
    raise AssertionError(f"{name} was not started")
