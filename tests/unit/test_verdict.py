"""Verdicts against scipy's own t test, against cases calculated by hand, and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from teiten.analysis.model.evidence import log_changes, with_logarithm
from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.verdict.verdict import (
    Rule,
    classify,
    decide,
    detectable,
    exp,
    student_half_width,
    student_quantile,
)
from teiten.model.metrics import Better
from teiten.model.units import Share


def rule(delta: float = 0.02, alpha: float = 0.05, better: Better = Better.HIGHER) -> Rule:
    return Rule(Share(delta), Share(alpha), better)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 8, 0.5])
@pytest.mark.parametrize("pairs", [2, 3, 8, 30])
def test_the_interval_is_scipys(pairs: int, alpha: float) -> None:
    ratios = np.random.default_rng(pairs).normal(0.01, 0.03, pairs).tolist()
    expected = stats.ttest_1samp(ratios, 0.0).confidence_interval(1 - alpha)
    effect = decide(ratios, rule(alpha=alpha)).effect
    assert effect is not None
    assert math.log(effect.ratio) == pytest.approx(np.mean(ratios), rel=1e-12)
    assert math.log(effect.low) == pytest.approx(expected.low, rel=1e-9)
    assert math.log(effect.high) == pytest.approx(expected.high, rel=1e-9)
    assert effect.confidence == pytest.approx(1 - alpha)


@pytest.mark.parametrize("seed", range(20))
def test_different_means_a_p_value_below_alpha(seed: int) -> None:
    """The word "slower" or "faster" or "different" exactly where scipy's p-value says so."""
    ratios = np.random.default_rng(seed).normal(0.02, 0.02, 5).tolist()
    p_value = float(stats.ttest_1samp(ratios, 0.0).pvalue)
    kind = decide(ratios, rule()).kind
    different = {VerdictKind.SLOWER, VerdictKind.FASTER, VerdictKind.DIFFERENT_BUT_SMALL}
    assert (kind in different) == (p_value < 0.05)


def test_three_pairs_by_hand() -> None:
    """d = 0.03, 0.04, 0.05: mean 0.04, s = 0.01, t(0.975; 2) = 4.302653, half = 0.0248414."""
    verdict = decide([0.03, 0.04, 0.05], rule())
    assert verdict.effect is not None
    assert verdict.effect.ratio == pytest.approx(1.0408108, abs=1e-7)
    assert verdict.effect.low == pytest.approx(math.exp(0.04 - 0.0248414), abs=1e-7)
    assert verdict.effect.high == pytest.approx(math.exp(0.04 + 0.0248414), abs=1e-7)
    assert verdict.kind is VerdictKind.FASTER
    assert not verdict.at_least_delta  # 0.01516 is below ln 1.02 = 0.01980
    assert verdict.pairs == 3
    assert verdict.smallest_detectable is None


def test_the_smallest_detectable_effect_by_hand() -> None:
    """n = 4, s = 0.02: 5.70201 standard errors of 0.01, where the sum of two quantiles is 4.16."""
    ratios = [-0.01 * math.sqrt(3), -0.01 * math.sqrt(3), 0.01 * math.sqrt(3), 0.01 * math.sqrt(3)]
    verdict = decide(ratios, rule())
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert verdict.reason is None
    assert verdict.smallest_detectable == pytest.approx(math.expm1(0.0570201), abs=1e-6)


def test_the_smallest_detectable_effect_is_found_four_times_of_five() -> None:
    """As each of many campaigns tells it, by the scatter that it has seen itself; a further one
    then looks for it. The usual sum of quantiles promised 80 % and gave 68 %."""
    pairs, campaigns = 5, 20_000
    random = np.random.default_rng(3)
    seen, further = (random.normal(0.0, 1.0, (campaigns, pairs)).std(axis=1, ddof=1) for _ in "ab")
    mean = random.normal(0.0, 1.0, campaigns) / math.sqrt(pairs)
    half = student_half_width(1.0, pairs, 0.05)
    error = 1 / math.sqrt(pairs)

    def found(effect: float) -> float:
        return float(np.mean(mean + effect * seen > half * further))

    assert 0.79 < found(detectable(half, error, pairs - 1)) < 0.81
    naive = half + float(stats.t.ppf(0.8, pairs - 1)) * error
    assert 0.66 < found(naive) < 0.7


