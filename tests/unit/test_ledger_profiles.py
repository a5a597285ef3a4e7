"""Stack samples in the ledger: kept whole, and ledgers from before there were any."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teiten.export.tables import tables
from teiten.ledger.migrate import CURRENT
from teiten.ledger.store import Ledger
from tests.fixtures.invented_profiles import invented_profile
from tests.fixtures.synthetic import CAUTIONS
from tests.fixtures.synthetic_plan import HOST, make_plan
from tests.unit.test_ledger_store import a_trial

PLAN = make_plan(4, clients=("1",))
PROFILE = invented_profile(np.random.default_rng(1), new=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign with one trial that has a profile."""
    folder = tmp_path / "campaign"
    with Ledger.create(
        folder, plan=PLAN, name="c", facts=HOST, cautions=CAUTIONS, command="teiten run x"
    ) as ledger:
        ledger.record_trials([replace(a_trial(), stack_samples=PROFILE)])
    return folder


def test_it_is_exported_as_folded_stacks(folder: Path) -> None:
    with Ledger.open(folder, read_only=True) as ledger:
        by_name = {table.name: table for table in tables(ledger, ())}
        (batch,) = by_name["profiles"].batches
    rows = batch.to_pylist()
    assert {row["stack"]: row["samples"] for row in rows} == PROFILE.stacks
    whole = sum(row["cpu_seconds_per_transaction"] for row in rows)
    assert whole == pytest.approx(PROFILE.samples * PROFILE.sample_seconds / PROFILE.transactions)


def without_profiles(folder: Path) -> None:
    """The ledger as version 1 wrote it."""
    connection = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    connection.execute("DROP TABLE profile")
    connection.execute("PRAGMA user_version = 1")
    connection.close()


def test_a_profile_comes_back_as_it_was(folder: Path) -> None:
    with Ledger.open(folder, read_only=True) as ledger:
        (trial,) = ledger.trials()
        (bare,) = ledger.trials(series=False)
    assert trial.stack_samples == PROFILE
    assert bare.stack_samples is None, "as heavy as series, and left out with them"


@pytest.mark.parametrize("statement", ["DELETE FROM profile", "UPDATE profile SET samples = 0"])
def test_it_is_never_changed(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


def test_an_older_ledger_is_read_without_profiles(folder: Path) -> None:
    without_profiles(folder)
    with Ledger.open(folder, read_only=True) as ledger:
        (trial,) = ledger.trials()
        assert "profiles" not in {table.name for table in tables(ledger, ())}
    assert trial.stack_samples is None


def test_an_older_ledger_gets_profiles_when_it_is_continued(folder: Path) -> None:
    without_profiles(folder)
    with Ledger.open(folder) as ledger:
        ledger.record_trials([replace(a_trial(2), stack_samples=PROFILE)])
        assert [one.stack_samples for one in ledger.trials()] == [None, PROFILE]
    connection = sqlite3.connect(folder / "ledger.sqlite")
    assert connection.execute("PRAGMA user_version").fetchone() == (CURRENT,)
    connection.close()
