"""Campaigns that are broken off, a bounded part of ``python -m benchmarks.robustness``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from benchmarks.robustness.campaigns import PATIENCE, Small
from benchmarks.robustness.disks import fill_disks, full, small_disk
from benchmarks.robustness.kills import kill_campaigns
from benchmarks.robustness.products import PRODUCTS, kill_products
from benchmarks.robustness.signals import interrupt_campaigns

from teiten.host.system.causes import full_disk
from teiten.model.installation import Installation
from teiten.report.charts.library import library
from tests.fixtures.forked import start
from tests.fixtures.servers import FOLDERS, shared_caches

needs_disk = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None,
    reason="a small file system of its own is mounted by root on Linux only",
)


@pytest.fixture
def server(installation_any: Installation) -> str:
    return str(installation_any.bin_directory)


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is broken off is an interpreter of its own, as users start it; what looks at the rest,
    and ends it, is a fork without pictures. Working folders are in memory, where that has room, and
    have the JavaScript of the run's charts."""
    made = Small.made

    def with_library(root: Path, server: str | None) -> Small:
        small = made(root, server)
        caches = small.workdir.caches
        caches.mkdir(exist_ok=True)
        for file in shared_caches().glob("charts-*.js"):
            shutil.copy(file, caches)
        return small

    def call(small: Small, *words: str) -> tuple[int, str]:
        process = start(["--workdir", str(small.root), *words], drawn=False)
        output, errors = process.communicate(timeout=PATIENCE)
        return process.wait(), output + errors

    library()
    monkeypatch.setattr(Small, "made", with_library)
    monkeypatch.setattr(Small, "call", call)
    monkeypatch.setattr(tempfile, "tempdir", os.environ[FOLDERS])


@pytest.mark.usefixtures("forked")
def test_kills_lose_and_double_nothing(server: str) -> None:
    result = kill_campaigns(2, 3, server)
    assert not result.findings, "\n".join(result.lines())


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("kind", PRODUCTS)
def test_kills_leave_nothing_half_made(server: str, kind: str) -> None:
    if kind == "pdf":
        pytest.importorskip("typst")
    result = kill_products(2, 3, server, kind)
    assert not result.findings, "\n".join(result.lines())


@pytest.mark.usefixtures("forked")
def test_signals_end_a_campaign_in_order(server: str) -> None:
    result = interrupt_campaigns(3, 4, server)
    assert not result.findings, "\n".join(result.lines())


@needs_disk
@pytest.mark.usefixtures("forked")
def test_full_disks_are_told_as_that(server: str) -> None:
    try:
        result = fill_disks(2, 5, server)
    except PermissionError as error:
        pytest.skip(str(error))
    assert not result.findings, "\n".join(result.lines())


@needs_disk
@pytest.mark.usefixtures("forked")
def test_a_disk_that_is_full_while_the_script_is_tried(server: str) -> None:
    """Neither the load's files nor the evidence find room, and the evidence is tried last."""
    try:
        with small_disk() as folder:
            small = Small.made(folder / "work", server)
            process = small.start(*small.next_words())
            assert process.stdout is not None
            with process.stdout as heard:
                while "trying the server and the script" not in (line := heard.readline()):
                    assert line
                while not list(small.workdir.clusters.glob("*/server.json")):
                    assert process.poll() is None
                    time.sleep(0.001)
                with full(folder, inodes=True):
                    said = heard.read()
                    assert process.wait() == 3, said
            assert "inodes are used up" in said or "df -i" in said
            assert "No such file" not in said and "Errno" not in said
            assert not list(small.leftovers())
    except PermissionError as error:
        pytest.skip(str(error))


@needs_disk
@pytest.mark.parametrize("inodes", [False, True])
def test_a_full_disk_is_seen(inodes: bool) -> None:
    try:
        with small_disk("8m", 200) as place:
            assert full_disk(place / "not" / "there") is None
            with full(place, inodes=inodes):
                found = full_disk(place / "not" / "there")
                assert found is not None and found.exit_code == 3
                assert ("inodes" in found.message) is inodes
    except PermissionError as error:
        pytest.skip(str(error))


@needs_disk
def test_a_file_system_that_is_read_only(tmp_path: Path) -> None:
    try:
        with small_disk("8m", 200) as place:
            (place / "work").mkdir()
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            done = subprocess.run(
                [sys.executable, "-m", "teiten", "--workdir", place / "work", "run", "observe"],
                capture_output=True,
                text=True,
                check=False,
            )
    except PermissionError as error:
        pytest.skip(str(error))
    assert done.returncode == 3, done.stderr
    assert "mounted for reading only" in done.stderr
