"""``teiten bisect`` on a small source (tests.fixtures.small_source) whose server is real.

Each commit says how long its transactions sleep, so that the difference is certain.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.host.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten, kill, step_of, with_own_installations
from tests.fixtures.small_source import BROKEN_CODE, GOOD_CODE, commit, git, write_source

SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"
QUICK = (
    "--clients", "1", "--duration", "1s", "--set", "scale=1", "--set", "changes_data=no",
    "--set", "settle=0s", "--set", "warmup=0s", "--set", "disturbed_share=100%",
    "--configure", "--without-readline --without-zlib",
)  # fmt: skip
SLOW_FROM, BROKEN = 2, 3


@pytest.fixture
def teiten(workdir: Workdir) -> Teiten:
    return with_own_installations(workdir)


@pytest.fixture
def checkout(workdir: Workdir, installation: Callable[[str], Installation]) -> Path:
    """Commits 0 to 5: from the second on transactions sleep longer, the third does not build."""
    folder = write_source(workdir.root / "checkout", installation("17"))
    (folder / "sleep.sql").write_text(SLEEP, encoding="ascii")
    for number in range(6):
        (folder / "main.c").write_text(BROKEN_CODE if number == BROKEN else GOOD_CODE)
        (folder / "delay").write_text("5\n" if number >= SLOW_FROM else "2\n")
        (folder / "news").write_text(f"{number}\n")
        commit(folder, f"commit {number}")
    return folder


def words(checkout: Path) -> tuple[str, ...]:
    script = str(checkout / "sleep.sql")
    return (
        "bisect", "--good", "HEAD~5", "--bad", "HEAD", "--source", str(checkout), "--script",
        script, *QUICK, "--name", "search", "--json",
    )  # fmt: skip


def test_a_planted_slowdown_is_found_also_after_a_kill(teiten: Teiten, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    process = teiten.start(*words(checkout))
    teiten.wait_for(process, step_of(3, "measure"))
    kill(process)
    result = teiten.run(*words(checkout))
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["ending"] == "found"
    assert found["subject"] == f"commit {SLOW_FROM}" and found["candidates"] == [found["first_bad"]]
    marks = {
        git(checkout, "log", "-1", "--format=%s", one["commit"]): one["mark"]
        for one in found["steps"]
    }
    assert marks["commit 2"] == "bad" and marks["commit 1"] == "good"
    assert marks.get("commit 3", "skip") == "skip"
    low, high = found["effect"]["effect"]["low"], found["effect"]["effect"]["high"]
    assert 0.3 < low < found["effect"]["effect"]["ratio"] < high < 0.6
    assert all(
        Path(one["comparison"]["report"]).is_file() for one in found["steps"] if one["comparison"]
    )
    assert git(checkout, "rev-parse", "HEAD") == head
    assert git(checkout, "status", "--porcelain") == ""


def test_a_budget_that_is_too_short_names_what_is_left(teiten: Teiten, checkout: Path) -> None:
    result = teiten.run(*words(checkout)[:-3], "--budget", "10s")
    assert result.returncode == 2
    assert "--budget 10s is too short for one comparison" in result.stderr


def test_ends_that_are_the_same_have_nothing_to_find(teiten: Teiten, checkout: Path) -> None:
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    ends = ("bisect", "--good", "HEAD~1", "--bad", "HEAD", *words(checkout)[5:])
    result = teiten.run(*ends)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["ending"] == "no-difference"
