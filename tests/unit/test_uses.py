"""What a campaign needs that runs or can be resumed is not deleted under it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.cli.campaign.uses import Uses, refusal
from teiten.cli.main import main
from teiten.execute.postgres.marker import Kind, new_folder
from teiten.host.system.makers import same_process
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import started_at
from teiten.ledger.lock import campaign_lock, is_locked, workdir_lock
from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import write_synthetic_ledger
from tests.fixtures.synthetic_plan import HOST, make_plan


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    """A campaign that was interrupted before its first trial, and its template."""
    workdir = Workdir(tmp_path)
    workdir.prepare()
    plan = make_plan(4)
    for number, template in enumerate(plan.templates):
        folder = workdir.templates / template.fingerprint
        new_folder(folder, Kind.TEMPLATE, f"template {number}")
        (folder / "template.json").write_text("{}", encoding="ascii")
    Ledger.create(
        workdir.campaigns / "waiting", plan=plan, name="waiting", facts=HOST, cautions=(),
        command="",
    ).close()  # fmt: skip
    return workdir


def called(workdir: Workdir, *words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["--workdir", str(workdir.root), *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_clean_keeps_the_templates_of_a_campaign_that_can_be_resumed(
    workdir: Workdir, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(workdir.templates.iterdir())
    assert called(workdir, "clean", "--templates", "--yes") == 2
    said = capsys.readouterr().err
    assert "the campaign waiting, which can be resumed, needs it" in said
    assert "--anyway" in said
    assert set(workdir.templates.iterdir()) == before
    assert called(workdir, "clean", "--templates", "--yes", "--anyway") == 0
    assert not set(workdir.templates.iterdir())


def test_clean_deletes_what_else_there_is(
    workdir: Workdir, capsys: pytest.CaptureFixture[str]
) -> None:
    other = workdir.templates / ("f" * 64)
    new_folder(other, Kind.TEMPLATE, "nobody's")
    (other / "template.json").write_text("{}", encoding="ascii")
    before = set(workdir.templates.iterdir())
    assert called(workdir, "clean", "--templates", "--yes") == 0
    assert "kept: " in capsys.readouterr().err
    assert set(workdir.templates.iterdir()) == before - {other}


def test_the_programs_of_a_campaign_are_known(workdir: Workdir, tmp_path: Path) -> None:
    (one,) = Uses(workdir).unfinished
    assert one.name == "waiting" and not one.running
    programs = one.plan.servers[0][1].bin_directory
    assert one.needs_folder(programs) and one.needs_folder(programs.parent)
    assert not one.needs_folder(tmp_path / "elsewhere")
    with campaign_lock(workdir.campaigns / "waiting"):
        (running,) = Uses(workdir).unfinished
        assert running.running and "which is running" in refusal("it", running).message


def test_a_complete_campaign_needs_nothing(workdir: Workdir) -> None:
    shutil.rmtree(workdir.campaigns / "waiting")
    write_synthetic_ledger(workdir.campaigns / "done", trials=8, samples=30)
    assert Uses(workdir).unfinished == ()


def test_an_attached_server_lies_in_no_folder(workdir: Workdir, tmp_path: Path) -> None:
    (one,) = Uses(workdir).unfinished
    lone = replace(one, plan=replace(one.plan, templates=()))
    assert not lone.needs_folder(tmp_path)


@pytest.mark.parametrize("verb", [("run", "observe"), ("null",)])
def test_a_run_that_is_refused_leaves_no_campaign(
    workdir: Workdir, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]
) -> None:
    before = sorted(workdir.campaigns.iterdir())
    with workdir_lock(workdir.root):
        assert called(workdir, *verb, "--yes") == 2
    assert "another campaign is being measured" in capsys.readouterr().err
    assert sorted(workdir.campaigns.iterdir()) == before


def test_resume_of_a_complete_campaign_writes_nothing(
    workdir: Workdir, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = workdir.campaigns / "done"
    write_synthetic_ledger(folder, trials=8, samples=30)
    with Ledger.open(folder) as ledger:
        ledger.record_event("campaign-finished")
    for language in ("en", "ja"):
        (folder / "report").mkdir(exist_ok=True)
        (folder / "report" / f"report.{language}.html").write_text("kept", encoding="ascii")
    before = {one: one.stat().st_mtime_ns for one in folder.rglob("*") if one.is_file()}
    time.sleep(0.02)
    assert called(workdir, "resume", "done") in {0, 4}
    assert "done is complete: nothing is left to run" in capsys.readouterr().err
    after = {one: one.stat().st_mtime_ns for one in folder.rglob("*") if one.is_file()}
    assert {one: at for one, at in after.items() if "-shm" not in one.name} == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no zombies")
def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    begun = started_at(process.pid)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert started_at(process.pid) is None
        assert not same_process(process.pid, begun)
    finally:
        process.wait()


def test_a_lock_whose_holder_is_gone_is_free(workdir: Workdir) -> None:
    folder = workdir.campaigns / "waiting"
    (folder / "lock.pid").write_text("999999999\n", encoding="ascii")
    assert not is_locked(folder)
