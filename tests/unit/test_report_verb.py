"""``teiten report``: writes where it says, prints the path, and refuses with a hint."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import CliRunner, Result

from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.main import Session, teiten
from teiten.cli.reports import write_reports
from teiten.cli.verbs.report import tell_unfinished
from teiten.errors import LedgerError, UsageError
from teiten.ledger.campaigns import CampaignState, summarise
from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import write_synthetic_ledger
from tests.fixtures.undrawn import drawn


@pytest.fixture(scope="module")
def workdir(module_folder: Path) -> Path:
    write_synthetic_ledger(module_folder / "campaigns" / "one", trials=60, samples=2400)
    return module_folder


def run(workdir: Path, *arguments: str) -> Result:
    command = ["--workdir", str(workdir), "report", *arguments]
    return CliRunner().invoke(teiten, command, standalone_mode=False)


def test_the_page_goes_into_the_campaigns_folder(workdir: Path) -> None:
    done = run(workdir, "last", "--lang", "ja")
    path = workdir / "campaigns" / "one" / "report" / "report.ja.html"
    assert done.stdout == f"{path}\n"
    assert '<html lang="ja">' in path.read_text(encoding="utf-8")
    assert not list(path.parent.glob(".*")), "no part is left"


def test_markdown_goes_to_a_folder_of_the_users(workdir: Path, tmp_path: Path) -> None:
    done = run(workdir, "one", "--format", "markdown", "--to", str(tmp_path / "out"), "--json")
    told = json.loads(done.stdout)
    assert told["path"] == str(tmp_path / "out" / "report.md")
    assert told["verdicts"][0]["sentence"].startswith("PostgreSQL 18.4 is ")
    assert (tmp_path / "out" / "data" / "trials.csv").is_file()
    assert list((tmp_path / "out" / "charts").glob("*.svg"))


def test_the_page_can_go_into_a_folder_or_a_file(workdir: Path, tmp_path: Path) -> None:
    run(workdir, "one", "--to", str(tmp_path))
    with drawn():
        run(workdir, "one", "--to", str(tmp_path / "mine.html"), "--lang", "en")
    assert 'id="show-ja"' in (tmp_path / "report.html").read_text(encoding="utf-8")
    english = (tmp_path / "mine.html").read_text(encoding="utf-8")
    assert 'id="show-ja"' not in english and 'class="marks"' in english, "it has pictures"


def test_a_run_ends_with_both_languages_english_first(workdir: Path) -> None:
    folder = workdir / "campaigns" / "one"
    with Ledger.open(folder, read_only=True) as ledger:
        paths = write_reports(analyse_campaign(ledger), folder)
    assert [path.name for path in paths] == ["report.en.html", "report.ja.html"]
    assert all(path.is_file() for path in paths)


def test_refusals_have_hints(workdir: Path, tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("mine")
    refused = run(workdir, "one", "--format", "markdown", "--to", str(taken)).exception
    assert isinstance(refused, UsageError)
    assert refused.message == f"--to {taken} is a file; a Markdown report is a folder"
    assert taken.read_text() == "mine"
    refused = run(workdir, "one", "--to", str(taken / "x.html")).exception
    assert isinstance(refused, UsageError)
    assert refused.hint == "name a place that you can write to with --to"
    assert isinstance(run(workdir, "unknown").exception, LedgerError)


@pytest.mark.parametrize(
    ("state", "hint"),
    [
        (CampaignState.INTERRUPTED, "teiten resume one"),
        (CampaignState.RUNNING, "it runs still: repeat this when it has ended"),
    ],
)
def test_a_campaign_that_has_not_ended_is_told_as_that(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, state: CampaignState, hint: str
) -> None:
    folder = workdir / "campaigns" / "one"
    warned: list[tuple[str, str]] = []
    session = SimpleNamespace(
        console=SimpleNamespace(warn=lambda text, hint: warned.append((text, hint)))
    )
    summary = replace(summarise(folder), state=state, done=3, planned=8)
    monkeypatch.setattr("teiten.ledger.campaigns.summarise", lambda _folder: summary)
    tell_unfinished(cast("Session", session), folder)
    assert warned == [
        ("the campaign has not ended: 3 of 8 trials are in this report", hint),
    ]
    summary = replace(summary, state=CampaignState.COMPLETE)
    tell_unfinished(cast("Session", session), folder)
    assert len(warned) == 1
