"""A verdict from the paired log-ratios of a contrast (METHOD.md, Verdicts).

The interval of a fixed design is Student's t on d = ln(new/old), brought back by exp; that of a
sequential one is in ``verdict.sequential``. Every word follows from that one interval, so that
interval and word cannot contradict each other:

- the band of ±δ is [1/(1+δ), 1+δ]: symmetric in d, so that exchanging old and new inverts the
  ratio and mirrors the verdict;
- the primary statements of a report share α (``kinds.contract_analyse``), and each of K levels of
  one has a K-th of its share (Bonferroni); these intervals are valid together. Holm's correction
  would call more levels different, but has no interval that belongs to "by at least δ" or to
  "equivalent within ±δ"; whatever is called different here, Holm calls different too.

The smallest effect that so many pairs find with a probability of 80 %.

A further campaign has a scatter of its own, so that its interval is not as wide as this one's; and
what this one scattered is only an estimate of the truth. With u and v the two estimates in units of
the true deviation (independent, each the root of χ²/ν), an effect of c standard errors as they were
estimated is found where Z + c·u > k·v, k the half-width in the same unit. The usual sum of two
quantiles takes u and v for 1: what it calls 80 % is 68 % with five pairs, 53 % with two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy import special

from teiten.analysis.model.findings import Interval, Verdict, VerdictKind
from teiten.model.metrics import Better
from teiten.model.trial import FloatArray
from teiten.model.units import Share

NO_VARIANCE = 1e-9
"""A deviation of d below this is rounding: the pairs are equal, not measured with certainty."""

TOO_FEW_PAIRS = "too-few-pairs"
NOT_POSITIVE = "not-positive"
IDENTICAL_PAIRS = "identical-pairs"
INFINITE_INTERVAL = "infinite-interval"
OVER_TIMEOUT = "over-timeout"
INCOMPLETE_BLOCKS = "incomplete-blocks"
LEFT_BEHIND = "left-behind"
LEVELS_DIFFER = "levels-differ"
NOT_AVERAGED = "not-averaged"
MENDED_BY_PAIRS = frozenset({TOO_FEW_PAIRS, INCOMPLETE_BLOCKS, INFINITE_INTERVAL})
"""The reasons for which there is no interval yet. Of the others further pairs may take away what is
left behind, and nobody can foretell how many; whatever else they say stays."""

HalfWidth = Callable[[float, int, float], float]
"""Half the width of an interval of the mean of d: from the deviation of d, the number of pairs (two
or more) and α. May be infinite."""


@dataclass(frozen=True)
class Rule:
    """The terms that were declared before the run."""

    delta: Share
    alpha: Share
    """α of one interval: divided by the number of statements and levels already."""
    better: Better
    worded: bool = True
    """Whether the interval gets a word; not so of a metric beside the judged one."""

    @property
    def band(self) -> float:
        """δ as a difference of logarithms."""
        return math.log1p(self.delta)


def student_half_width(deviation: float, pairs: int, alpha: float) -> float:
    """Compute half the width of Student's t interval, for a number of pairs that was fixed before
    the run."""
    return student_quantile(1 - alpha / 2, pairs - 1) * deviation / math.sqrt(pairs)


def decide(
    log_ratios: Sequence[float],
    rule: Rule,
    *,
    unusable: int = 0,
    half_width: HalfWidth = student_half_width,
) -> Verdict:
    """The verdict of pairs' d = ln(new/old), finite numbers.

    ``unusable``: pairs in which a value was zero, negative or infinite. They cannot be left out
    in silence (a server that did nothing at all would win), so with any there is no verdict.
    ``half_width``: of the design's interval; where it is infinite, there is none.
    """
    pairs = len(log_ratios)
    if unusable:
        return no_verdict(pairs, rule, NOT_POSITIVE)
    if pairs < 2:
        return no_verdict(pairs, rule, TOO_FEW_PAIRS)
    mean, deviation = mean_and_deviation(log_ratios)
    if deviation < NO_VARIANCE:
        return no_verdict(pairs, rule, IDENTICAL_PAIRS)
    half = half_width(deviation, pairs, rule.alpha)
    if math.isinf(half):
        return no_verdict(pairs, rule, INFINITE_INTERVAL)
    return of_interval(mean, half, (deviation / math.sqrt(pairs), pairs - 1), pairs, rule)


def of_interval(
    mean: float, half: float, scatter: tuple[float, float], pairs: int, rule: Rule
) -> Verdict:
    """The verdict of an interval of d: ``mean`` ± ``half``. ``scatter``: the standard error of the
    mean, and its degrees of freedom."""
    kind, beyond = classify(mean - half, mean + half, rule)
    return Verdict(
        kind=kind,
        at_least_delta=beyond,
        effect=ratio_of(mean, half, rule.alpha),
        pairs=pairs,
        delta=rule.delta,
        smallest_detectable=Share(exp(detectable(half, *scatter)) - 1)
        if kind is VerdictKind.INCONCLUSIVE
        else None,
    )


def ratio_of(mean: float, half: float, alpha: float) -> Interval:
    """The ratio with its interval, from a mean of logarithms and half the width of its interval."""
    ends = (exp(mean), exp(mean - half), exp(mean + half))
    return Interval(*ends, confidence=Share(1 - alpha))


def over_timeout(pairs: int, rule: Rule) -> Verdict:
    """Give the verdict of a level where a trial exceeded its time limit, and so has no number."""
    return no_verdict(pairs, rule, OVER_TIMEOUT)


def withheld(verdict: Verdict, reason: str, *, given_up: bool = False) -> Verdict:
    """The verdict that there is none, though pairs there are; ``given_up``: nor will there be."""
    return replace(
        verdict,
        kind=VerdictKind.INCONCLUSIVE,
        at_least_delta=False,
        effect=None,
        smallest_detectable=None,
        reason=reason,
        given_up=given_up,
        extremes=(),
    )


def mean_and_deviation(log_ratios: Sequence[float]) -> tuple[float, float]:
    """The mean of two or more numbers, and their standard deviation (n - 1)."""
    pairs = len(log_ratios)
    mean = math.fsum(log_ratios) / pairs
    return mean, math.sqrt(math.fsum((d - mean) ** 2 for d in log_ratios) / (pairs - 1))


def classify(low: float, high: float, rule: Rule) -> tuple[VerdictKind, bool]:
    """The word for an interval of d, and whether all of it lies beyond δ.

    Excludes 0 and not wholly inside the band: slower or faster. Excludes 0, inside: different but
    below δ. Includes 0, inside: equivalent. Else inconclusive. None of these where the rule gives
    no word.
    """
    if not rule.worded:
        return VerdictKind.UNJUDGED, False
    inside = -rule.band < low and high < rule.band
    if low <= 0 <= high:
        return (VerdictKind.EQUIVALENT if inside else VerdictKind.INCONCLUSIVE), False
    if inside:
        return VerdictKind.DIFFERENT_BUT_SMALL, False
    return _direction(low > 0, rule.better), low >= rule.band or high <= -rule.band


def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t distribution."""
    return float(special.stdtrit(freedom, probability))


