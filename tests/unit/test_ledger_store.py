"""The ledger keeps what it was given, all of it, unchanged, and refuses everything else."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teiten.errors import LedgerError, MachineError
from teiten.ledger.store import Ledger
from teiten.model.facts import Caution, Severity
from teiten.model.trial import Outcome, Problem, Series, Trial
from tests.fixtures.synthetic import CAUTIONS, synthetic_trials
from tests.fixtures.synthetic_plan import HOST, make_plan

PLAN = make_plan(4, clients=("1",))


def create(folder: Path) -> Ledger:
    return Ledger.create(
        folder, plan=PLAN, name=folder.name, facts=HOST, cautions=CAUTIONS, command="teiten run x"
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with create(tmp_path / "campaign") as made:
        yield made


def a_trial(number: int = 1, attempt: int = 1) -> Trial:
    return Trial(
        number=number,
        attempt=attempt,
        outcome=Outcome.COUNTED,
        problems=(Problem("steal", 'a line\udcff with "quotes" and 日本語'),),
        started_at=1000.25,
        finished_at=1060.5,
        metrics={"tps": 0.1 + 0.2, "latency_mean": math.nan, "latency_max": math.inf},
        series=(
            Series("os", np.arange(3.0), {"cpu_user_share": np.array([0.1, math.nan, 1.0])}),
            Series("waits", np.arange(0.0), {}),
        ),
        histogram="HISTFAAA",
        facts={"server_version": "18.4", "deep": {"list": [1, None, True]}},
        evidence=(("server log", "evidence/00001-1/server.log"),),
    )


def assert_same(found: Trial, given: Trial) -> None:
    assert replace(found, series=(), metrics={}) == replace(given, series=(), metrics={})
    np.testing.assert_equal(found.metrics, given.metrics)
    assert [one.source for one in found.series] == [one.source for one in given.series]
    for one, other in zip(found.series, given.series, strict=True):
        np.testing.assert_array_equal(one.seconds, other.seconds)
        assert list(one.columns) == list(other.columns)
        for name in one.columns:
            np.testing.assert_array_equal(one.columns[name], other.columns[name])


def test_a_campaign_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    with create(folder) as made:
        uuid, created_at = made.uuid, made.created_at
    with Ledger.open(folder) as found:
        assert found.plan == PLAN
        assert found.facts == HOST
        assert found.cautions == CAUTIONS
        assert (found.name, found.command) == ("campaign", "teiten run x")
        assert (found.uuid, found.created_at) == (uuid, created_at)
        assert (found.study_name, found.profile) == ("observe", "standard")
        assert (found.planned, found.repeats) == (4, 2)


def test_a_trial_comes_back_as_it_was(ledger: Ledger) -> None:
    ledger.record_trials([a_trial()])
    (found,) = ledger.trials()
    assert_same(found, a_trial())
    assert ledger.finished() == [(1, 1, Outcome.COUNTED)]
    assert ledger.points() == {"os": 3, "waits": 0}


def test_of_trials_of_before_the_plain_mean_is_the_number(ledger: Ledger) -> None:
    ledger.record_trials([replace(a_trial(), metrics={"tps": 99.0, "tps_untrimmed": 98.0})])
    (found,) = ledger.trials()
    assert found.metrics == {"tps": 98.0, "tps_trimmed": 99.0}
    assert ledger.attempts("tps")[0].metrics["tps"] == 98.0


def test_trials_come_without_their_series_where_none_are_needed(ledger: Ledger) -> None:
    ledger.record_trials([a_trial()])
    (found,) = ledger.trials(series=False)
    assert found.series == ()
    assert found.metrics["tps"] == 0.1 + 0.2


def test_trials_come_by_number_and_finished_in_the_order_of_their_end(ledger: Ledger) -> None:
    for key in ((2, 1), (1, 1), (2, 2)):
        ledger.record_trials([a_trial(*key)])
    assert [(one.number, one.attempt) for one in ledger.trials()] == [(1, 1), (2, 1), (2, 2)]
    assert [one[:2] for one in ledger.finished()] == [(2, 1), (1, 1), (2, 2)]


def test_events_keep_their_order_and_detail(ledger: Ledger) -> None:
    ledger.record_event("campaign-started")
    ledger.record_event("step", trial=3, attempt=1, step="restore", how=Path("/somewhere"))
    first, second = ledger.events()
    assert (first.kind, first.trial, first.detail) == ("campaign-started", None, {})
    assert (second.kind, second.trial, second.attempt) == ("step", 3, 1)
    assert second.detail == {"step": "restore", "how": "/somewhere"}
    assert first.at <= second.at


def test_of_a_servers_facts_the_last_hold_and_equal_ones_are_not_repeated(ledger: Ledger) -> None:
    for facts in ({"version": "18.3"}, {"version": "18.3"}, {"version": "18.4"}):
        ledger.record_server_facts("18", facts)
    assert ledger.server_facts == {"18": {"version": "18.4"}}
    with sqlite3.connect(ledger.path) as connection:
        assert connection.execute("SELECT count(*) FROM server_facts").fetchone() == (2,)
    connection.close()


def test_a_caution_found_on_the_way_is_added_once(ledger: Ledger) -> None:
    late = Caution("no-wait-events", Severity.NOTE, (("version", "9.5"),))
    for caution in (late, late, CAUTIONS[0]):
        ledger.record_caution(caution)
    assert ledger.cautions == (*CAUTIONS, late)


def test_an_attempt_is_recorded_once(ledger: Ledger) -> None:
    ledger.record_trials([a_trial()])
    with pytest.raises(LedgerError, match="trial 1, attempt 1 is recorded already"):
        ledger.record_trials([replace(a_trial(), outcome=Outcome.FAILED)])
    assert ledger.finished() == [(1, 1, Outcome.COUNTED)]


def test_a_trial_is_recorded_wholly_or_not_at_all(ledger: Ledger) -> None:
    crooked = Series("os", np.arange(3.0), {"cpu_user_share": np.arange(2.0)})
    with pytest.raises(ValueError, match="the columns of the series os differ in length"):
        ledger.record_trials([replace(a_trial(), series=(*a_trial().series[1:], crooked))])
    assert ledger.finished() == []
    ledger.record_trials([a_trial()])
    (found,) = ledger.trials()
    assert_same(found, a_trial())


@pytest.mark.parametrize(
    "table", ["campaign", "trial", "metric", "series", "server_facts", "event"]
)
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET rowid_or_name = 1"])
def test_nothing_can_be_changed_or_removed(ledger: Ledger, table: str, statement: str) -> None:
    fill(ledger)
    column = {"campaign": "name", "trial": "outcome", "event": "kind", "server_facts": "level"}
    text = statement.format(table).replace("rowid_or_name", column.get(table, "number"))
    with stranger(ledger) as connection, pytest.raises(sqlite3.Error, match="append-only"):
        connection.execute(text)
    connection.close()


@pytest.mark.parametrize(
    "table", ["campaign", "trial", "metric", "series", "server_facts", "event"]
)
def test_nothing_can_be_replaced(ledger: Ledger, table: str) -> None:
    fill(ledger)
    statement = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"
    with stranger(ledger) as connection, pytest.raises(sqlite3.Error, match="append-only"):
        connection.execute(statement)
    connection.close()


def fill(ledger: Ledger) -> None:
    ledger.record_trials([a_trial()])
    ledger.record_event("campaign-started")
    ledger.record_server_facts("18", {})


def stranger(ledger: Ledger) -> sqlite3.Connection:
    """Another program's connection, without any of our pragmas."""
    return sqlite3.connect(ledger.path)


