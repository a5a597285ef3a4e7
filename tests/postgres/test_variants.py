"""Variants with real servers: pinned cores, other folders, checksums, refused parameters."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teiten.execute.postgres.elsewhere import note, noted
from teiten.execute.postgres.marker import Kind, new_folder
from teiten.execute.postgres.parameters import refusals
from teiten.execute.postgres.sweep import sweep
from teiten.host.system.affinity import affinity
from teiten.host.system.paths import Workdir
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.trial import Trial
from tests.fixtures.campaigns import Teiten, kill, step_of
from tests.fixtures.servers import open_folder
from tests.postgres.test_sweep import disown

SHORT = ("--profile", "quick", "--blocks", "1", "--set", "scale=1", "--set", "duration=1s")
TINY = (*SHORT, "--set", "warmup=0s", "--set", "disturbed_share=100%", "--json")
RAN = (0, 4)
"""On a crowded machine trials are disturbed whatever share is allowed; they ran all the same."""
two_processors = pytest.mark.skipif(
    sys.platform != "linux" or len(affinity(0) or ()) < 2, reason="needs Linux and two processors"
)


@pytest.fixture
def other_folder() -> Iterator[Path]:
    with open_folder("teiten-elsewhere-") as folder:
        yield folder


def by_level(teiten: Teiten, factor: str) -> dict[str, Trial]:
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        planned = {trial.number: trial for trial in ledger.plan.trials}
    return {planned[one.number].cell.level(factor) or "": one for one in teiten.trials()}


@two_processors
def test_the_study_cores_pins_server_and_pgbench(teiten: Teiten, server: str) -> None:
    here = sorted(affinity(0) or ())
    result = teiten.run("run", "cores", "--servers", server, "--set", "cores=1,2", *TINY)
    assert result.returncode in RAN, result.stderr
    found = by_level(teiten, "cores")
    assert set(found) == {"1", "2"}
    for level, trial in found.items():
        pinned = trial.facts["pinned"]
        assert len(pinned["server"]) == int(level)
        if len(here) == 2:
            assert pinned["pgbench"] == pinned["server"]
        else:
            assert not set(pinned["pgbench"]) & set(pinned["server"])
    text = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert "Pinned processors" in text


def test_the_study_checksums_asks_the_servers(teiten: Teiten, server: str) -> None:
    words = ("run", "checksums", "--servers", server, "--set", "clients=1", *TINY)
    result = teiten.run(*words)
    assert result.returncode in RAN, result.stderr
    found = by_level(teiten, "checksums")
    assert {level: one.facts["data_checksums"] for level, one in found.items()} == {
        "off": "off",
        "on": "on",
    }


def test_clusters_elsewhere_are_made_used_and_removed(
    teiten: Teiten, server: str, other_folder: Path
) -> None:
    folders = [other_folder / name for name in "ab"]
    for one in folders:
        one.mkdir()
        (one / "mine.txt").write_text("keep")
    words = ("--set", f"directory={','.join(map(str, folders))}", "--set", "contrast=directory")
    one_side = ("--set", "checksums=off", "--set", "clients=1")
    result = teiten.run("run", "checksums", "--servers", server, *words, *one_side, *TINY)
    assert result.returncode in RAN, result.stderr
    found = by_level(teiten, "directory")
    for one in folders:
        assert found[str(one)].facts["data_directory"].startswith(f"{one}/teiten-")
        assert [path.name for path in one.iterdir()] == ["mine.txt"]
    assert not list(teiten.workdir.clusters.iterdir())


def test_what_a_killed_teiten_left_elsewhere_is_swept(
    teiten: Teiten, server: str, other_folder: Path
) -> None:
    words = ("--set", f"directory={other_folder}", "--set", "clients=1", "--servers", server)
    process = teiten.start("run", "checksums", *words, *TINY)
    teiten.wait_for(process, step_of(1, "start"))
    kill(process)
    assert list(other_folder.iterdir())
    done = sweep(teiten.workdir)
    assert any(str(other_folder) in line for line in done)
    assert not list(other_folder.iterdir())
    assert not list(teiten.workdir.clusters.glob("*.elsewhere"))


def test_a_note_alone_makes_no_folder_teiten_s(workdir: Workdir, other_folder: Path) -> None:
    mine, marked = other_folder / "mine", other_folder / "marked"
    mine.mkdir()
    (mine / "data").write_text("keep")
    new_folder(marked, Kind.CLUSTER)
    disown(marked)
    for one in (mine, marked):
        note(workdir, one)
    assert set(noted(workdir)) == {mine, marked}
    sweep(workdir)
    assert mine.is_dir() and not marked.exists()
    assert noted(workdir) == (mine,)


@pytest.mark.pg(">=9.6")
def test_a_server_says_what_it_would_refuse(server_installation: Installation) -> None:
    def said(**settings: str) -> list[tuple[str, bool]]:
        found = refusals("here", server_installation, settings)
        return [(one.name, one.unknown) for one in found]

    assert said(work_mem="64MB", jit_of_mine="1") == [("jit_of_mine", True)]
    (unknown,) = refusals("x", server_installation, {"wrok_mem": "1MB"})
    assert "work_mem" in unknown.known
    assert said(work_mem="64MB", **{"teiten.own": "1"}) == []
    assert said(work_mem="3 parsecs", fsync="perhaps") == [("work_mem", False), ("fsync", False)]
    assert said(max_connections="100000000") == [("max_connections", False)]
    knows = server_installation.version.major_number >= 18
    assert said(io_method="sync") == ([] if knows else [("io_method", True)])


def test_the_plan_refuses_what_a_server_would(
    teiten: Teiten, installation: Callable[[str], Installation]
) -> None:
    old = str(installation("13").bin_directory)
    result = teiten.run("plan", "checksums", "--servers", old, "--guc", "io_method=sync", *SHORT)
    assert result.returncode == 2
    assert "does not know the parameter io_method" in result.stderr
    assert "hint: io_method exists since PostgreSQL 18" in result.stderr
    missing = f"directory={teiten.workdir.root}/no-such-folder"
    result = teiten.run("plan", "checksums", "--servers", old, "--set", missing, *SHORT, "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["factors"]["directory"]
    assert "there is no such folder" in result.stderr
    assert not list(teiten.workdir.clusters.iterdir())
