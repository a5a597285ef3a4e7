"""Verdicts without pairs: Welch's interval, checked against SciPy and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from teiten.analysis.across.unpaired import decide_unpaired, welch
from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.verdict.verdict import Rule
from teiten.model.metrics import Better
from teiten.model.units import Share

RULE = Rule(Share(0.02), Share(0.05), Better.HIGHER)
logs = st.lists(st.floats(-2, 2), min_size=2, max_size=8)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 7), (6, 6), (10, 4)])
def test_the_interval_is_scipys(sizes: tuple[int, int]) -> None:
    random = np.random.default_rng(sum(sizes))
    old, new = random.normal(0, 0.1, sizes[0]), random.normal(0.05, 0.02, sizes[1])
    verdict = decide_unpaired(list(old), list(new), RULE)
    expected = stats.ttest_ind(new, old, equal_var=False).confidence_interval(0.95)
    assert verdict.effect is not None
    assert math.log(verdict.effect.low) == pytest.approx(expected.low, abs=1e-9)
    assert math.log(verdict.effect.high) == pytest.approx(expected.high, abs=1e-9)
    assert math.log(verdict.effect.ratio) == pytest.approx(new.mean() - old.mean())


def test_it_covers_what_it_promises_with_unequal_noise() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(1000):
        verdict = decide_unpaired(
            list(random.normal(0, 0.03, 4)), list(random.normal(0.1, 0.01, 6)), RULE
        )
        assert verdict.effect is not None
        covered += verdict.effect.low <= math.exp(0.1) <= verdict.effect.high
    assert 930 <= covered <= 975


def test_shared_disturbances_do_not_make_it_narrower() -> None:
    """A paired interval of these would have almost no width: they only look paired."""
    blocks = [0.0, 0.1, -0.1, 0.2, -0.2]
    verdict = decide_unpaired(blocks, [value + 0.05 for value in blocks], RULE)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert verdict.effect is not None and verdict.effect.low < 0.9
    assert verdict.smallest_detectable is not None and verdict.smallest_detectable > 0.2


@pytest.mark.parametrize(
    ("old", "new", "unusable", "reason"),
    [
        ([0.1], [0.1, 0.2], 0, "too-few-trials"),
        ([], [], 0, "too-few-trials"),
        ([0.1, 0.1], [0.2, 0.2], 0, "identical-trials"),
        ([0.1, 0.2], [0.2, 0.3], 1, "not-positive"),
    ],
)
def test_nothing_is_said_without_a_spread(
    old: list[float], new: list[float], unusable: int, reason: str
) -> None:
    verdict = decide_unpaired(old, new, RULE, unusable=unusable)
    assert (verdict.kind, verdict.effect) == (VerdictKind.INCONCLUSIVE, None)
    assert verdict.reason == reason


@given(logs, logs)
def test_exchanging_the_sides_inverts_the_ratio(old: list[float], new: list[float]) -> None:
    one, other = decide_unpaired(old, new, RULE), decide_unpaired(new, old, RULE)
    if one.effect is None or other.effect is None:
        assert one.reason == other.reason
        return
    assert one.effect.ratio * other.effect.ratio == pytest.approx(1)
    assert math.isinf(other.effect.high) or one.effect.low * other.effect.high == pytest.approx(1)


@given(logs, logs)
def test_the_degrees_of_freedom_lie_between_the_samples(old: list[float], new: list[float]) -> None:
    _, error, freedom = welch(old, new)
    if error > 1e-4:
        assert min(len(old), len(new)) - 1 - 1e-6 <= freedom <= len(old) + len(new) - 2 + 1e-6