def test_a_committed_trial_survives_power_loss(ledger: Ledger) -> None:
    with sqlite3.connect(ledger.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    full = ledger._connection.execute("PRAGMA synchronous").fetchone()
    assert full == (2,)


def test_a_reader_sees_what_the_writer_has_recorded_meanwhile(ledger: Ledger) -> None:
    with Ledger.open(ledger.folder, read_only=True) as reader:
        assert reader.finished() == []
        ledger.record_trials([a_trial()])
        assert reader.finished() == [(1, 1, Outcome.COUNTED)]
        with pytest.raises(LedgerError, match="readonly database"):
            reader.record_event("campaign-started")


def test_a_full_disk_loses_no_trial_and_keeps_the_ledger_whole(ledger: Ledger) -> None:
    ledger.record_trials([a_trial(1)])
    pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
    ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
    large = Series("os", np.random.default_rng(1).random(100_000), {})
    with pytest.raises(MachineError, match="the disk is full") as caught:
        ledger.record_trials([replace(a_trial(2), series=(large,))])
    assert "teiten resume" in caught.value.hint
    assert ledger.finished() == [(1, 1, Outcome.COUNTED)]
    ledger._connection.execute("PRAGMA max_page_count = 1000000")
    ledger.record_trials([replace(a_trial(2), series=(large,))])
    assert len(ledger.finished()) == 2


def test_a_synthetic_campaign_survives_its_round_trip(ledger: Ledger) -> None:
    given = sorted(synthetic_trials(PLAN, 5, 1), key=lambda one: (one.number, one.attempt))
    for trial in given:
        ledger.record_trials([trial])
    for found, one in zip(ledger.trials(), given, strict=True):
        assert_same(found, one)
