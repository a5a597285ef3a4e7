"""The simulation of benchmarks/method judges as Teiten does, on noise as it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.method.campaigns import (
    EFFECTS,
    PAIRS,
    SETS,
    SINGLE,
    SWEEP_OF_PAIRS,
    SWEEP_OF_SETS,
    count,
)
from benchmarks.method.designs import Design, _order, simulate
from benchmarks.method.noise import KINDS, PAIR
from benchmarks.method.recorded import count_recorded, draw, recorded_pairs
from benchmarks.method.rules import ALPHA, BAND, DELTA, fixed, reports, sequential, words

from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.verdict.sequential import decide_sequentially, is_decided
from teiten.analysis.verdict.verdict import Rule, classify, decide
from teiten.model.metrics import Better
from teiten.model.units import Share
from tests.fixtures.synthetic import write_synthetic_ledger

pytestmark = pytest.mark.same

RULE = Rule(Share(DELTA), Share(ALPHA), Better.HIGHER)


def random() -> np.random.Generator:
    return np.random.default_rng(11)


def test_words_are_those_of_the_verdicts() -> None:
    mean = random().normal(0, 0.02, 500)
    half = random().uniform(0, 0.04, 500)
    excludes, equivalent = words(mean, half)
    for at in range(500):
        kind, _ = classify(mean[at] - half[at], mean[at] + half[at], RULE)
        assert excludes[at] == (kind not in {VerdictKind.EQUIVALENT, VerdictKind.INCONCLUSIVE})
        assert equivalent[at] == (kind is VerdictKind.EQUIVALENT)
    assert np.log1p(DELTA) == BAND


@pytest.mark.parametrize("truth", [0.0, -0.02])
def test_the_sequential_rule_is_teitens_own(truth: float) -> None:
    differences = random().normal(truth, 0.02, (200, 12))
    said = sequential(differences, truth)
    for at, row in enumerate(differences.tolist()):
        for pairs in range(2, 13):
            verdict = decide_sequentially(row[:pairs], RULE)
            if is_decided(verdict) or pairs == 12:
                break
        assert said.pairs[at] == pairs
        assert said.slower[at] == (
            verdict.effect is not None and is_decided(verdict) and verdict.effect.high < 1
        )
        assert said.equivalent[at] == (verdict.kind is VerdictKind.EQUIVALENT)


def test_no_decision_before_the_least_number_of_pairs() -> None:
    differences = random().normal(0.05, 0.001, (50, 12))
    assert (sequential(differences, 0.05).pairs == 6).all()
    assert sequential(differences, 0.05, levels=8).pairs.max() < 6


def test_the_fixed_rule_is_teitens_own() -> None:
    differences = random().normal(0.01, 0.02, (200, 6))
    said = fixed(differences, 0.01)
    assert said.covers is not None
    for at, row in enumerate(differences.tolist()):
        verdict = decide(row, RULE)
        assert verdict.effect is not None
        assert said.equivalent[at] == (verdict.kind is VerdictKind.EQUIVALENT)
        assert said.covers[at] == (verdict.effect.low <= np.exp(0.01) <= verdict.effect.high)


def test_the_reports_rule_looks_at_medians() -> None:
    sets = np.log(np.array([[[100.0, 97.0], [100.0, 50.0], [100.0, 99.0]]]))
    assert reports(sets, 0.0).slower.tolist() == [True]
    assert reports(sets, float(np.log(1.02))).equivalent.tolist() == [True]


@pytest.mark.parametrize("adjacent", [True, False])
def test_each_block_runs_every_cell_once(adjacent: bool) -> None:
    order = _order(Design(60, 3, 8, adjacent), 40, random())
    assert (np.sort(order, axis=2) == np.arange(16)).all()
    first, second = order[..., 0::2], order[..., 1::2]
    assert (np.abs(first - second) == 1).all() == adjacent
    assert 0.4 < (first < second).mean() < 0.6


def test_designs_cost_what_they_say() -> None:
    assert PAIRS.machine_seconds <= SETS.machine_seconds
    assert SWEEP_OF_PAIRS.machine_seconds <= SWEEP_OF_SETS.machine_seconds / 4
    assert SWEEP_OF_SETS.machine_seconds == 8 * 2 * 3 * 315


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_finite_and_without_a_side(kind: str) -> None:
    cells = simulate(Design(60, 12, 1, adjacent=True), kind, 2_000, random())
    differences = cells[..., 1] - cells[..., 0]
    assert np.isfinite(cells).all()
    assert abs(float(differences.mean())) < 0.001
    if kind in {"iid", "drift"}:
        assert float(differences.std()) == pytest.approx(PAIR, rel=0.03)


def test_recorded_noise_is_drawn_in_runs_of_blocks(tmp_path: Path) -> None:
    write_synthetic_ledger(tmp_path / "null", trials=20 * 20, samples=2_400)
    pairs = recorded_pairs(tmp_path / "null")
    assert len(pairs) == 10, "two workloads at five numbers of clients"
    level = pairs["read clients=4"]
    assert level.shape[1] == 2
    assert 15 <= len(level) <= 20
    differences = level[:, 1] - level[:, 0]
    assert abs(float(differences.mean()) - float(np.log(1.04))) < 0.02, "18 against 17"
    drawn = draw(level, 300, 12, random())
    assert drawn.shape == (300, 12, 1, 2)
    known = {tuple(row) for row in level} | {tuple(row[::-1]) for row in level}
    assert {tuple(row) for row in drawn.reshape(-1, 2)} <= known
    found = count_recorded(level, 500, seed=1)
    assert found["Teiten, fixed", 0.0].campaigns == 500


def test_counts_are_repeatable_and_keep_the_promise() -> None:
    found = count(SINGLE, "iid", 1_000, seed=1)
    assert found == count(SINGLE, "iid", 1_000, seed=1)
    name = "Teiten, sequential"
    assert found[name, 0.0].campaigns == 1_000
    assert found[name, 0.0].share(found[name, 0.0].differs) <= ALPHA
    assert found[name, 0.02].share(found[name, 0.02].slower) >= 0.95
    covered = [found[name, effect].share(found[name, effect].covers) for effect in EFFECTS]
    assert min(covered) >= 0.95
