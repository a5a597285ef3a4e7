"""What changed per transaction: rows, units, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.discussion import Counted, Origin, Taken
from teiten.analysis.model.findings import TrialView
from teiten.analysis.per_transaction import per_transaction
from tests.fixtures.invented_analysis import invented_analysis, invented_facts

ANALYSIS = invented_analysis(seconds=4)


def rows_of(workload: str, clients: str) -> dict[str, Taken]:
    (table,) = (
        one
        for one in ANALYSIS.per_transaction
        if one.workload == workload and dict(one.context) == {"clients": clients}
    )
    return {row.name: row for row in table.rows}


def test_every_level_of_every_workload_has_a_table() -> None:
    assert len(ANALYSIS.per_transaction) == 8


def test_cpu_is_that_of_the_server_in_seconds() -> None:
    row = rows_of("read", "4")["cpu"]
    trial = next(
        trial
        for trial in ANALYSIS.trials
        if (trial.workload, dict(trial.levels)) == ("read", {"server": "17", "clients": "4"})
    )
    busy = trial.metrics["server_cpu_share"] * invented_facts().cpu.online
    assert row.kind is Counted.SECONDS and row.origin is Origin.MEASURED
    assert row.old == pytest.approx(busy / trial.metrics["tps"], rel=0.2)


def test_waits_are_the_time_of_all_backends() -> None:
    row = rows_of("update", "16")["IO:WalSync"]
    tps = [
        trial.metrics["tps"]
        for trial in ANALYSIS.trials
        if trial.workload == "update" and dict(trial.levels) == {"server": "17", "clients": "16"}
    ]
    assert row.is_wait and row.old == pytest.approx(16 * 0.3 / (sum(tps) / len(tps)), rel=0.1)
    assert "CPU" not in rows_of("update", "16"), "that is the CPU's row"


def test_what_is_zero_everywhere_is_no_row() -> None:
    assert "wal-bytes" not in rows_of("read", "4")
    assert rows_of("update", "4")["wal-bytes"].kind is Counted.BYTES


def test_rows_of_perf_only_where_it_sampled() -> None:
    with_profile, without = rows_of("read", "1"), rows_of("read", "4")
    assert with_profile["instructions"].change.certain
    assert with_profile["cpu-user"].origin is Origin.PROFILE
    assert not {"instructions", "cpu-user", "cpu-system"} & without.keys()
    assert "cycles" not in with_profile, "not counted here"


def test_a_version_spells_an_event_as_it_likes() -> None:
    def spelled(view: TrialView) -> TrialView:
        if dict(view.levels)["server"] != "17":
            return view
        series = tuple(
            replace(
                one,
                columns={name.replace("WalSync", "WALSync"): v for name, v in one.columns.items()},
            )
            for one in view.series
        )
        return replace(view, series=series)

    views = [spelled(trial) for trial in ANALYSIS.trials]
    tables = per_transaction(ANALYSIS.plan, invented_facts(), views)
    names = [row.name.lower() for row in tables[-1].rows if row.is_wait]
    assert names.count("io:walsync") == 1
    assert all(row.old > 0 and row.new > 0 for row in tables[-1].rows if row.is_wait)


def test_without_pairs_there_is_nothing() -> None:
    alone = [trial for trial in ANALYSIS.trials if dict(trial.levels)["server"] == "17"]
    assert per_transaction(ANALYSIS.plan, invented_facts(), alone) == ()
