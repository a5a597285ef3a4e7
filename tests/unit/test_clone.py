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
from teiten.execute.postgres.templates.clone import MOST_TOGETHER, clone_tree
from teiten.execute.postgres.templates.copy_methods import (
    CACHE_NAME,
    CopyMethod,
    choose_method,
    copy_open,
)
from teiten.execute.postgres.templates.linked import make_movable
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.users import ServerUser, server_user

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


def test_many_small_files_are_copied_together_and_none_is_left_out(
    source: Path, tmp_path: Path
) -> None:
    for number in range(2 * MOST_TOGETHER + 3):
        (source / "base" / "1" / f"{number}").write_text(f"{number}")
    clone_tree(source, tmp_path / "copy", user=OURSELVES, method=CopyMethod.PARALLEL_COPY)
    copied = {path.name: path.read_bytes() for path in (tmp_path / "copy/base/1").iterdir()}
    assert copied == {path.name: path.read_bytes() for path in (source / "base/1").iterdir()}


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


def cluster_with_parts(tmp_path: Path, source: Path) -> Path:
    """A cluster's folder: its data, a tablespace and the WAL beside them, linked as PostgreSQL has
    it."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    data = source.rename(folder / "data")
    (folder / "fast" / "PG_18_1").mkdir(parents=True)
    (folder / "fast" / "PG_18_1" / "16400").write_bytes(b"rows")
    (folder / "wal").mkdir()
    (folder / "wal" / "000000010000000000000001").write_bytes(b"wal")
    (data / "pg_tblspc" / "16385").symlink_to(folder / "fast")
    (data / "pg_wal").symlink_to(folder / "wal")
    return folder


def test_tablespaces_and_wal_in_the_clusters_folder_are_copied_beside_the_new_data(
    source: Path, tmp_path: Path
) -> None:
    folder, copy = cluster_with_parts(tmp_path, source), tmp_path / "copy"
    copy.mkdir()
    report = clone_tree(folder / "data", copy / "data", user=OURSELVES)
    assert report.bytes == 3_000_003 + len(b"rows") + len(b"wal")
    space, wal = copy / "data" / "pg_tblspc" / "16385", copy / "data" / "pg_wal"
    assert space.resolve() == copy / "fast" and wal.resolve() == copy / "wal"
    (space / "PG_18_1" / "16400").write_bytes(b"others")
    assert (folder / "fast" / "PG_18_1" / "16400").read_bytes() == b"rows"
    moved = copy.rename(tmp_path / "moved")
    assert (moved / "data" / "pg_tblspc" / "16385" / "PG_18_1" / "16400").read_bytes() == b"others"


def test_a_finished_template_can_be_moved(source: Path, tmp_path: Path) -> None:
    folder = cluster_with_parts(tmp_path, source)
    make_movable(folder / "data", OURSELVES)
    moved = folder.rename(tmp_path / "moved")
    clone_tree(moved / "data", tmp_path / "copy" / "data", user=OURSELVES)
    assert (tmp_path / "copy" / "wal" / "000000010000000000000001").read_bytes() == b"wal"


@pytest.mark.parametrize("where", ["/elsewhere", "../..", "..", "../base", "../../outside", "own"])
def test_what_is_outside_of_the_clusters_folder_is_refused(
    source: Path, tmp_path: Path, where: str
) -> None:
    folder = cluster_with_parts(tmp_path, source)
    (tmp_path / "outside").mkdir()
    (folder / "own").symlink_to(tmp_path / "outside")
    target = folder / "own" if where == "own" else where
    (folder / "data" / "pg_tblspc" / "16386").symlink_to(target)
    copy = tmp_path / "copy"
    with pytest.raises(ServerError, match=r"16386 leads to .*spreads over other folders") as caught:
        clone_tree(folder / "data", copy / "data", user=OURSELVES)
    assert "tablespaces" in caught.value.hint
    assert not copy.exists()


def test_a_link_elsewhere_in_a_cluster_is_refused(source: Path, tmp_path: Path) -> None:
    (source / "base" / "2").symlink_to(source / "base" / "1")
    with pytest.raises(ServerError, match="2 is not a plain file"):
        clone_tree(source, tmp_path / "copy", user=OURSELVES)


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
    cache = tmp_path / CACHE_NAME
    with HeldFolder.open(tmp_path) as folder:
        chosen = choose_method(folder, tmp_path)
        assert json.loads(cache.read_text()) == {str(folder.device): str(chosen)}
        assert [path.name for path in tmp_path.iterdir()] == [CACHE_NAME]
        cache.write_text(json.dumps({str(folder.device): "parallel copy"}))
        assert choose_method(folder, tmp_path) is CopyMethod.PARALLEL_COPY
        cache.write_text("[]")
        assert choose_method(folder, tmp_path) in CopyMethod
