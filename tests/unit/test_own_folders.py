"""Root works by paths only where nobody else can exchange what it makes."""

from __future__ import annotations

import os
import pwd
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from teiten.cli.main import teiten
from teiten.errors import UsageError
from teiten.host.system.own_folders import foreign_folder, leave_folders_of_others
from tests.fixtures.servers import open_folder

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(
        sys.platform == "win32" or os.geteuid() != 0, reason="only root has to take care"
    ),
]
SHARED = 0o777
STICKY = 0o1777


@pytest.fixture
def strangers() -> Iterator[Path]:
    """A folder of another user within one of root's."""
    with open_folder("teiten-own-") as folder:
        stranger = folder / "stranger"
        stranger.mkdir()
        os.chown(stranger, pwd.getpwnam("nobody").pw_uid, -1)
        yield stranger


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, strangers: Path) -> Path:
    """The folder of another user, as TMPDIR says."""
    monkeypatch.setenv("TMPDIR", str(strangers))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return strangers


def refusal(workdir: Path) -> UsageError | None:
    result = CliRunner().invoke(teiten, ["--workdir", str(workdir), "runs"])
    assert result.exception is None or isinstance(result.exception, UsageError)
    return result.exception


def test_a_working_folder_of_another_user_is_refused(strangers: Path) -> None:
    for workdir in (strangers, strangers / "within" / "it"):
        error = refusal(workdir)
        assert error is not None
        assert f"another user can exchange what is in {strangers}" in error.message
        assert "--workdir" in (error.hint or "")
        assert not (strangers / "within").exists()
    assert CliRunner().invoke(teiten, ["--workdir", str(strangers), "runs", "--help"]).output


def test_a_link_of_another_user_is_refused_and_one_of_roots_is_not(strangers: Path) -> None:
    target = strangers.parent / "target"
    target.mkdir()
    (strangers / "link").symlink_to(target)
    assert refusal(strangers / "link" / "work") is not None
    (strangers.parent / "link").symlink_to(target)
    assert refusal(strangers.parent / "link" / "work") is None


def test_a_folder_that_all_may_write_is_refused_unless_it_is_sticky(strangers: Path) -> None:
    shared = strangers.parent / "shared"
    shared.mkdir()
    shared.chmod(SHARED)
    assert refusal(shared / "work") is not None
    shared.chmod(STICKY)
    assert refusal(shared / "work") is None


def test_a_file_in_the_way_is_not_told_as_another_users(strangers: Path) -> None:
    file = strangers.parent / "file"
    file.touch()
    assert foreign_folder(file / "work") is None


def test_temporary_files_are_not_made_in_a_folder_of_another_user(temporary: Path) -> None:
    assert CliRunner().invoke(teiten, ["studies"]).exit_code == 0
    assert foreign_folder(Path(tempfile.gettempdir())) is None
    assert "TMPDIR" not in os.environ
    assert not any(temporary.iterdir())


def test_a_folder_of_roots_for_temporary_files_is_kept(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = temporary.parent / "own"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    leave_folders_of_others()
    assert tempfile.gettempdir() == str(own)


def test_what_root_makes_is_not_for_others_to_write(strangers: Path) -> None:
    before = os.umask(0)
    try:
        work = strangers.parent / "work"
        for _ in range(2):
            assert refusal(work) is None
            work.mkdir(exist_ok=True)
    finally:
        os.umask(before)