def exp(value: float) -> float:
    """e to the power; infinite where a float ends."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def log_of(ratio: float) -> float:
    """The logarithm of a ratio; minus infinity of an end of an interval that is zero."""
    return math.log(ratio) if ratio > 0 else -math.inf


def _direction(higher: bool, better: Better) -> VerdictKind:
    if better is Better.NEITHER:
        raise ValueError("a metric of which neither direction is better has no verdict")
    good = higher == (better is Better.HIGHER)
    return VerdictKind.FASTER if good else VerdictKind.SLOWER


def no_verdict(pairs: int, rule: Rule, reason: str) -> Verdict:
    """The verdict where nothing can be said, with the code of the reason."""
    return Verdict(
        kind=VerdictKind.INCONCLUSIVE if rule.worded else VerdictKind.UNJUDGED,
        at_least_delta=False,
        effect=None,
        pairs=pairs,
        delta=rule.delta,
        smallest_detectable=None,
        reason=reason,
    )


POWER = 0.8
"""The probability with which the smallest detectable effect is found."""
POINTS = 200
"""The number of points of each integral; over ln u, where the trapezoidal rule converges fast."""


def detectable(half: float, error: float, freedom: float) -> float:
    """Compute the smallest detectable effect, as a logarithm of a ratio. ``half``: half the width
    of the interval; ``error``: the standard error of the mean; ``freedom``: its degrees of
    freedom."""
    return error * _multiple(round(half / error, 9), round(freedom, 6))


@cache
def _multiple(critical: float, freedom: float) -> float:
    scatter, weights = _scatter(freedom)

    def lacking(multiple: float) -> float:
        probabilities = special.ndtr(multiple * scatter[:, None] - critical * scatter[None, :])
        return float(weights @ probabilities @ weights) - POWER

    most = critical + 1.0
    while lacking(most) < 0:
        most *= 2
    from scipy.optimize import brentq  # noqa: PLC0415 - half of all that a campaign imports

    return float(brentq(lacking, 0.0, most, xtol=1e-10))


def _scatter(freedom: float) -> tuple[FloatArray, FloatArray]:
    """Values of the root of χ²/ν, and their probabilities."""
    wide = 8 / math.sqrt(2 * freedom)
    logarithm = np.linspace(-max(wide, 16 / freedom), min(wide, 2.0), POINTS)
    density = freedom * logarithm - freedom / 2 * np.exp(2 * logarithm)
    weights = np.exp(density - density.max())
    return np.exp(logarithm), weights / weights.sum()
