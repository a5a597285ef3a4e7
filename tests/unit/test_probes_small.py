"""Ticks, statements, counters, waits and the table of samples."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from teiten.execute.probes.columns import POSTGRES
from teiten.execute.probes.postgres import (
    TOTALS,
    WAIT_EVENTS,
    WaitCounter,
    choose,
    counter_rates,
    counter_totals,
    parse_counters,
    statements,
)
from teiten.execute.probes.series import SeriesTable, ticks
from teiten.kinds.metrics import by_name
from teiten.model.installation import Version


class Time:
    """A clock that moves by waiting, and by what each tick is made to cost."""

    def __init__(self) -> None:
        self.now = 50.0

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return False


def test_ticks_do_not_drift_by_the_work_between_them() -> None:
    time, seen = Time(), []
    for number in islice(ticks(50.0, 1.0, lambda: time.now, time.wait), 4):
        seen.append((number, time.now))
        time.now += 0.3
    assert seen == [(1, 51.0), (2, 52.0), (3, 53.0), (4, 54.0)]


def test_missed_ticks_are_left_out() -> None:
    time, seen = Time(), []
    for number in islice(ticks(50.0, 1.0, lambda: time.now, time.wait), 3):
        seen.append((number, time.now))
        time.now += 3.5 if number == 1 else 0.0
    assert seen == [(1, 51.0), (4, 54.5), (5, 55.0)]


def test_ticks_end_when_told() -> None:
    assert list(ticks(0.0, 1.0, lambda: 0.0, lambda seconds: True)) == []


NAMES = ("a.9.6.sql", "a.16.sql", "a.17.sql", "b.14.sql")


@pytest.mark.parametrize(
    ("version", "chosen"),
    [
        ("9.6.24", {"a": "a.9.6.sql"}),
        ("10.1", {"a": "a.9.6.sql"}),
        ("14.0", {"a": "a.9.6.sql", "b": "b.14.sql"}),
        ("16.3", {"a": "a.16.sql", "b": "b.14.sql"}),
        ("19beta1", {"a": "a.17.sql", "b": "b.14.sql"}),
    ],
)
def test_a_file_holds_until_the_next_one_takes_over(version: str, chosen: dict[str, str]) -> None:
    assert choose(NAMES, Version.parse(version)) == chosen


@pytest.mark.parametrize("version", ["9.6.24", "10.23", "13.1", "14.1", "16.1", "17.1", "18.1"])
def test_every_version_has_its_statements(version: str) -> None:
    views = set(statements(Version.parse(version)))
    assert {"pg_stat_database", "wal_position", "pg_stat_bgwriter", WAIT_EVENTS} <= views
    number = Version.parse(version).major_number
    assert ("pg_stat_wal" in views) == (number >= 14)
    assert ("pg_stat_io" in views) == (number >= 16)
    assert ("pg_stat_checkpointer" in views) == (number >= 17)


def test_the_newest_statements_give_each_counter_once() -> None:
    texts = statements(Version.parse("18.0")).values()
    for column in POSTGRES:
        assert sum(f"AS {column.counter}" in text for text in texts) == 1, column.counter


def test_the_totals_are_metrics() -> None:
    assert set(TOTALS) <= set(by_name())


def test_counters_leave_null_out() -> None:
    assert parse_counters(["a", "b"], [["1.5", None]]) == {"a": 1.5}
    assert parse_counters(["a"], []) == {}


def test_rates_of_counters() -> None:
    before = {"transactions": 100.0, "checkpoints": 1.0, "wal_bytes": 50.0}
    after = {"transactions": 300.0, "checkpoints": 2.0, "wal_bytes": 10.0, "rollbacks": 4.0}
    row = counter_rates(before, after, 2.0)
    assert row["transactions_per_second"] == 100
    assert row["checkpoints"] == 1
    assert math.isnan(row["wal_bytes_per_second"])
    assert math.isnan(row["rollbacks_per_second"])
    assert counter_totals(before, after) == {"checkpoints": 1.0}


def test_waits_are_means_over_the_looks_of_a_second() -> None:
    waits = WaitCounter()
    for look in range(1, 21):
        backends = [("CPU", 2)] if look <= 10 else [("IO:WalSync", 1)]
        waits.add(look * 0.1, backends)
    series = waits.series()
    assert series is not None
    np.testing.assert_array_equal(series.seconds, [1, 2])
    np.testing.assert_allclose(series.columns["CPU"], [2, 0])
    np.testing.assert_allclose(series.columns["IO:WalSync"], [0, 1])


def test_seconds_with_too_few_looks_are_gaps_and_the_last_is_left_out() -> None:
    waits = WaitCounter()
    for seconds in (0.1, 0.2, 0.3, 1.5, 2.1, 2.2, 2.3, 3.1):
        waits.add(seconds, [("CPU", 3)])
    series = waits.series()
    assert series is not None
    np.testing.assert_array_equal(series.seconds, [1, 2, 3])
    np.testing.assert_allclose(series.columns["CPU"], [3, np.nan, 3])


def test_without_looks_there_is_no_series() -> None:
    assert WaitCounter().series() is None
    lonely = WaitCounter()
    lonely.add(0.1, [])
    assert lonely.series() is None


def test_an_idle_server_has_a_series_without_columns() -> None:
    waits = WaitCounter()
    for look in range(1, 11):
        waits.add(look * 0.1, [])
    series = waits.series()
    assert series is not None
    assert (series.columns, len(series.seconds)) == ({}, 1)


def test_a_column_that_a_row_lacks_is_a_gap() -> None:
    table = SeriesTable("os")
    table.add(1.0, {"a": 1.0})
    table.add(2.0, {"a": 2.0, "b": 5.0})
    series = table.series()
    np.testing.assert_array_equal(series.columns["b"], [np.nan, 5.0])
    assert series.source == "os"
