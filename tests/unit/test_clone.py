"""Copying a data directory: what is copied, and what is refused."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import IO

import pytest

from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.postgres.templates import clone as clone_module
from teiten.execute.postgres.templates.clone import clone_tree
from teiten.execute.postgres.templates.copy_methods import (
    CACHE_NAME,
    CopyMethod,
    choose_method,
    copy_open,
)
from teiten.host.users import ServerUser, server_user

OURSELVES = ServerUser("ourselves", None, None)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "base" / "1").mkdir(parents=True)
    (folder / "pg_tblspc").mkdir()
    (folder / "base" / "1" / "16384").write_bytes(os.urandom(3_000_000))
    (folder / "base" / "1" / "empty").touch()
    (folder / "PG_VERSION").write_text("18\n")
    (folder / "PG_VERSION").chmod(0o640)
    (folder / "base").chmod(0o750)
    (folder / "postmaster.opts").write_text("old\n")
    folder.chmod(0o700)
    return folder


@pytest.mark.parametrize("method", [None, CopyMethod.COPY_FILE_RANGE, CopyMethod.PARALLEL_COPY])
def test_content_and_modes(source: Path, tmp_path: Path, method: CopyMethod | None) -> None:
    copy = tmp_path / "copy"
    report = clone_tree(source, copy, user=OURSELVES, method=method)
    assert (copy / "base/1/16384").read_bytes() == (source / "base/1/16384").read_bytes()
    assert (copy / "base/1/empty").read_bytes() == b""
    assert (copy / "pg_tblspc").is_dir()
    assert stat.S_IMODE((copy / "PG_VERSION").stat().st_mode) == 0o640
    assert stat.S_IMODE((copy / "base").stat().st_mode) == 0o750
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert not (copy / "postmaster.opts").exists()
    assert report.bytes == 3_000_003
    assert method is None or report.method is method


def test_a_method_that_the_file_system_lacks_gives_way(source: Path, tmp_path: Path) -> None:
    try:
        with (source / "PG_VERSION").open("rb") as old, (tmp_path / "try").open("xb") as new:
            copy_open(CopyMethod.REFLINK, old, new)
    except OSError:
        expected = CopyMethod.PARALLEL_COPY
    else:
        expected = CopyMethod.REFLINK
    report = clone_tree(source, tmp_path / "copy", user=OURSELVES, method=CopyMethod.REFLINK)
    assert report.method is expected
    assert (tmp_path / "copy" / "PG_VERSION").read_text() == "18\n"


def test_the_copy_is_the_servers_users(source: Path, tmp_path: Path) -> None:
    user = server_user()
    clone_tree(source, tmp_path / "copy", user=user)
    owner = user.uid if user.uid is not None else os.geteuid()
    paths = [tmp_path / "copy", *(tmp_path / "copy").rglob("*")]
    assert {path.stat().st_uid for path in paths} == {owner}


def test_a_folder_with_files_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").touch()
    with pytest.raises(UsageError, match=r"the data folder .*copy is not empty"):
        clone_tree(source, tmp_path / "copy", user=OURSELVES)
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["mine"]


def test_a_cluster_in_use_is_refused(source: Path, tmp_path: Path) -> None:
    (source / "postmaster.pid").touch()
    with pytest.raises(ServerError, match="is in use"):
        clone_tree(source, tmp_path / "copy", user=OURSELVES)


def test_tablespaces_are_refused(source: Path, tmp_path: Path) -> None:
    (source / "pg_tblspc" / "16385").symlink_to("/elsewhere")
    with pytest.raises(ServerError, match="16385 is not a plain file") as caught:
        clone_tree(source, tmp_path / "copy", user=OURSELVES)
    assert "tablespaces" in caught.value.hint


def test_a_full_disk_leaves_nothing_half_done(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(method: CopyMethod, old: IO[bytes], new: IO[bytes]) -> None:
        new.write(b"part")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(clone_module, "copy_open", full)
    with pytest.raises(MachineError, match="is full: a copy of 3,000,003 bytes") as caught:
        clone_tree(source, tmp_path / "copy", user=OURSELVES, method=CopyMethod.PARALLEL_COPY)
    assert "teiten clean" in caught.value.hint
    assert not (tmp_path / "copy").exists()


def test_the_choice_is_measured_once_for_a_file_system(tmp_path: Path) -> None:
    chosen = choose_method(tmp_path, tmp_path)
    cache = tmp_path / CACHE_NAME
    assert json.loads(cache.read_text()) == {str(tmp_path.stat().st_dev): str(chosen)}
    assert [path.name for path in tmp_path.iterdir()] == [CACHE_NAME]
    cache.write_text(json.dumps({str(tmp_path.stat().st_dev): "parallel copy"}))
    assert choose_method(tmp_path, tmp_path) is CopyMethod.PARALLEL_COPY
    cache.write_text("[]")
    assert choose_method(tmp_path, tmp_path) in CopyMethod
