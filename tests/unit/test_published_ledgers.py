"""Published ledgers are restored, and nothing else is: whoever made it would choose what runs."""

from __future__ import annotations

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from teiten.errors import LedgerError
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.published import reduced, restore
from teiten.ledger.store import Ledger
from teiten.model.progress import is_published
from tests.fixtures.two_machines import write_campaign


def test_a_published_ledger_comes_back_and_is_never_continued(tmp_path: Path) -> None:
    restore(reduced(write_campaign(tmp_path / "mine")), tmp_path / "restored")
    with Ledger.open(tmp_path / "restored", read_only=True) as ledger:
        assert is_published(ledger.campaign_events())


def test_a_ledger_that_could_be_continued_is_refused(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "theirs")
    with closing(sqlite3.connect(folder / FILE_NAME)) as ledger:
        ledger.execute("PRAGMA journal_mode = DELETE")
    with pytest.raises(LedgerError, match="none that `teiten collection publish` wrote"):
        restore(lzma.compress((folder / FILE_NAME).read_bytes()), tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


def test_a_view_cannot_say_today_that_a_ledger_is_published(tmp_path: Path) -> None:
    restore(reduced(write_campaign(tmp_path / "theirs")), tmp_path / "changed")
    file = tmp_path / "changed" / FILE_NAME
    with closing(sqlite3.connect(file)) as ledger, ledger:
        ledger.execute("CREATE VIEW happened AS SELECT * FROM event WHERE at < unixepoch()")
    with pytest.raises(LedgerError, match="none that"):
        restore(lzma.compress(file.read_bytes()), tmp_path / "restored")
