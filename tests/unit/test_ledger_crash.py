"""kill -9 at any moment: each trial that was reported as recorded is there, whole; none is half."""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import synthetic_trials
from tests.fixtures.synthetic_plan import HOST, make_plan

TRIALS = 400
SECONDS = 40
KILLS, MOST_KILLS = 5, 30
"""More than the first number only where a loaded machine gave none of them time to record."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_recorded_trial_is_lost_doubled_or_half(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "campaign"
    plan = make_plan(TRIALS)
    Ledger.create(folder, plan=plan, name="campaign", facts=HOST, cautions=(), command="").close()
    moments = random.Random(seed)
    reported: list[tuple[int, int]] = []
    for at in range(MOST_KILLS):
        if at >= KILLS and reported:
            break
        longest = 0.25 * (1 + at // KILLS)
        reported += record_until_killed(folder, moments.uniform(0.0, longest))
        with Ledger.open(folder, read_only=True) as ledger:
            found = [one[:2] for one in ledger.finished()]
        # the last one may be recorded, but killed before it could say so
        assert found[: len(reported)] == reported
        assert len(found) - len(reported) <= 1
        reported = found
    assert reported, "the writer was never given time to record"
    assert_whole(folder, {(one.number, one.attempt) for one in synthetic_trials(plan, 1, 1)})


def record(folder: Path, writing: int) -> NoReturn:
    """In a process of its own, which has nothing of ours to end: whatever is not recorded, each
    trial is told when it is."""
    try:
        with (
            open(writing, "w", buffering=1, encoding="utf-8") as told,
            Ledger.open(folder) as ledger,
        ):
            done = {one[:2] for one in ledger.finished()}
            told.write("ready\n")
            for trial in synthetic_trials(ledger.plan, SECONDS, 1):
                if (trial.number, trial.attempt) in done:
                    continue
                ledger.record_event("trial-started", trial=trial.number, attempt=trial.attempt)
                ledger.record_trials([trial])
                told.write(f"{trial.number} {trial.attempt}\n")
    finally:
        os._exit(0)


def record_until_killed(folder: Path, delay: float) -> list[tuple[int, int]]:
    """Record until SIGKILL, ``delay`` seconds after the first trial could begin."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        record(folder, writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as said:  # noqa: PTH123
        assert said.readline() == "ready\n"
        timer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
        timer.start()
        lines = said.read().splitlines(keepends=True)
    timer.join()
    os.waitpid(pid, 0)
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
