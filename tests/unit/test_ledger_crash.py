"""kill -9 at any moment: each trial that was reported as recorded is there, whole; none is half."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import synthetic_trials
from tests.fixtures.synthetic_plan import HOST, make_plan

ROOT = Path(__file__).parents[2]
TRIALS = 400
SECONDS = 40

RECORD = """
import sys
from pathlib import Path
from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import synthetic_trials
with Ledger.open(Path(sys.argv[1])) as ledger:
    done = {one[:2] for one in ledger.finished()}
    plan = ledger.plan
    print("ready", flush=True)
    for trial in synthetic_trials(plan, int(sys.argv[2]), 1):
        if (trial.number, trial.attempt) in done:
            continue
        ledger.record_event("trial-started", trial=trial.number, attempt=trial.attempt)
        ledger.record_trial(trial)
        print(trial.number, trial.attempt, flush=True)
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_no_recorded_trial_is_lost_doubled_or_half(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "campaign"
    plan = make_plan(TRIALS)
    Ledger.create(folder, plan=plan, name="campaign", facts=HOST, cautions=(), command="").close()
    moments = random.Random(seed)
    reported: list[tuple[int, int]] = []
    for _ in range(5):
        reported += record_until_killed(folder, moments.uniform(0.0, 0.25))
        with Ledger.open(folder, read_only=True) as ledger:
            found = [one[:2] for one in ledger.finished()]
        # the last one may be recorded, but killed before it could say so
        assert found[: len(reported)] == reported
        assert len(found) - len(reported) <= 1
        reported = found
    assert reported, "the writer was never given time to record"
    assert_whole(folder, {(one.number, one.attempt) for one in synthetic_trials(plan, 1, 1)})


def record_until_killed(folder: Path, delay: float) -> list[tuple[int, int]]:
    """Record until SIGKILL, ``delay`` seconds after the first trial could begin."""
    arguments = [sys.executable, "-c", RECORD, str(folder), str(SECONDS)]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        threading.Timer(delay, process.kill).start()
        lines = process.stdout.read().splitlines(keepends=True)
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(int(number), int(attempt)) for number, attempt in whole]


def assert_whole(folder: Path, planned: set[tuple[int, int]]) -> None:
    with Ledger.open(folder) as ledger:
        assert ledger._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert ledger._connection.execute("PRAGMA foreign_key_check").fetchall() == []
        given = {
            (one.number, one.attempt): one for one in synthetic_trials(ledger.plan, SECONDS, 1)
        }
        for found in ledger.trials():
            assert (found.number, found.attempt) in planned
            expected = given[found.number, found.attempt]
            assert found.metrics == expected.metrics
            assert found.histogram == expected.histogram
            for one, other in zip(found.series, expected.series, strict=True):
                assert one.source == other.source
                for name, values in other.columns.items():
                    np.testing.assert_array_equal(one.columns[name], values)