BAND = math.log(1.02)


@pytest.mark.parametrize(
    ("low", "high", "kind", "beyond"),
    [
        (0.001, 0.5, VerdictKind.FASTER, False),
        (BAND, 0.5, VerdictKind.FASTER, True),
        (-0.5, -0.001, VerdictKind.SLOWER, False),
        (-0.5, -BAND, VerdictKind.SLOWER, True),
        (0.001, 0.019, VerdictKind.DIFFERENT_BUT_SMALL, False),
        (-0.019, -0.001, VerdictKind.DIFFERENT_BUT_SMALL, False),
        (-0.019, 0.019, VerdictKind.EQUIVALENT, False),
        (0.0, 0.019, VerdictKind.EQUIVALENT, False),
        (-BAND, 0.001, VerdictKind.INCONCLUSIVE, False),
        (-0.001, BAND, VerdictKind.INCONCLUSIVE, False),
        (0.001, BAND, VerdictKind.FASTER, False),
        (-0.5, 0.5, VerdictKind.INCONCLUSIVE, False),
        (0.0, 0.5, VerdictKind.INCONCLUSIVE, False),
    ],
)
def test_the_word_for_an_interval(low: float, high: float, kind: VerdictKind, beyond: bool) -> None:
    assert classify(low, high, rule()) == (kind, beyond)


def test_a_latency_that_rises_is_slower() -> None:
    assert classify(0.03, 0.05, rule(better=Better.LOWER)) == (VerdictKind.SLOWER, True)
    assert classify(-0.05, -0.03, rule(better=Better.LOWER)) == (VerdictKind.FASTER, True)


def test_a_metric_without_a_better_direction_has_no_verdict() -> None:
    with pytest.raises(ValueError, match="neither direction is better"):
        classify(0.03, 0.05, rule(better=Better.NEITHER))


@pytest.mark.parametrize(
    ("ratios", "unusable", "reason"),
    [
        ([], 0, "too-few-pairs"),
        ([0.1], 0, "too-few-pairs"),
        ([], 3, "not-positive"),
        ([0.1, 0.11, 0.12], 1, "not-positive"),
        ([0.1, 0.1, 0.1], 0, "identical-pairs"),
        ([0.0, 0.0], 0, "identical-pairs"),
        ([0.1, 0.1 + 1e-12], 0, "identical-pairs"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(
    ratios: list[float], unusable: int, reason: str
) -> None:
    verdict = decide(ratios, rule(), unusable=unusable)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert verdict.reason == reason
    assert verdict.effect is None
    assert verdict.smallest_detectable is None
    assert verdict.pairs == len(ratios)


def test_monstrous_numbers_end_in_infinity_not_in_a_traceback() -> None:
    verdict = decide([-700.0, 700.0], rule())
    assert verdict.effect is not None
    assert (verdict.effect.low, verdict.effect.high) == (0.0, math.inf)
    assert exp(1e6) == math.inf
    assert log_changes({1: 1e-308}, {1: 1e308})[1] == pytest.approx(2 * 308 * math.log(10))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, -math.inf, math.nan])
def test_only_positive_finite_values_have_a_ratio(bad: float) -> None:
    assert not with_logarithm(log_changes({1: bad, 2: 1.0}, {1: 1.0, 2: bad}))


@pytest.mark.parametrize("freedom", [1, 2, 7, 100])
def test_the_quantile_is_scipys(freedom: int) -> None:
    for probability in (0.8, 0.975, 0.999):
        expected = stats.t.ppf(probability, freedom)
        assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-9)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """2,000 campaigns of 5 pairs: 95 % ± 1.5 (three standard errors)."""
    random = np.random.default_rng(20261121)
    true = math.log(1.01)
    covered = false_alarms = 0
    for ratios in random.normal(true, 0.02, (2000, 5)):
        effect = decide(ratios.tolist(), rule()).effect
        assert effect is not None
        covered += effect.low <= 1.01 <= effect.high
    for ratios in random.normal(0.0, 0.02, (2000, 5)):
        kind = decide(ratios.tolist(), rule()).kind
        false_alarms += kind not in (VerdictKind.EQUIVALENT, VerdictKind.INCONCLUSIVE)
    assert 0.935 < covered / 2000 < 0.965
    assert 0.035 < false_alarms / 2000 < 0.065
