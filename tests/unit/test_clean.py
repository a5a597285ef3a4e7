"""``teiten clean``: what is listed and deleted, and what stays."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from teiten.cli.main import teiten
from teiten.errors import UsageError
from teiten.execute.postgres.marker import MARKER_NAME, Kind, new_folder
from teiten.host.system.paths import Workdir


@pytest.fixture
def filled(tmp_path: Path) -> Workdir:
    """A template used now, one used 40 days ago, a package, a left cluster, and others' files."""
    workdir = Workdir(tmp_path / "work")
    workdir.prepare()
    for name, days in (("a" * 64, 0), ("b" * 64, 40)):
        folder = workdir.templates / name
        new_folder(folder, Kind.TEMPLATE, f"PostgreSQL 18.4, {days} days")
        (folder / "data").mkdir()
        (folder / "data" / "1").write_bytes(b"x" * 8192)
        (folder / "template.json").write_text("{}")
        used = time.time() - days * 86_400 - 1
        os.utime(folder / "template.json", (used, used))
    package = workdir.packages / "npm" / "embedded.tgz"
    package.parent.mkdir()
    package.write_bytes(b"x" * 4096)
    package.with_name("embedded.tgz.json").write_text('{"sha512": "0"}')
    old = time.time() - 60
    os.utime(package, (old, old))
    left = workdir.clusters / "left"
    new_folder(left, Kind.CLUSTER)
    marker = json.loads((left / MARKER_NAME).read_text())
    marker |= {"process_started": 1.0, "created": old}
    (left / MARKER_NAME).write_text(json.dumps(marker))
    new_folder(workdir.clusters / "alive", Kind.CLUSTER)
    for room in (workdir.templates, workdir.packages, workdir.clusters):
        (room / "theirs").mkdir()
        (room / "theirs" / "letter.txt").write_text("dear")
    return workdir


def run(workdir: Workdir, *arguments: str) -> Result:
    command = ["--workdir", str(workdir.root), "clean", *arguments]
    return CliRunner().invoke(teiten, command)


def names(room: Path) -> set[str]:
    return {path.name[:8] for path in room.iterdir()}


def test_a_dry_run_lists_and_deletes_nothing(filled: Workdir) -> None:
    result = run(filled, "--all", "--dry-run")
    assert result.exit_code == 0
    kinds = [line.split()[0] for line in result.stdout.splitlines()]
    assert kinds == ["template", "template", "package", "cluster"]
    assert "unused for 40 days" in result.stdout
    assert len(names(filled.templates)) == 3


def test_without_a_choice_packages_stay(filled: Workdir) -> None:
    result = run(filled, "--yes")
    assert result.exit_code == 0, result.output
    assert "gave back" in result.stderr
    assert names(filled.templates) == {"theirs"}
    assert names(filled.clusters) == {"alive", "theirs"}
    assert names(filled.packages / "npm") == {"embedded"}


def test_only_packages(filled: Workdir) -> None:
    assert run(filled, "--packages", "--yes").exit_code == 0
    assert names(filled.packages / "npm") == set()
    assert (filled.packages / "theirs" / "letter.txt").exists()
    assert len(names(filled.templates)) == 3


def test_only_the_old(filled: Workdir) -> None:
    result = run(filled, "--all", "--older-than", "30d", "--yes", "--json")
    values = json.loads(result.stdout)
    assert [one["path"] for one in values["deleted"]] == [str(filled.templates / ("b" * 64))]
    assert values["bytes"] > 8192
    assert names(filled.templates) == {"aaaaaaaa", "theirs"}


def test_nothing_is_deleted_without_a_yes(filled: Workdir) -> None:
    result = run(filled)
    assert isinstance(result.exception, UsageError)
    assert "there is no terminal to ask on" in result.exception.message
    assert "--yes" in result.exception.hint
    assert len(names(filled.templates)) == 3


def test_a_wrong_age_is_told(filled: Workdir) -> None:
    result = run(filled, "--older-than", "30")
    assert isinstance(result.exception, UsageError)
    assert result.exception.message.startswith("--older-than: '30' needs a unit")


def test_an_empty_folder(tmp_path: Path) -> None:
    result = run(Workdir(tmp_path / "none"), "--all", "--yes", "--json")
    assert json.loads(result.stdout) == {"deleted": [], "would_delete": [], "bytes": 0}


@pytest.mark.parametrize("flags", [("--older-than", "30d"), ("--templates",), ("--anyway",)])
def test_a_choice_that_a_host_would_not_heed_is_refused(
    filled: Workdir, flags: tuple[str, ...]
) -> None:
    result = run(filled, "--host", "nowhere.invalid", "--yes", *flags)
    assert isinstance(result.exception, UsageError)
    assert f"{flags[0]} does not go with --host" in str(result.exception)
