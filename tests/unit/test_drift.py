"""Pairs that depend on one another, or move with time, are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.drift import drift_cautions, drift_of, lag_one, trend
from teiten.model.trial import Attempt, Outcome
from tests.fixtures.synthetic_plan import make_plan


def test_lag_one_by_hand() -> None:
    """Deviations from the mean -1.5, -0.5, 0.5, 1.5: (0.75 - 0.25 + 0.75) / 5 = 0.25."""
    assert lag_one([1.0, 2.0, 3.0, 4.0]) == pytest.approx(0.25)
    assert lag_one([1.0, -1.0] * 20) == pytest.approx(-39 / 40)
    assert lag_one([1.0, 2.0]) is None
    assert lag_one([0.1, 0.1, 0.1]) is None


def test_a_trend_by_hand() -> None:
    """Four rising numbers: 6 rises of 6, √(4 · 3 · 13 / 18) = 2.943920."""
    assert trend([1.0, 2.0, 3.0, 4.0]) == pytest.approx(6 / 2.943920, rel=1e-6)
    assert trend([4.0, 3.0, 2.0, 1.0]) == pytest.approx(-6 / 2.943920, rel=1e-6)
    assert trend([1.0, 1.0, 1.0]) == 0.0
    assert trend([1.0, 2.0]) is None


def test_blocks_with_some_levels_count_by_what_they_deviate_from_these() -> None:
    """Of whole blocks the means over the levels; a level that lies elsewhere is no drift."""
    d = [0.1, 0.3, 0.2, 0.4]
    first, second = dict(enumerate(d)), {block: 1 + value for block, value in enumerate(d)}
    whole = drift_of([first, second])
    assert whole is not None
    assert whole.lag_one == pytest.approx(lag_one(d)) and whole.trend == pytest.approx(trend(d))
    apart = drift_of([{0: 0.01, 1: -0.01}, {2: 1.01, 3: 0.99}])
    assert apart is not None and apart.blocks == 4 and apart.lag_one < 0
    assert drift_of([{0: 0.1, 1: 0.2}]) is None and drift_of([]) is None


PLAN = make_plan(48, clients=("1",))  # 12 blocks


def cautions_of(d: list[float]) -> list[str]:
    attempts = [
        Attempt(
            trial.number,
            1,
            Outcome.COUNTED,
            {
                "tps": 1000.0
                * float(np.exp(d[trial.block - 1] if trial.cell.level("server") == "18" else 0.0))
            },
        )
        for trial in PLAN.trials
        if trial.cell.workload == "read"
    ]
    return [dict(one.values)["workload"] for one in drift_cautions(contrasts(PLAN, attempts))]


def test_a_drift_gives_a_caution_for_its_workload() -> None:
    assert cautions_of([0.002 * block for block in range(12)]) == ["read"]


def test_a_step_gives_a_caution() -> None:
    noise = np.random.default_rng(4).normal(0, 0.001, 12)
    assert cautions_of([*(0.02 + noise[:6]), *(noise[6:])]) == ["read"]


def test_independent_pairs_give_none() -> None:
    random = np.random.default_rng(7)
    found = sum(bool(cautions_of(random.normal(0, 0.02, 12).tolist())) for _ in range(60))
    assert found <= 4


def test_few_pairs_give_none() -> None:
    plan = make_plan(28, clients=("1",))
    attempts = [
        Attempt(trial.number, 1, Outcome.COUNTED, {"tps": 1000.0 + trial.number**2})
        for trial in plan.trials
    ]
    assert drift_cautions(contrasts(plan, attempts)) == ()
