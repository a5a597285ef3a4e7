"""Pairs until a decision: an interval that is valid at every look (METHOD.md, When to stop).

The interval inverts a t test with a normal prior of the effect in units of the deviation (g-prior)
and the right-Haar prior of the deviation, so that its error stays below α however often and
whenever one looks (Wang & Ramdas, Anytime-valid t-tests and confidence sequences, 2024). For n
pairs with deviation s, g = 0.25::

    w = 1 + n/g    c = (√w/α)^(2/n)    half-width = (s/√n) · √((n-1)(c-1) / (1-c/w))

It is infinite where c ≥ w. Autocorrelated pairs break it, so ``analysis.drift`` looks for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from teiten.analysis.verdict import NO_VARIANCE, Rule, decide, mean_and_deviation
from teiten.model.analysis import Verdict, VerdictKind

G = 0.25
"""The prior's precision, in pairs: small effects in units of the deviation are expected."""
MOST_PAIRS = 1_000_000
"""Beyond it a forecast says that no number of pairs decides."""


def half_width(deviation: float, pairs: int, alpha: float) -> float:
    """Half the width of the interval of the mean of d; infinite where the pairs are too few.

    ``deviation``: of d (n - 1); ``pairs``: two or more; ``alpha``: of this interval, 0 to 1.
    """
    w = 1 + pairs / G
    log_c = 2 / pairs * (math.log(w) / 2 - math.log(alpha))
    if log_c >= math.log(w):
        return math.inf
    spread = (pairs - 1) * math.expm1(log_c) / (1 - math.exp(log_c) / w)
    return deviation / math.sqrt(pairs) * math.sqrt(spread)


def least_pairs(alpha: float) -> int:
    """From how many pairs on the interval is finite, whatever they measure."""
    pairs = 2
    while math.isinf(half_width(1.0, pairs, alpha)):
        pairs += 1
    return pairs


def decide_sequentially(log_ratios: Sequence[float], rule: Rule, *, unusable: int = 0) -> Verdict:
    """The verdict of the pairs so far; valid at every look."""
    return decide(log_ratios, rule, unusable=unusable, half_width=half_width)


def is_decided(verdict: Verdict) -> bool:
    """The interval excludes 1, or lies wholly within ±δ."""
    return verdict.kind is not VerdictKind.INCONCLUSIVE


def pairs_for(effect: float, deviation: float, alpha: float) -> int | None:
    """How many pairs it takes until the interval around an effect excludes 1.

    ``effect``: as a share (0.02), of either sign; ``deviation``: of d. None beyond MOST_PAIRS.
    """
    return _pairs_until(abs(math.log1p(effect)), deviation, alpha)


def forecast(log_ratios: Sequence[float], rule: Rule) -> int | None:
    """How many pairs in all will decide, if the further ones are like those so far.

    None of fewer than two pairs, of equal ones, or beyond MOST_PAIRS.
    """
    if len(log_ratios) < 2:
        return None
    mean, deviation = mean_and_deviation(log_ratios)
    if deviation < NO_VARIANCE:
        return None
    room = max(abs(mean), rule.band - abs(mean))
    needed = _pairs_until(room, deviation, rule.alpha)
    return None if needed is None else max(needed, len(log_ratios))


def _pairs_until(width: float, deviation: float, alpha: float) -> int | None:
    """The least number of pairs whose half-width is below ``width``.

    The half-width falls with every pair, once it is finite.
    """

    def enough(pairs: int) -> bool:
        return half_width(deviation, pairs, alpha) < width

    if width <= 0 or not enough(MOST_PAIRS):
        return None
    below, upper = 1, 2
    while not enough(upper):
        below, upper = upper, 2 * upper
    while upper - below > 1:
        middle = (below + upper) // 2
        below, upper = (below, middle) if enough(middle) else (middle, upper)
    return upper
