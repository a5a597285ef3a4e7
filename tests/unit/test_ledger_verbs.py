"""`teiten runs`, `teiten rm` and `teiten export` as a user meets them."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
from contextlib import closing, suppress
from pathlib import Path

import pytest

from teiten.errors import UsageError
from teiten.ledger.campaigns import check_name
from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import write_synthetic_ledger
from tests.fixtures.verbs import Verbs, verbs_in


@pytest.fixture(scope="module")
def campaigns(module_folder: Path) -> Path:
    for name in ("alpha", "beta"):
        write_synthetic_ledger(module_folder / name, trials=20, samples=240)
        evidence = module_folder / name / "evidence" / "00001-1"
        evidence.mkdir(parents=True)
        (evidence / "server.log").write_text("LOG:  ready\n", encoding="ascii")
    return module_folder


@pytest.fixture
def workdir(campaigns: Path, tmp_path: Path) -> Path:
    shutil.copytree(campaigns, tmp_path / "campaigns")
    return tmp_path


@pytest.fixture
def teiten(workdir: Path, capsys: pytest.CaptureFixture[str]) -> Verbs:
    return verbs_in(workdir, capsys)


def test_runs_lists_campaigns(teiten: Verbs) -> None:
    said = teiten("runs")
    assert said.code == 0
    heading, *lines = said.out.splitlines()
    assert heading.split() == [
        "run",
        "state",
        "trials",
        "failed",
        "study",
        "profile",
        "created",
        "size",
    ]
    assert {line.split()[0] for line in lines} == {"alpha", "beta"}
    assert all("complete" in line and "20/20" in line for line in lines)
    assert said.err == ""


def at_80_columns(tmp_path: Path) -> tuple[str, list[str], str]:
    """The heading and the lines of `teiten runs` on a terminal, and what it says on stderr."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "teiten", "--workdir", str(tmp_path), "runs"]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {
        "TERM": "dumb"
    }
    said = subprocess.run(
        command, stdout=terminal, stderr=subprocess.PIPE, env=environment, check=True, text=True
    )
    os.close(terminal)
    with os.fdopen(master, "rb", buffering=0) as shown:
        heading, *lines = shown.read(65536).decode().splitlines()
    return heading, lines, said.stderr


@pytest.mark.parametrize("name", ["observe-quick-20261125-174011", "a-long-name" * 5])
def test_a_narrow_terminal_keeps_study_profile_and_day(tmp_path: Path, name: str) -> None:
    """80 columns have them beside any name, which is folded; the size goes first, and is named."""
    write_synthetic_ledger(tmp_path / "campaigns" / name, trials=20, samples=240)
    heading, lines, said = at_80_columns(tmp_path)
    assert {"study", "profile", "created"} <= set(heading.split()) and "size" not in heading
    assert "".join(line.split()[0] for line in lines) == name
    assert "left out for want of room: size" in said


def test_a_narrow_terminal_folds_a_long_study_and_keeps_state_trials_and_day(
    tmp_path: Path,
) -> None:
    name, study = "pgecons-20261126-065126-operating-systems", "partition-of-operating-systems"
    folder = tmp_path / "campaigns" / name
    write_synthetic_ledger(folder, trials=20, samples=240)
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        connection.execute("DROP TRIGGER campaign_is_fixed")
        connection.execute("UPDATE campaign SET study = ?, profile = 'published'", (study,))
        connection.execute("DROP TRIGGER trial_is_kept")
        connection.execute("DELETE FROM trial WHERE number > 15")
        connection.commit()
    heading, lines, said = at_80_columns(tmp_path)
    assert {"run", "state", "trials", "study", "created"} <= set(heading.split())
    assert not {"size", "profile"} & set(heading.split()) and "size, profile" in said
    at = heading.index("study"), heading.index("created")
    assert "".join(line[slice(*at)].strip() for line in lines) == study
    assert "".join(line[: heading.index("state")].strip() for line in lines) == name
    assert "complete" in lines[0] and "15/20" in lines[0]


def test_runs_as_json(teiten: Verbs, workdir: Path) -> None:
    found = json.loads(teiten("runs", "--json").out)
    alpha = next(one for one in found if one["name"] == "alpha")
    assert alpha["folder"] == str(workdir / "campaigns" / "alpha")
    assert (alpha["state"], alpha["done"], alpha["planned"]) == ("complete", 20, 20)
    assert alpha["bytes"] > 0 and alpha["problem"] is None


def test_runs_tells_of_a_damaged_one(teiten: Verbs, workdir: Path) -> None:
    (workdir / "campaigns" / "beta" / "ledger.sqlite").write_bytes(b"x" * 5000)
    said = teiten("runs")
    assert "damaged" in said.out
    assert "is no SQLite file" in said.err
    assert "teiten rm beta" in said.err


