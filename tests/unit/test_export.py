"""What is exported is what the ledger holds, readable by others' tools."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from teiten.cli.campaign.read import analyse_campaign
from teiten.errors import UsageError
from teiten.export.files import Format, export
from teiten.export.tables import tables
from teiten.ledger.store import Ledger
from teiten.model.trial import Outcome, Problem, Series, Trial
from tests.fixtures.synthetic import synthetic_trials
from tests.fixtures.synthetic_plan import HOST, make_plan

PLAN = make_plan(60)
TRIALS = tuple(sorted(synthetic_trials(PLAN, 6, 1), key=lambda one: (one.number, one.attempt)))


@pytest.fixture(scope="module")
def exported(module_folder: Path) -> Path:
    with Ledger.create(
        module_folder / "campaign", plan=PLAN, name="c", facts=HOST, cautions=(), command=""
    ) as ledger:
        ledger.record_event("campaign-started", note='a "quoted", comma\nand a line')
        for trial in TRIALS:
            ledger.record_trials([trial])
        contrasts = analyse_campaign(ledger, series=False).contrasts
        export(ledger, contrasts, module_folder / "numbers", list(Format))
    return module_folder / "numbers"


def from_csv(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def from_parquet(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pyarrow.parquet.read_table(
        folder / f"{table}.parquet"
    ).to_pylist()
    return found


def test_there_is_a_row_for_every_trial_whatever_its_outcome(exported: Path) -> None:
    rows = from_csv(exported, "trials")
    assert [(int(row["trial"]), int(row["attempt"])) for row in rows] == [
        (one.number, one.attempt) for one in TRIALS
    ]
    assert Counter(row["outcome"] for row in rows) == Counter(one.outcome.value for one in TRIALS)
    for row, trial in zip(rows, TRIALS, strict=True):
        planned = PLAN.trials[trial.number - 1]
        assert row["server"] == planned.cell.level("server")
        assert row["clients"] == planned.cell.level("clients")
        assert (row["workload"], int(row["block"])) == (planned.cell.workload, planned.block)
        assert int(row["seed"]) == planned.seed
        for name, value in trial.metrics.items():
            assert float(row[name]) == value  # to the last bit
    failed = next(row for row in rows if row["outcome"] == "failed")
    assert failed["problems"].startswith("server-error: ERROR:")


def test_metrics_stand_in_the_models_order(exported: Path) -> None:
    columns = list(from_csv(exported, "trials")[0])
    assert columns[:5] == ["trial", "attempt", "block", "workload", "server"]
    assert columns.index("tps") < columns.index("latency_mean") < columns.index("wal_bytes")


def test_samples_in_long_form_are_the_series(exported: Path) -> None:
    rows = from_parquet(exported, "samples")
    assert len(rows) == sum(
        len(series.columns) * len(series.seconds) for one in TRIALS for series in one.series
    )
    found = {
        (row["trial"], row["attempt"], row["source"], row["second"], row["column"]): row["value"]
        for row in rows
    }
    assert len(found) == len(rows)
    for trial in TRIALS[:5]:
        for series in trial.series:
            for name, values in series.columns.items():
                for second, value in zip(series.seconds, values, strict=True):
                    key = (trial.number, trial.attempt, series.source, second, name)
                    assert found[key] == (None if math.isnan(value) else value)


def test_csv_and_parquet_say_the_same(exported: Path) -> None:
    for table in ("trials", "samples", "contrasts", "events"):
        texts, values = from_csv(exported, table), from_parquet(exported, table)
        assert len(texts) == len(values)
        for text, value in zip(texts[:200], values[:200], strict=True):
            assert list(text) == list(value)
            for column, cell in value.items():
                if isinstance(cell, float):
                    assert float(text[column]) == cell
                elif isinstance(cell, int) and not isinstance(cell, bool):
                    assert int(text[column]) == cell
                elif isinstance(cell, str):
                    assert text[column] == cell
                elif cell is None:
                    assert text[column] == ""


def test_verdicts_of_levels_and_of_all_together(exported: Path) -> None:
    rows = from_parquet(exported, "contrasts")
    read = [row for row in rows if (row["workload"], row["metric"]) == ("read", "tps")]
    assert [row["scope"] for row in read] == ["level"] * 5 + ["overall"]
    assert [row["clients"] for row in read] == ["1", "2", "4", "8", "16", None]
    overall = read[-1]
    assert (overall["old"], overall["new"], overall["verdict"]) == ("17", "18", "faster")
    assert overall["low"] < overall["ratio"] < overall["high"]
    assert (overall["confidence"], overall["delta"], overall["pairs"]) == (0.975, 0.02, 3)
    assert read[0]["confidence"] == pytest.approx(0.995)


def test_events_with_their_detail(exported: Path) -> None:
    (event,) = from_csv(exported, "events")
    assert event["kind"] == "campaign-started"
    assert json.loads(event["detail"]) == {"note": 'a "quoted", comma\nand a line'}
    assert event["at"].endswith("Z")


def odd_trial() -> Trial:
    return replace(
        TRIALS[0],
        problems=(Problem("server-error", "not UTF-8: \udcff"),),
        metrics={"tps": math.nan, "an_invention": 3.0, "latency_max": math.inf},
        series=(Series("waits", np.arange(0.0), {}),),
    )


def test_what_is_missing_or_odd_is_exported_too(tmp_path: Path) -> None:
    with Ledger.create(
        tmp_path / "campaign", plan=PLAN, name="c", facts=HOST, cautions=(), command=""
    ) as ledger:
        ledger.record_trials([odd_trial()])
        export(ledger, (), tmp_path / "numbers", list(Format))
    (row,) = from_parquet(tmp_path / "numbers", "trials")
    assert row["tps"] is None
    assert (row["an_invention"], row["latency_max"]) == (3.0, math.inf)
    assert row["problems"] == "server-error: not UTF-8: \\udcff"
    assert from_csv(tmp_path / "numbers", "samples") == []
    assert from_parquet(tmp_path / "numbers", "contrasts") == []


def test_a_campaign_without_a_trial_gives_tables_without_rows(tmp_path: Path) -> None:
    with Ledger.create(
        tmp_path / "campaign", plan=PLAN, name="c", facts=HOST, cautions=(), command=""
    ) as ledger:
        written = export(ledger, (), tmp_path / "numbers", [Format.CSV])
    assert len(written) == 4
    assert from_csv(tmp_path / "numbers", "trials") == []


def test_samples_come_in_batches_not_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teiten.export.tables.BATCH_ROWS", 500)
    with Ledger.create(
        tmp_path / "campaign", plan=PLAN, name="c", facts=HOST, cautions=(), command=""
    ) as ledger:
        for trial in TRIALS[:20]:
            ledger.record_trials([trial])
        *_, samples = tables(ledger, ())
        sizes = [batch.num_rows for batch in samples.batches]
    per_trial = sum(len(one.columns) * len(one.seconds) for one in TRIALS[0].series)
    assert len(sizes) > 1
    assert all(500 <= size < 500 + per_trial for size in sizes[:-1])


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    with Ledger.create(
        tmp_path / "campaign", plan=PLAN, name="c", facts=HOST, cautions=(), command=""
    ) as ledger:
        with pytest.raises(UsageError, match="the folder is not empty"):
            export(ledger, (), tmp_path, [Format.CSV])
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match="is a file, not a folder"):
            export(ledger, (), tmp_path / "file", [Format.CSV])
        with pytest.raises(UsageError, match="failed") as caught:
            export(ledger, (), tmp_path / "file" / "below", [Format.CSV])
        assert "--to" in caught.value.hint


def test_an_export_that_fails_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged series shows only while the samples are written."""
    with Ledger.create(
        tmp_path / "campaign", plan=PLAN, name="c", facts=HOST, cautions=(), command=""
    ) as ledger:
        ledger.record_trials([TRIALS[0]])
        ledger._connection.execute("DROP TRIGGER series_is_fixed")
        ledger._connection.execute("UPDATE series SET data = x'00'")
        with pytest.raises(Exception, match="a value in it cannot be read"):
            export(ledger, (), tmp_path / "numbers", list(Format))
    names = {path.name for path in (tmp_path / "numbers").iterdir()}
    assert not any(name.endswith(".part") for name in names)
    assert not any(name.startswith("samples") for name in names)


def test_outcomes_are_all_covered() -> None:
    assert {one.outcome for one in TRIALS} == set(Outcome)
