"""The OS page cache of files: seen, and emptied, on the real kernel."""

from __future__ import annotations

import mmap
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from teiten.host.facts.disks import disk_of
from teiten.host.system import page_cache
from teiten.host.system.page_cache import (
    NOTHING,
    PageCache,
    by_mincore,
    cached,
    cached_below,
    evict,
    evict_files,
)
from teiten.model.units import MIB, Bytes

pytestmark = pytest.mark.disk

SIZE = 8 * MIB
Counter = Callable[[IO[bytes]], int]


def by_default(file: IO[bytes]) -> int:
    found = cached(file)
    if found is None:
        pytest.skip("this system does not tell what its page cache holds")
    return found.resident


def mapped(file: IO[bytes]) -> int:
    found = by_mincore(file.fileno(), os.fstat(file.fileno()).st_size)
    assert found is not None
    return found


@pytest.fixture
def disk_folder(tmp_path: Path) -> Path:
    """On a file system whose pages can leave memory."""
    if disk_of(tmp_path).kind == "memory":
        pytest.skip("temporary files are in memory here (TMPDIR)")
    return tmp_path


@pytest.fixture
def file(disk_folder: Path) -> Path:
    path = disk_folder / "file"
    path.write_bytes(random.Random(1).randbytes(SIZE))
    return path


@pytest.fixture(params=[by_default, mapped])
def count(request: pytest.FixtureRequest) -> Counter:
    chosen: Counter = request.param
    return chosen


def test_a_file_leaves_and_comes_back(file: Path, count: Counter) -> None:
    with file.open("rb") as opened:
        assert count(opened) == SIZE, "it was just written"
        assert evict(opened)
        assert count(opened) == 0
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no reading ahead
        for page in (0, 3, 1000):
            os.pread(opened.fileno(), 1, page * mmap.PAGESIZE)
        assert count(opened) == 3 * mmap.PAGESIZE


def test_the_beginning_alone_can_be_asked_for(file: Path) -> None:
    with file.open("rb") as opened:
        evict(opened)
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(opened.fileno(), 1, 5 * MIB)
        assert cached(opened, first=MIB) == PageCache(Bytes(MIB), Bytes(0))
        assert cached(opened, first=6 * MIB) == PageCache(Bytes(6 * MIB), Bytes(mmap.PAGESIZE))
        assert cached(opened, first=100 * MIB) == PageCache(Bytes(SIZE), Bytes(mmap.PAGESIZE))


def test_both_ways_agree_where_windows_end(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "WINDOW", MIB)
    with file.open("rb") as opened:
        evict(opened)
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(opened.fileno(), 3 * MIB + 1, 0)
        assert mapped(opened) == by_default(opened) == 3 * MIB + mmap.PAGESIZE


def test_the_last_page_of_a_file_counts_only_its_bytes(disk_folder: Path) -> None:
    path = disk_folder / "short"
    path.write_bytes(b"x" * 5000)
    with path.open("rb") as opened:
        assert cached(opened) == PageCache(Bytes(5000), Bytes(5000))
    path.write_bytes(b"")
    with path.open("rb") as opened:
        assert cached(opened) == NOTHING


def test_all_files_below_a_folder_and_no_link(file: Path, disk_folder: Path) -> None:
    inner = disk_folder / "tree" / "inner"
    inner.mkdir(parents=True)
    (inner / "a").write_bytes(b"a" * MIB)
    (inner.parent / "b").write_bytes(b"b" * MIB)
    (inner / "link").symlink_to(file)
    (inner / "fifo").unlink(missing_ok=True)
    os.mkfifo(inner / "fifo")
    assert cached_below(inner.parent) == PageCache(Bytes(2 * MIB), Bytes(2 * MIB))
    assert evict_files(inner.parent)
    assert cached_below(inner.parent) == PageCache(Bytes(2 * MIB), Bytes(0))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of somebody else's")
def test_of_a_stranger_nothing_is_said_rather_than_all(file: Path) -> None:
    """The kernel's answer to those who may only read is that every page is there."""
    os.chown(file, 1, 1)
    file.chmod(0o644)
    file.parent.chmod(0o755)
    with file.open("rb") as opened:
        os.seteuid(65534)
        try:
            assert cached(opened) is None
        finally:
            os.seteuid(0)
        assert cached(opened) is not None
