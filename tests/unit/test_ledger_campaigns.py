"""Campaigns are listed with their state, found by what a user types, and named uniquely."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from teiten.errors import LedgerError, UsageError
from teiten.ledger.campaigns import (
    CampaignState,
    check_name,
    find_campaign,
    list_campaigns,
    new_name,
    summarise,
)
from teiten.ledger.store import Ledger
from teiten.model.trial import Outcome
from tests.fixtures.synthetic import START, Clock, synthetic_trials, write_synthetic_ledger
from tests.fixtures.synthetic_plan import HOST, make_plan

PLAN = make_plan(4, clients=("1",))


def make(campaigns: Path, name: str, created: float, trials: int = 0) -> Path:
    """A campaign that was cut off after some trials."""
    clock = Clock()
    clock.now = created
    with Ledger.create(
        campaigns / name,
        plan=PLAN,
        name=name,
        facts=HOST,
        cautions=(),
        command="",
        clock=clock,
    ) as ledger:
        for trial in islice(synthetic_trials(PLAN, 2, 1), trials):
            ledger.record_trials([trial])
    return campaigns / name


@pytest.fixture
def campaigns(tmp_path: Path) -> Path:
    folder = tmp_path / "campaigns"
    make(folder, "observe-quick-1", START, trials=1)
    make(folder, "observe-quick-2", START + 60, trials=4)
    make(folder, "observe-standard-1", START + 30)
    (folder / "no-campaign").mkdir()
    return folder


def test_the_newest_comes_first_with_its_state(campaigns: Path) -> None:
    found = list_campaigns(campaigns)
    assert [(one.name, one.state.value, one.done, one.planned) for one in found] == [
        ("observe-quick-2", "complete", 4, 4),
        ("observe-standard-1", "interrupted", 0, 4),
        ("observe-quick-1", "interrupted", 1, 4),
    ]
    newest = found[0]
    assert (newest.study, newest.profile, newest.created_at) == ("observe", "standard", START + 60)
    assert newest.size >= (newest.folder / "ledger.sqlite").stat().st_size
    assert newest.failed == 0


def test_one_that_is_being_written_is_running(campaigns: Path) -> None:
    with Ledger.open(campaigns / "observe-quick-1"):
        assert summarise(campaigns / "observe-quick-1").state is CampaignState.RUNNING
    assert summarise(campaigns / "observe-quick-1").state is CampaignState.INTERRUPTED


def test_one_whose_writer_was_killed_is_interrupted(campaigns: Path) -> None:
    folder = campaigns / "observe-quick-1"
    program = (
        "import sys, time; from pathlib import Path; from teiten.ledger.store import Ledger\n"
        "ledger = Ledger.open(Path(sys.argv[1])); print('open', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        assert summarise(folder).state is CampaignState.RUNNING
        process.send_signal(signal.SIGKILL)
    assert summarise(folder).state is CampaignState.INTERRUPTED


def test_trials_that_failed_beyond_their_repeats_are_done_and_failed(campaigns: Path) -> None:
    folder = campaigns / "observe-quick-1"
    (first,) = islice(synthetic_trials(PLAN, 2, 1), 1)
    with Ledger.open(folder) as ledger:
        for attempt in (1, 2, 3):
            fields = {**vars(first), "number": 2, "attempt": attempt, "outcome": Outcome.FAILED}
            ledger.record_trials([type(first)(**fields)])
    found = summarise(folder)
    assert (found.done, found.failed, found.planned) == (2, 1, 4)


def test_a_comparison_whose_sides_counted_in_different_attempts_goes_on(campaigns: Path) -> None:
    trials = {trial.number: trial for trial in synthetic_trials(PLAN, 2, 1)}
    with Ledger.open(campaigns / "observe-standard-1") as ledger:
        for attempt, counted in ((1, {1, 3}), (2, {2, 4})):
            for trial in trials.values():
                outcome = Outcome.COUNTED if trial.number in counted else Outcome.DISTURBED
                ledger.record_trials([replace(trial, attempt=attempt, outcome=outcome)])
    found = summarise(campaigns / "observe-standard-1")
    assert (found.state, found.done) == (CampaignState.INTERRUPTED, 2)


def test_a_damaged_one_is_listed_with_its_problem(campaigns: Path) -> None:
    (campaigns / "observe-quick-1" / "ledger.sqlite").write_bytes(b"nonsense" * 100)
    last = list_campaigns(campaigns)[-1]
    assert (last.name, last.state) == ("observe-quick-1", CampaignState.DAMAGED)
    assert last.problem is not None
    assert "is no SQLite file" in last.problem


def test_no_campaigns_at_all(tmp_path: Path) -> None:
    assert list_campaigns(tmp_path / "nowhere") == ()
    with pytest.raises(LedgerError, match=r"no campaign in .*nowhere yet") as caught:
        find_campaign(tmp_path / "nowhere", "last")
    assert "teiten run observe" in caught.value.hint


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("last", "observe-quick-2"),
        ("observe-quick-1", "observe-quick-1"),
        ("observe-s", "observe-standard-1"),
    ],
)
def test_it_is_found_by_name_prefix_or_last(campaigns: Path, reference: str, name: str) -> None:
    assert find_campaign(campaigns, reference) == campaigns / name


def test_a_whole_name_wins_over_names_that_it_begins(campaigns: Path) -> None:
    make(campaigns, "observe-quick-11", START)
    assert find_campaign(campaigns, "observe-quick-1").name == "observe-quick-1"


def test_it_is_found_by_path(campaigns: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = campaigns / "observe-quick-1"
    elsewhere = campaigns / "elsewhere"
    assert find_campaign(elsewhere, str(folder)) == folder
    assert find_campaign(elsewhere, str(folder / "ledger.sqlite")) == folder
    monkeypatch.chdir(folder)
    assert find_campaign(elsewhere, ".") == folder
    monkeypatch.chdir(campaigns)
    assert find_campaign(elsewhere, "observe-quick-1") == folder
    assert find_campaign(elsewhere, f"observe-quick-1{os.sep}") == folder


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("observe-q", "'observe-q' is the beginning of several campaigns: observe-quick-1, "),
        ("obsreve-quick-2", "no campaign 'obsreve-quick-2'. Did you mean 'observe-quick-2'?"),
        ("lst", "no campaign 'lst'. Did you mean 'last'?"),
        ("", "no campaign ''."),
        ("/nowhere/at/all", "no campaign in /nowhere/at/all: it has no ledger.sqlite"),
    ],
)
def test_what_is_not_one_campaign_is_refused(campaigns: Path, reference: str, message: str) -> None:
    with pytest.raises(LedgerError) as caught:
        find_campaign(campaigns, reference)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_names_tell_study_profile_and_time_and_are_not_taken(tmp_path: Path) -> None:
    created = datetime.datetime(2026, 11, 21, 12, 45).astimezone().timestamp()
    name = new_name("observe", "quick", created, tmp_path)
    assert name == "observe-quick-20261121-124500"
    for expected in ("observe-quick-20261121-124500-2", "observe-quick-20261121-124500-3"):
        (tmp_path / name).mkdir()
        name = new_name("observe", "quick", created, tmp_path)
        assert name == expected
    assert new_name("observe", "quick", created) == "observe-quick-20261121-124500"


@pytest.mark.parametrize("study", ["../../etc", "日本語", "", "-rf", "a b/c", "x" * 500])
def test_any_study_gives_a_name_that_a_folder_can_have(tmp_path: Path, study: str) -> None:
    name = new_name(study, "quick", START, tmp_path)
    check_name(name, tmp_path)
    (tmp_path / name).mkdir()
    assert (tmp_path / name).parent == tmp_path


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-x", "last", "x" * 101, "a b", ".hidden"])
def test_names_that_no_campaign_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"--name .* cannot name a campaign") as caught:
        check_name(name, tmp_path)
    assert "letters, digits" in caught.value.hint


def test_a_name_that_is_taken(campaigns: Path) -> None:
    with pytest.raises(UsageError, match="there is a campaign of this name") as caught:
        check_name("observe-quick-1", campaigns)
    assert "teiten resume observe-quick-1" in caught.value.hint


def test_a_synthetic_campaign_is_complete(tmp_path: Path) -> None:
    write_synthetic_ledger(tmp_path / "s", trials=20, samples=100)
    assert summarise(tmp_path / "s").state is CampaignState.COMPLETE
