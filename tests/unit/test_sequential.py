"""The anytime-valid interval: METHOD.md's closed form, its promise, and what follows from it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.verdict.sequential import (
    decide_sequentially,
    forecast,
    half_width,
    is_decided,
    least_pairs,
    pairs_for,
    pairs_to_decide,
)
from teiten.analysis.verdict.verdict import Rule, decide
from teiten.model.metrics import Better
from teiten.model.units import Share


def rule(delta: float = 0.02, alpha: float = 0.05) -> Rule:
    return Rule(Share(delta), Share(alpha), Better.HIGHER)


def closed_form(s: float, n: int, alpha: float, g: float = 0.25) -> float:
    """As METHOD.md prints it, in extended precision."""
    one = np.longdouble(1)
    w = one + np.longdouble(n) / np.longdouble(g)
    c = (np.sqrt(w) / np.longdouble(alpha)) ** (np.longdouble(2) / n)
    if c >= w:
        return math.inf
    return float(s / np.sqrt(np.longdouble(n)) * np.sqrt((n - 1) * (c - one) / (one - c / w)))


@pytest.mark.parametrize("alpha", [0.001, 0.05 / 8, 0.05, 0.2, 0.49])
@pytest.mark.parametrize("pairs", [2, 3, 4, 5, 6, 13, 30, 200, 100_000])
def test_the_interval_is_the_closed_form(pairs: int, alpha: float) -> None:
    assert half_width(0.013, pairs, alpha) == pytest.approx(
        closed_form(0.013, pairs, alpha), rel=1e-9
    )


def test_six_pairs_by_hand() -> None:
    """n = 6, α = 0.05: w = 25, c = 100^(1/3) = 4.641589, √(5 · 3.641589 / 0.8143364) = 4.728556."""
    assert half_width(0.01, 6, 0.05) == pytest.approx(0.01 / math.sqrt(6) * 4.728556, rel=1e-6)


@pytest.mark.parametrize(("alpha", "pairs"), [(0.2, 3), (0.05, 4), (0.05 / 8, 5), (0.001, 6)])
def test_from_how_many_means_over_many_levels_on_it_is_finite(alpha: float, pairs: int) -> None:
    assert least_pairs(alpha, levels=8) == pairs
    assert closed_form(1.0, pairs - 1, alpha) == math.inf
    assert closed_form(1.0, pairs, alpha) < math.inf


@pytest.mark.parametrize(("levels", "pairs"), [(1, 6), (2, 4), (8, 4)])
def test_no_interval_before_the_sixth_pair_over_all_levels(levels: int, pairs: int) -> None:
    assert least_pairs(0.05, levels) == pairs
    ratios = [0.05, 0.051, 0.05, 0.051, 0.05, 0.051]
    assert not is_decided(decide_sequentially(ratios[: pairs - 1], rule(), levels=levels))
    assert is_decided(decide_sequentially(ratios[:pairs], rule(), levels=levels))


def test_where_it_is_infinite_nothing_can_be_said() -> None:
    verdict = decide_sequentially([0.3, 0.301, 0.302], rule())
    assert (verdict.kind, verdict.effect) == (VerdictKind.INCONCLUSIVE, None)
    assert verdict.reason == "infinite-interval"
    assert verdict.pairs == 3
    assert not is_decided(verdict)


@pytest.mark.parametrize(
    ("ratios", "unusable", "reason"),
    [
        ([], 0, "too-few-pairs"),
        ([0.1], 0, "too-few-pairs"),
        ([0.1] * 6, 0, "identical-pairs"),
        ([0.1, 0.12, 0.1, 0.11, 0.1, 0.12], 1, "not-positive"),
    ],
)
def test_the_other_reasons_are_those_of_every_design(
    ratios: list[float], unusable: int, reason: str
) -> None:
    assert decide_sequentially(ratios, rule(), unusable=unusable).reason == reason
    assert forecast(ratios[:1], rule()) is None


def test_a_verdict_by_hand() -> None:
    """d = 0.03 … 0.05 six times: mean 0.04, s = 0.0089443, half-width 4.728556 s/√6 = 0.0172662."""
    verdict = decide_sequentially([0.03, 0.05, 0.03, 0.05, 0.04, 0.04], rule())
    assert verdict.effect is not None
    assert math.log(verdict.effect.ratio) == pytest.approx(0.04)
    assert math.log(verdict.effect.low) == pytest.approx(0.04 - 0.0172662, abs=2e-7)
    assert math.log(verdict.effect.high) == pytest.approx(0.04 + 0.0172662, abs=2e-7)
    assert (verdict.kind, verdict.at_least_delta) == (VerdictKind.FASTER, True)
    assert is_decided(verdict)


def test_its_smallest_detectable_effect_is_larger_than_that_of_a_fixed_design() -> None:
    ratios = [-0.05, 0.05, -0.03, 0.03, 0.01, 0.0]
    sequential, fixed = decide_sequentially(ratios, rule()), decide(ratios, rule())
    assert sequential.smallest_detectable is not None and fixed.smallest_detectable is not None
    assert sequential.smallest_detectable > fixed.smallest_detectable


def test_how_many_pairs_an_effect_needs() -> None:
    """METHOD.md's simulated means: 2 % at a pair deviation of 1 % in 6 pairs, at 2 % in 13."""
    assert pairs_for(0.02, 0.01, 0.05) == 6
    assert pairs_for(0.02, 0.02, 0.05) in (13, 14, 15)
    assert (pairs_for(0.02, 0.04, 0.05) or 0) > 30
    assert pairs_for(0.0, 0.01, 0.05) is None
    assert pairs_for(1e-7, 0.5, 0.05) is None


def test_the_forecast_is_the_number_of_pairs_at_which_such_pairs_decide() -> None:
    pattern = [0.012, 0.028, 0.016, 0.024, 0.020]
    expected = forecast(pattern, rule())
    assert expected is not None
    ratios = [pattern[at % 5] for at in range(200)]
    first = next(n for n in range(5, 200) if is_decided(decide_sequentially(ratios[:n], rule())))
    assert abs(first - expected) <= 1


def test_a_verdict_foretells_what_its_pairs_do() -> None:
    open_pairs = [0.01, 0.06, -0.02, 0.05, -0.01, 0.04]
    verdict = decide_sequentially(open_pairs, rule())
    assert not is_decided(verdict)
    needed = pairs_to_decide(verdict)
    assert needed is not None and needed > len(open_pairs)
    assert needed == forecast(open_pairs, rule())
    assert pairs_to_decide(decide_sequentially(open_pairs[:2], rule())) is None


def test_equivalence_is_foretold_too() -> None:
    assert forecast([0.01, -0.01, 0.01, -0.01], rule()) == 7
    assert forecast([0.2, -0.2], rule(delta=0.0001)) is None


def test_looking_after_every_pair_keeps_its_promise() -> None:
    """1,000 null comparisons, looked at after each of 30 pairs: METHOD.md's 2.5 %, below 5 %;
    an ordinary t interval looked at as often gives some 25 %."""
    random = np.random.default_rng(20261121)
    drawn = random.normal(0.0, 0.02, (1000, 30))
    counts = np.arange(1, 31)
    means = np.cumsum(drawn, axis=1) / counts
    squares = np.cumsum(drawn**2, axis=1) - counts * means**2
    deviations = np.sqrt(np.maximum(squares[:, 1:], 0.0) / counts[:-1])
    widths = np.array([half_width(1.0, int(n), 0.05) for n in counts[1:]])
    alarms = np.any(np.abs(means[:, 1:]) > deviations * widths, axis=1)
    assert float(np.mean(alarms)) < 0.045
