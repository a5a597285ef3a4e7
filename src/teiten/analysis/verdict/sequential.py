"""Pairs until a decision: an interval that is valid at every look (METHOD.md, When to stop).

The interval inverts a t test with a normal prior of the effect in units of the deviation (g-prior)
and the right-Haar prior of the deviation, so that its error stays below α however often and
whenever one looks (Wang & Ramdas, Anytime-valid t-tests and confidence sequences, 2024). For n
pairs with deviation s, g = 0.25::

    w = 1 + n/g    c = (√w/α)^(2/n)    half-width = (s/√n) · √((n-1)(c-1) / (1-c/w))

It is infinite where c ≥ w. Autocorrelated pairs break it, so ``verdict.drift`` looks for them. A
disturbance whose period is that of the trials breaks it too while the pairs are few, because all of
them can meet the same half of the period; hence no interval before LEAST_PAIRS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from teiten.analysis.model.findings import Verdict, VerdictKind
from teiten.analysis.verdict.verdict import (
    MENDED_BY_PAIRS,
    NO_VARIANCE,
    Rule,
    decide,
    mean_and_deviation,
)
from teiten.model.study import Measure

G = 0.25
"""The prior's precision, in pairs: effects of about 1/√g = 2 deviations of a pair are expected,
large ones. So few pairs decide what is large, and what is small takes more than it could."""
LEAST_PAIRS = 6
"""The fewest pairs of an interval, counted over all levels that enter it. Simulated by
benchmarks/method: under a disturbance in every second trial's time one level had 7.1 % false alarms
without it and has 3.0 % with it; a true 2 % takes 6.8 pairs on average instead of 6.1."""
MOST_PAIRS = 1_000_000
"""Beyond it a forecast says that no number of pairs decides."""


def half_width(deviation: float, pairs: int, alpha: float) -> float:
    """Half the width of the interval of the mean of d by the formula; infinite where c ≥ w.

    ``deviation``: of d (n - 1); ``pairs``: two or more; ``alpha``: of this interval, 0 to 1.
    """
    w = 1 + pairs / G
    log_c = 2 / pairs * (math.log(w) / 2 - math.log(alpha))
    if log_c >= math.log(w):
        return math.inf
    spread = (pairs - 1) * math.expm1(log_c) / (1 - math.exp(log_c) / w)
    return deviation / math.sqrt(pairs) * math.sqrt(spread)


def patient_half_width(deviation: float, pairs: int, alpha: float, levels: int = 1) -> float:
    """Compute ``half_width``; infinite before LEAST_PAIRS.

    ``levels``: of how many levels' pairs each d is the mean.
    """
    if pairs * levels < LEAST_PAIRS:
        return math.inf
    return half_width(deviation, pairs, alpha)


def least_pairs(alpha: float, levels: int = 1) -> int:
    """From how many d on the interval is finite, whatever they measure."""
    pairs = 2
    while math.isinf(patient_half_width(1.0, pairs, alpha, levels)):
        pairs += 1
    return pairs


def decide_sequentially(
    log_ratios: Sequence[float], rule: Rule, *, unusable: int = 0, levels: int = 1
) -> Verdict:
    """The verdict of the pairs so far; valid at every look.

    ``levels``: of how many levels' pairs each number is the mean.
    """
    width = partial(patient_half_width, levels=levels)
    return decide(log_ratios, rule, unusable=unusable, half_width=width)


def decide_by_design(
    measure: Measure,
    log_ratios: Sequence[float],
    rule: Rule,
    *,
    unusable: int = 0,
    levels: int = 1,
) -> Verdict:
    """The verdict in the way of a campaign's design, fixed or sequential; ``levels`` as in
    ``decide_sequentially``."""
    if measure.sequential is None:
        return decide(log_ratios, rule, unusable=unusable)
    return decide_sequentially(log_ratios, rule, unusable=unusable, levels=levels)


def is_decided(verdict: Verdict) -> bool:
    """The interval excludes 1, or lies wholly within ±δ."""
    return verdict.kind is not VerdictKind.INCONCLUSIVE


def pairs_for(effect: float, deviation: float, alpha: float) -> int | None:
    """How many pairs it takes until the interval around an effect excludes 1.

    ``effect``: as a share (0.02), of either sign; ``deviation``: of d. None beyond MOST_PAIRS.
    """
    return pairs_until(abs(math.log1p(effect)), deviation, alpha)


def is_a_matter_of_pairs(verdict: Verdict) -> bool:
    """Whether it can be foretold how many further pairs decide: a verdict has an interval, or none
    for lack of them."""
    return verdict.effect is not None or verdict.reason in MENDED_BY_PAIRS


def forecast(log_ratios: Sequence[float], rule: Rule, levels: int = 1) -> int | None:
    """How many d in all will decide, if the further ones are like those so far.

    None of fewer than two pairs, of equal ones, or beyond MOST_PAIRS.
    """
    if len(log_ratios) < 2:
        return None
    mean, deviation = mean_and_deviation(log_ratios)
    if deviation < NO_VARIANCE:
        return None
    needed = pairs_until(_room(mean, rule.band), deviation, rule.alpha, levels)
    return None if needed is None else max(needed, len(log_ratios))


def pairs_to_decide(verdict: Verdict) -> int | None:
    """How many d in all will decide, as ``forecast``, from a verdict's interval.

    None where it has none, or none with two ends.
    """
    effect = verdict.effect
    if effect is None:
        return None
    alpha = 1 - effect.confidence
    deviation = deviation_behind(effect.low, effect.high, verdict.pairs, alpha)
    if deviation is None:
        return None
    room = _room(math.log(effect.ratio), math.log1p(verdict.delta))
    needed = pairs_until(room, deviation, alpha)
    return None if needed is None else max(needed, verdict.pairs + 1)


def _room(mean: float, band: float) -> float:
    """The half-width that decides: equality is excluded, or all lies within the band."""
    return max(abs(mean), band - abs(mean))


def deviation_behind(low: float, high: float, pairs: int, alpha: float) -> float | None:
    """The deviation of d that gave a ratio's interval these ends; None without two ends."""
    if low <= 0 or pairs < 2:
        return None
    unit = half_width(1.0, pairs, alpha)
    half = math.log(high / low) / 2
    return half / unit if math.isfinite(half) and math.isfinite(unit) and half > 0 else None


def pairs_until(width: float, deviation: float, alpha: float, levels: int = 1) -> int | None:
    """The least number of pairs whose half-width is below ``width``.

    The half-width falls with every pair, once it is finite.
    """

    def enough(pairs: int) -> bool:
        return patient_half_width(deviation, pairs, alpha, levels) < width

    if width <= 0 or not enough(MOST_PAIRS):
        return None
    below, upper = 1, 2
    while not enough(upper):
        below, upper = upper, 2 * upper
    while upper - below > 1:
        middle = (below + upper) // 2
        below, upper = (below, middle) if enough(middle) else (middle, upper)
    return upper
