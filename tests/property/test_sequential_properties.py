"""What must hold of the anytime-valid interval, whatever the numbers are."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from teiten.analysis.verdict.drift import lag_one
from teiten.analysis.verdict.sequential import (
    G,
    decide_sequentially,
    forecast,
    half_width,
    is_decided,
    least_pairs,
    pairs_for,
    patient_half_width,
)
from teiten.analysis.verdict.verdict import Rule, decide, student_half_width
from teiten.model.metrics import Better
from teiten.model.units import Share
from tests.property.test_verdict_properties import RATIOS, RULES, assert_consistent

PAIRS = st.integers(2, 5000)
ALPHAS = st.floats(1e-6, 0.499)
DEVIATIONS = st.floats(1e-6, 10.0)


@given(DEVIATIONS, PAIRS, ALPHAS)
def test_it_is_infinite_exactly_where_c_reaches_w(s: float, n: int, alpha: float) -> None:
    w = 1 + n / G
    log_c = 2 / n * math.log(math.sqrt(w) / alpha)
    if abs(log_c - math.log(w)) > 1e-9:
        assert math.isinf(half_width(s, n, alpha)) == (log_c > math.log(w))


@given(DEVIATIONS, PAIRS, ALPHAS)
def test_once_finite_it_narrows_with_every_pair(s: float, n: int, alpha: float) -> None:
    assert half_width(s, n + 1, alpha) <= half_width(s, n, alpha)
    assert math.isfinite(half_width(s, max(n, least_pairs(alpha)), alpha))


@given(DEVIATIONS, PAIRS, ALPHAS, st.floats(0.01, 0.99))
def test_a_smaller_alpha_widens_it(s: float, n: int, alpha: float, share: float) -> None:
    assert half_width(s, n, alpha * share) >= half_width(s, n, alpha)


@given(DEVIATIONS, PAIRS, ALPHAS, st.floats(0.1, 10))
def test_it_grows_in_proportion_to_the_deviation(
    s: float, n: int, alpha: float, factor: float
) -> None:
    one, other = half_width(s, n, alpha), half_width(s * factor, n, alpha)
    assert math.isinf(one) == math.isinf(other)
    assert math.isinf(one) or math.isclose(one * factor, other, rel_tol=1e-9)


@given(DEVIATIONS, PAIRS, st.floats(1e-6, 0.2))
def test_looking_often_costs_width(s: float, n: int, alpha: float) -> None:
    assert half_width(s, n, alpha) > student_half_width(s, n, alpha)


@given(RATIOS, RULES)
def test_interval_and_word_never_contradict_each_other(ratios: list[float], rule: Rule) -> None:
    verdict = decide_sequentially(ratios, rule)
    assert_consistent(verdict, rule)
    assert is_decided(verdict) <= (verdict.effect is not None)


@given(RATIOS, RULES)
def test_what_it_says_a_fixed_design_of_as_many_pairs_says_too(
    ratios: list[float], rule: Rule
) -> None:
    """Its interval holds the other one, so it is never the bolder of the two."""
    sequential, fixed = decide_sequentially(ratios, rule), decide(ratios, rule)
    if sequential.effect is not None and rule.alpha <= 0.2:
        assert fixed.effect is not None
        assert sequential.effect.low <= fixed.effect.low
        assert fixed.effect.high <= sequential.effect.high


@given(st.floats(0.001, 0.5), st.floats(0.0001, 0.2), st.floats(0.001, 0.3))
def test_the_pairs_for_an_effect_are_the_fewest_that_show_it(
    effect: float, deviation: float, alpha: float
) -> None:
    pairs = pairs_for(effect, deviation, alpha)
    if pairs is not None:
        assert patient_half_width(deviation, pairs, alpha) < math.log1p(effect)
        assert patient_half_width(deviation, pairs - 1, alpha) >= math.log1p(effect)


@given(RATIOS.filter(lambda found: len(found) >= 2), RULES)
def test_a_decided_verdict_is_foretold_for_now(ratios: list[float], rule: Rule) -> None:
    if is_decided(decide_sequentially(ratios, rule)):
        assert forecast(ratios, rule) == len(ratios)


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=40), st.floats(0.1, 10))
def test_lag_one_lies_between_minus_one_and_one_and_knows_no_unit(
    ratios: list[float], factor: float
) -> None:
    found = lag_one(ratios)
    if found is not None:
        assert -1 <= found <= 1
        other = lag_one([factor * ratio + 1 for ratio in ratios])
        assert other is None or math.isclose(found, other, abs_tol=1e-4)


def test_a_share_of_alpha_is_a_share() -> None:
    verdict = decide_sequentially(
        [0.1, 0.11, 0.1, 0.11, 0.1, 0.12], Rule(Share(0.02), Share(0.01), Better.HIGHER)
    )
    assert verdict.effect is not None
    assert verdict.effect.confidence == 0.99