def test_runs_without_campaigns(teiten: Verbs, tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    said = teiten("--workdir", empty, "runs")
    assert (said.code, said.out) == (0, "")
    assert "no campaign in" in said.err and "teiten run observe" in said.err
    assert json.loads(teiten("--workdir", empty, "runs", "--json").out) == []


def test_rm_deletes_what_is_named_and_nothing_else(teiten: Verbs, workdir: Path) -> None:
    said = teiten("rm", "alpha", "alpha", "--yes")
    assert (said.code, said.out) == (0, "")
    assert said.err == "deleted alpha\n"
    assert [one.name for one in (workdir / "campaigns").iterdir()] == ["beta"]


def test_rm_asks_and_does_nothing_without_a_terminal(teiten: Verbs, workdir: Path) -> None:
    said = teiten("rm", "alpha")
    assert said.code == 2
    assert "there is no terminal to ask on" in said.err
    assert "hint: give --yes" in said.err
    assert (workdir / "campaigns" / "alpha" / "ledger.sqlite").exists()


@pytest.mark.parametrize(("answer", "deleted"), [("y", True), ("n", False), ("", False)])
def test_rm_does_what_is_answered(workdir: Path, answer: str, deleted: bool) -> None:
    ours, theirs = pty.openpty()
    program = "from teiten.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "--workdir", str(workdir), "rm", "alpha"],
        stdin=theirs,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.write(ours, f"{answer}\n".encode())
        _, err = process.communicate(timeout=300)
    os.close(ours)
    os.close(theirs)
    assert "Delete this campaign for ever? [y/N]" in err
    assert process.returncode == (0 if deleted else 130)
    assert (workdir / "campaigns" / "alpha").exists() != deleted


def test_rm_refuses_a_running_one_and_then_deletes_none(teiten: Verbs, workdir: Path) -> None:
    with Ledger.open(workdir / "campaigns" / "beta"):
        said = teiten("rm", "alpha", "beta", "--yes")
    assert said.code == 2
    assert "the campaign beta is running, and is not deleted" in said.err
    assert (workdir / "campaigns" / "alpha").exists()


def test_rm_deletes_a_damaged_one(teiten: Verbs, workdir: Path) -> None:
    (workdir / "campaigns" / "beta" / "ledger.sqlite").write_bytes(b"x" * 5000)
    assert teiten("rm", "beta", "--yes").code == 0
    assert not (workdir / "campaigns" / "beta").exists()


def test_rm_deletes_no_folder_that_is_not_a_campaigns(teiten: Verbs, workdir: Path) -> None:
    stranger = workdir / "photographs"
    stranger.mkdir()
    connection = sqlite3.connect(stranger / "ledger.sqlite")
    connection.execute("CREATE TABLE picture (name TEXT)")
    connection.close()
    said = teiten("rm", str(stranger), "--yes")
    assert said.code == 2
    assert "its ledger.sqlite is not a ledger of Teiten" in said.err
    assert stranger.exists()
    (workdir / "plain").mkdir()
    said = teiten("rm", str(workdir / "plain"), "--yes")
    assert "it has no ledger.sqlite" in said.err
    assert (workdir / "plain").exists()


def test_rm_never_deletes_the_folder_of_all_campaigns(teiten: Verbs, workdir: Path) -> None:
    shutil.copy(workdir / "campaigns" / "alpha" / "ledger.sqlite", workdir)
    said = teiten("rm", str(workdir), "--yes")
    assert said.code == 2
    assert "holds the folder of all campaigns" in said.err
    assert (workdir / "campaigns" / "alpha").exists()


def test_rm_deletes_a_campaign_that_lies_elsewhere(teiten: Verbs, workdir: Path) -> None:
    write_synthetic_ledger(workdir / "kept" / "copy", trials=20, samples=120)
    assert teiten("rm", str(workdir / "kept" / "copy"), "--yes").code == 0
    assert (workdir / "kept").exists()
    assert not (workdir / "kept" / "copy").exists()


def test_rm_deletes_only_what_is_the_campaigns(teiten: Verbs, workdir: Path) -> None:
    papers = workdir / "papers"
    for folder in ("report", "evidence/trial-0001.1", "data"):
        (papers / folder).mkdir(parents=True)
    for own in ("thesis.tex", "report/draft.md", "data/numbers.csv"):
        (papers / own).write_text("mine", encoding="ascii")
    for of_campaign in ("report/report.en.html", "evidence/trial-0001.1/server.log"):
        (papers / of_campaign).write_text("Teiten's", encoding="ascii")
    shutil.copy(workdir / "campaigns" / "alpha" / "ledger.sqlite", papers)
    said = teiten("rm", str(papers), "--yes")
    assert said.code == 0
    assert "kept" in said.err and "thesis.tex" in said.err
    left = {str(one.relative_to(papers)) for one in papers.rglob("*") if one.is_file()}
    assert left == {"thesis.tex", "report/draft.md", "data/numbers.csv"}


def test_a_folder_without_its_ledger_gives_its_name_back(teiten: Verbs, workdir: Path) -> None:
    folder = workdir / "campaigns" / "again"
    folder.mkdir()
    for name in ("lock", "lock.pid", "ledger.sqlite-shm"):
        (folder / name).touch()
    check_name("again", workdir / "campaigns")
    write_synthetic_ledger(folder, trials=20, samples=120)
    assert "again" in teiten("runs").out
    (workdir / "campaigns" / "taken").mkdir()
    (workdir / "campaigns" / "taken" / "notes").touch()
    with pytest.raises(UsageError, match="which is no campaign"):
        check_name("taken", workdir / "campaigns")


def test_what_a_killed_making_left_is_removed_and_never_listed(
    teiten: Verbs, workdir: Path
) -> None:
    left = workdir / "campaigns" / ".making-gamma-1"
    shutil.copytree(workdir / "campaigns" / "alpha", left)
    assert "making" not in teiten("runs").out
    write_synthetic_ledger(workdir / "campaigns" / "gamma", trials=20, samples=120)
    assert not left.exists()


@pytest.mark.parametrize("wild", ["1e300", "-5", "'soon'", "9e99", "NULL"])
def test_one_wild_ledger_spoils_no_list(teiten: Verbs, workdir: Path, wild: str) -> None:
    folder = workdir / "campaigns" / "wild"
    shutil.copytree(workdir / "campaigns" / "alpha", folder)
    connection = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    connection.execute("DROP TRIGGER campaign_is_fixed")
    with suppress(sqlite3.IntegrityError):
        connection.execute(f"UPDATE campaign SET created_at = {wild}")
    connection.close()
    said = teiten("runs")
    assert said.code == 0 and "alpha" in said.out and "wild" in said.out


def test_rm_of_an_unknown_one(teiten: Verbs) -> None:
    said = teiten("rm", "alhpa", "--yes")
    assert said.code == 2
    assert "error: no campaign 'alhpa'. Did you mean 'alpha'?" in said.err


def test_export_names_its_files(teiten: Verbs, workdir: Path) -> None:
    said = teiten("export", "alpha", "--to", str(workdir / "numbers"), "--format", "csv")
    names = [Path(line).name for line in said.out.splitlines()]
    assert names == ["trials.csv", "contrasts.csv", "events.csv", "samples.csv"]
    assert all((workdir / "numbers" / name).exists() for name in names)


def test_export_overwrites_nothing(teiten: Verbs, workdir: Path) -> None:
    (workdir / "numbers").mkdir()
    (workdir / "numbers" / "trials.csv").write_text("mine", encoding="ascii")
    said = teiten("export", "alpha", "--to", str(workdir / "numbers"))
    assert said.code == 2
    assert "the folder is not empty" in said.err
    assert (workdir / "numbers" / "trials.csv").read_text(encoding="ascii") == "mine"


def test_export_goes_beside_you_where_no_folder_is_named(
    teiten: Verbs, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workdir)
    found = json.loads(teiten("export", "alpha", "--json").out)
    assert found["campaign"] == "alpha"
    assert sorted(Path(one).name for one in found["files"]) == sorted(
        f"{table}.{form}"
        for table in ("trials", "contrasts", "events", "samples")
        for form in ("csv", "parquet")
    )
    assert (workdir / "alpha-export" / "trials.parquet").exists()


@pytest.mark.parametrize("outside", ["../outside", "{folder}/outside"])
def test_a_ledger_of_others_does_not_say_where_its_numbers_go(
    outside: str, teiten: Verbs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, here = tmp_path / "sent", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    name = outside.format(folder=tmp_path)
    write_synthetic_ledger(sent, trials=20, samples=240, name=name)
    before = set(tmp_path.iterdir())
    shown = teiten("export", str(sent), "--format", "csv")
    assert shown.code == 0
    assert [path.name for path in here.iterdir()] == ["sent-export"]
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("verb", ["runs", "rm", "export"])
def test_each_verb_shows_two_examples(teiten: Verbs, verb: str) -> None:
    said = teiten(verb, "--help")
    assert said.out.count("teiten") >= 3
    assert "Examples:" in said.out and "--json" in said.out


def test_a_long_name_is_not_folded_in_a_pipe(teiten: Verbs, workdir: Path) -> None:
    name = "a-name-that-is-longer-than-the-column-of-a-terminal-" + 40 * "x"
    (workdir / "campaigns" / "alpha").rename(workdir / "campaigns" / name)
    assert name in teiten("runs").out
