"""``teiten bisect`` on a small source (tests.fixtures.small_source) whose server is real.

Each commit says how long its transactions sleep, so that the difference is certain.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten, kill, step_of, with_own_installations
from tests.fixtures.small_source import BROKEN_CODE, GOOD_CODE, commit, git, write_source

SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"
QUICK = (
    "--clients", "1", "--duration", "1s", "--set", "scale=1", "--set", "changes_data=no",
    "--alpha", "20%", "--delta", "5%", "--set", "settle=0s", "--set", "warmup=0s",
    "--set", "disturbed_share=100%",
    "--configure", "--without-readline --without-zlib",
)  # fmt: skip
PATIENCE = 800.0
"""Seconds; several campaigns and builds, on a machine that does other things too."""


@pytest.fixture
def teiten(workdir: Workdir) -> Teiten:
    return with_own_installations(workdir, "17")


@pytest.fixture
def source(workdir: Workdir, installation: Callable[[str], Installation]) -> Path:
    folder = write_source(workdir.root / "checkout", installation("17"))
    (folder / "sleep.sql").write_text(SLEEP, encoding="ascii")
    commit(folder, "the base")
    return folder


def change(folder: Path, *, milliseconds: int, code: str = GOOD_CODE) -> str:
    """A commit after which transactions sleep for so long."""
    (folder / "delay").write_text(f"{milliseconds}\n")
    (folder / "main.c").write_text(code)
    return commit(folder, f"{milliseconds} ms" + (", broken" if code == BROKEN_CODE else ""))


def words(checkout: Path) -> tuple[str, ...]:
    script = str(checkout / "sleep.sql")
    return (
        "bisect", "--good", "HEAD~2", "--bad", "HEAD", "--source", str(checkout), "--script",
        script, *QUICK, "--name", "search", "--json",
    )  # fmt: skip


def test_a_planted_slowdown_is_found_also_after_a_kill(teiten: Teiten, source: Path) -> None:
    slow = change(source, milliseconds=25)
    (source / "news").write_text("nothing that is compiled\n")
    head = commit(source, "news")
    process = teiten.start(*words(source))
    teiten.wait_for(process, step_of(3, "measure"), PATIENCE)
    kill(process)
    result = teiten.run(*words(source), patience=PATIENCE)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["ending"] == "found" and found["first_bad"] == slow
    assert found["subject"] == "25 ms" and found["against"] == "parent"
    (step,) = found["steps"]
    assert step["commit"] == slow and step["mark"] == "bad"
    effect = found["effect"]["effect"]
    assert 0.1 < effect["low"] < effect["ratio"] < effect["high"] < 1 / 1.05
    assert Path(found["effect"]["report"]).is_file() and Path(found["ends"]["report"]).is_file()
    assert git(source, "rev-parse", "HEAD") == head
    assert git(source, "status", "--porcelain") == ""


def test_what_does_not_build_is_skipped_and_named(teiten: Teiten, source: Path) -> None:
    change(source, milliseconds=10, code=BROKEN_CODE)
    change(source, milliseconds=25)
    short = teiten.run(*words(source), "--budget", "10s", patience=PATIENCE)
    assert short.returncode == 2
    assert "--budget 10s is too short for one comparison" in short.stderr
    result = teiten.run(*words(source), patience=PATIENCE)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["ending"] == "only-skipped" and found["first_bad"] is None
    assert [step["mark"] for step in found["steps"]] == ["skip"]
    assert "compile failed" in found["steps"][0]["why"]
    assert found["candidates"] == git(source, "rev-list", "HEAD~2..HEAD").split()


def test_ends_that_are_the_same_have_nothing_to_find(teiten: Teiten, source: Path) -> None:
    git(source, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    ends = ("bisect", "--good", "HEAD~1", "--bad", "HEAD", *words(source)[5:])
    result = teiten.run(*ends, patience=PATIENCE)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["ending"] == "same-build"
