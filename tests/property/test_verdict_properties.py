"""What must hold of every verdict, whatever the numbers are."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from teiten.analysis.model.evidence import log_changes
from teiten.analysis.model.findings import Verdict, VerdictKind
from teiten.analysis.verdict.verdict import Rule, classify, decide
from teiten.model.metrics import Better
from teiten.model.units import Share

RATIOS = st.lists(st.floats(-3.0, 3.0), min_size=0, max_size=12)
VALUES = st.floats(1e-3, 1e6)
RULES = st.builds(
    Rule,
    st.floats(0.001, 0.2).map(Share),
    st.floats(0.001, 0.3).map(Share),
    st.sampled_from([Better.HIGHER, Better.LOWER]),
)
MIRRORED = {VerdictKind.SLOWER: VerdictKind.FASTER, VerdictKind.FASTER: VerdictKind.SLOWER}


@given(RATIOS, RULES)
def test_exchanging_old_and_new_inverts_the_ratio_and_mirrors_the_verdict(
    ratios: list[float], rule: Rule
) -> None:
    one = decide(ratios, rule)
    other = decide([-ratio for ratio in ratios], rule)
    assert other.kind is MIRRORED.get(one.kind, one.kind)
    assert other.at_least_delta == one.at_least_delta
    assert other.smallest_detectable == one.smallest_detectable
    if one.effect is not None and other.effect is not None:
        assert close(one.effect.ratio * other.effect.ratio, 1.0)
        if one.effect.low > 0 and one.effect.high < math.inf:
            assert close(one.effect.low * other.effect.high, 1.0)


@given(RATIOS, st.floats(0.001, 0.2), st.floats(0.001, 0.3))
def test_what_is_faster_in_a_rate_is_slower_in_a_time(
    ratios: list[float], delta: float, alpha: float
) -> None:
    rate, time = (
        decide(ratios, Rule(Share(delta), Share(alpha), better))
        for better in (Better.HIGHER, Better.LOWER)
    )
    assert time.kind is MIRRORED.get(rate.kind, rate.kind)
    assert time.effect == rate.effect


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=8), st.floats(1e-3, 1e3), RULES)
def test_another_unit_changes_nothing(
    pairs: list[tuple[float, float]], factor: float, rule: Rule
) -> None:
    one, other = (
        decide([logarithm(old * scale, new * scale) for old, new in pairs], rule)
        for scale in (1.0, factor)
    )
    assert (one.effect is None) == (other.effect is None)
    if one.effect is not None and other.effect is not None:
        assert close(one.effect.ratio, other.effect.ratio)
        assert close(one.effect.low, other.effect.low)


@given(RATIOS, RULES)
def test_interval_and_word_never_contradict_each_other(ratios: list[float], rule: Rule) -> None:
    assert_consistent(decide(ratios, rule), rule)


def assert_consistent(verdict: Verdict, rule: Rule) -> None:
    if verdict.effect is None:
        assert (verdict.kind, verdict.at_least_delta) == (VerdictKind.INCONCLUSIVE, False)
        assert verdict.reason
        return
    assert verdict.reason is None
    effect = verdict.effect
    assert effect.low <= effect.ratio <= effect.high
    includes_one = effect.low <= 1 <= effect.high
    inside = 1 / (1 + rule.delta) < effect.low and effect.high < 1 + rule.delta
    words = {VerdictKind.EQUIVALENT, VerdictKind.INCONCLUSIVE}
    assert (verdict.kind in words) == includes_one
    inner = {VerdictKind.EQUIVALENT, VerdictKind.DIFFERENT_BUT_SMALL}
    assert (verdict.kind in inner) == inside
    assert (verdict.smallest_detectable is not None) == (verdict.kind is VerdictKind.INCONCLUSIVE)


@given(st.floats(-1, 1), st.floats(-1, 1), RULES)
def test_each_interval_has_exactly_one_word(first: float, second: float, rule: Rule) -> None:
    low, high = sorted((first, second))
    kind, beyond = classify(low, high, rule)
    better = low > 0 if rule.better is Better.HIGHER else high < 0
    excludes = low > 0 or high < 0
    inside = -rule.band < low and high < rule.band
    truths = {
        VerdictKind.FASTER: excludes and not inside and better,
        VerdictKind.SLOWER: excludes and not inside and not better,
        VerdictKind.DIFFERENT_BUT_SMALL: excludes and inside,
        VerdictKind.EQUIVALENT: not excludes and inside,
        VerdictKind.INCONCLUSIVE: not excludes and not inside,
    }
    assert [word for word, true in truths.items() if true] == [kind]
    assert beyond == (low >= rule.band or high <= -rule.band)


@given(RATIOS.filter(lambda found: len(found) >= 2), RULES, st.floats(0.1, 0.9))
def test_more_confidence_never_turns_a_word_around(
    ratios: list[float], rule: Rule, share: float
) -> None:
    sure = decide(ratios, Rule(rule.delta, Share(rule.alpha * share), rule.better))
    less = decide(ratios, rule)
    opposite = {(VerdictKind.SLOWER, VerdictKind.FASTER), (VerdictKind.FASTER, VerdictKind.SLOWER)}
    assert (sure.kind, less.kind) not in opposite


def logarithm(old: float, new: float) -> float:
    return log_changes({1: old}, {1: new})[1]


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6)
