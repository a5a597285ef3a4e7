"""A ledger that cannot be used says why and what to do; never a traceback."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.errors import LedgerError
from teiten.ledger.migrate import CURRENT
from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import CAUTIONS, write_synthetic_ledger
from tests.fixtures.synthetic_plan import HOST, make_plan


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    folder = tmp_path / "campaign"
    write_synthetic_ledger(folder, trials=4, samples=100)
    return folder


def refusal(folder: Path, *, read_only: bool = True) -> LedgerError:
    with pytest.raises(LedgerError) as caught:
        Ledger.open(folder, read_only=read_only)
    assert caught.value.hint
    assert caught.value.exit_code == 2
    return caught.value


def pragma(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    connection.execute(statement)
    connection.close()


def test_no_ledger_there(tmp_path: Path) -> None:
    error = refusal(tmp_path)
    assert error.message == f"no ledger in {tmp_path}: ledger.sqlite is missing"
    assert "teiten runs" in error.hint


@pytest.mark.parametrize("read_only", [True, False])
def test_a_newer_teitens(campaign: Path, read_only: bool) -> None:
    pragma(campaign, f"PRAGMA user_version = {CURRENT + 1}")
    error = refusal(campaign, read_only=read_only)
    assert "was written by a newer Teiten" in error.message
    assert f"version {CURRENT + 1}, this Teiten knows up to {CURRENT}" in error.message
    assert "pip install --upgrade teiten" in error.hint


def test_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("campaign,trial\n" * 1000, encoding="ascii")
    assert "is not a ledger: it is no SQLite file" in refusal(tmp_path).message


def test_another_programs_database(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ledger.sqlite")
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.close()
    assert "another program's SQLite file" in refusal(tmp_path).message


def test_a_campaign_that_was_cut_off_while_it_was_made(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").touch()
    error = refusal(tmp_path)
    assert "Teiten was stopped while it made the campaign" in error.message
    assert "nothing was measured" in error.hint


def test_a_broken_page(campaign: Path) -> None:
    path = campaign / "ledger.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    error = refusal(campaign)
    assert f"the ledger {path} is damaged" in error.message
    assert "teiten rm" in error.hint


def test_a_cut_file(campaign: Path) -> None:
    path = campaign / "ledger.sqlite"
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(LedgerError, match="is damaged"):
        read_everything(campaign)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("campaign", "plan", "'{\"study\": 1}'"),
        ("campaign", "plan", "'no json'"),
        ("campaign", "facts", "'[]'"),
        ("trial", "facts", "'{'"),
        ("series", "data", "x'0011'"),
        ("series", "data", "x''"),
    ],
)
def test_a_value_that_cannot_be_read(campaign: Path, table: str, column: str, value: str) -> None:
    trigger = {"campaign": "campaign_is_fixed", "trial": "trial_is_fixed"}
    pragma(campaign, f"DROP TRIGGER {trigger.get(table, 'series_is_fixed')}")
    pragma(campaign, f"UPDATE {table} SET {column} = {value}")
    with pytest.raises(LedgerError, match="a value in it cannot be read"):
        read_everything(campaign)


def read_everything(campaign: Path) -> None:
    with Ledger.open(campaign, read_only=True) as ledger:
        _ = ledger.plan, ledger.facts
        for _ in ledger.trials():
            pass


def test_one_that_exists_is_not_made_again(campaign: Path) -> None:
    with pytest.raises(LedgerError, match=r"'campaign' exists already") as caught:
        Ledger.create(
            campaign, plan=make_plan(4), name="campaign", facts=HOST, cautions=(), command=""
        )
    assert "teiten resume campaign" in caught.value.hint
    with Ledger.open(campaign) as ledger:  # its lock was given back
        assert ledger.cautions == CAUTIONS


AS_NOBODY = """
import os, sys
from pathlib import Path
from teiten.errors import TeitenError
from teiten.ledger.store import Ledger
from teiten.ledger.campaigns import list_campaigns
import teiten.cli.campaign.read
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names
[plan_of(one) for one in names()]
folder = Path(sys.argv[1])
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for read_only in (True, False):
    try:
        with Ledger.open(folder, read_only=read_only) as ledger:
            print("read", ledger.planned, len(list(ledger.trials())))
    except TeitenError as error:
        print(error.message, "|", error.hint)
print([one.state.value for one in list_campaigns(folder.parent)])
"""


def as_nobody(folder: Path) -> list[str]:
    """What another user gets. tmp_path itself is opened to others for that."""
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def open_to_others(folder: Path) -> None:
    for parent in (folder, *folder.parents):
        if parent == Path("/tmp") or parent.stat().st_mode & 0o001:
            continue
        parent.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_may_read_but_not_write(campaign: Path) -> None:
    open_to_others(campaign)
    reading, writing, states = as_nobody(campaign)
    assert reading == "read 20 26"
    assert "cannot be locked: no permission" in writing
    assert "run Teiten as the user who owns it" in writing
    assert states == "['complete']"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_without_the_right_to_read(campaign: Path) -> None:
    open_to_others(campaign)
    (campaign / "ledger.sqlite").chmod(0o600)
    reading, _, states = as_nobody(campaign)
    assert reading.startswith("the ledger cannot be used: no permission")
    assert "run Teiten as the user who owns it" in reading
    assert states == "['damaged']"
