"""Intervals and verdicts of METHOD.md from the bare numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy import special

IDENTICAL = 1e-9
Extreme = tuple[tuple[str, str], ...]
"""A level, by its factors and their levels."""


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """Student's quantile."""
    return float(special.stdtrit(freedom, probability))


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function."""
    return float(special.betainc(a, b, min(max(x, 0.0), 1.0)))


@dataclass(frozen=True)
class Judgement:
    """What the numbers say. ``mean``, ``low`` and ``high`` are logarithms of new/old."""

    pairs: int
    reason: str = ""
    """Why there is no interval; empty where there is one."""
    mean: float = 0.0
    low: float = 0.0
    high: float = 0.0
    alpha: float = 0.05
    delta: float = 0.02
    detectable: float = 0.0
    lower_is_better: bool = False
    worded: bool = True
    """Whether the metric is the one that is judged."""
    extremes: tuple[Extreme, ...] = ()
    """Of a verdict over levels that contradict their mean: the lowest and the highest one."""

    @property
    def word(self) -> str:
        """faster, slower, equivalent, small, mixed, inconclusive or alone (an interval without a
        word)."""
        if not self.worded:
            return "alone"
        if self.extremes:
            return "mixed"
        if self.reason:
            return "inconclusive"
        band = math.log1p(self.delta)
        inside = self.low > -band and self.high < band
        if self.low <= 0 <= self.high:
            return "equivalent" if inside else "inconclusive"
        if inside:
            return "small"
        return self.direction

    @property
    def direction(self) -> str:
        return "faster" if (self.mean > 0) != self.lower_is_better else "slower"

    @property
    def beyond(self) -> bool:
        """Decided, and by at least δ."""
        band = math.log1p(self.delta)
        decided = self.word in {"faster", "slower"}
        return decided and (self.low >= band or self.high <= -band)

    @property
    def confidence(self) -> float:
        return 1 - self.alpha


def biased(verdict: Judgement, sure: float, most: float) -> Judgement:
    """The verdict, or none where a bias of its mean could change it: ``most`` a decided one, what
    is ``sure`` one that is not, however many pairs there are."""
    if verdict.reason:
        return verdict
    alone = replace(verdict, worded=True, extremes=())
    if alone.word == "inconclusive":
        final = replace(alone, low=verdict.mean - sure, high=verdict.mean + sure)
        stands = final.word != "inconclusive"
    else:
        longer = replace(alone, low=verdict.low - most, high=verdict.high + most)
        stands = (longer.word, longer.beyond) == (alone.word, alone.beyond)
    return verdict if stands else replace(verdict, reason="left-behind", worded=True, extremes=())


def contradicted(
    mean: Judgement, levels: Mapping[Extreme, Judgement], *, averaged: bool
) -> Judgement:
    """The mean over levels; without a number where what is known of them contradicts it, and where
    no mean means anything (not ``averaged``) unless they all say the same."""
    known = {one: level for one, level in levels.items() if not level.reason}
    words = {level.word for level in known.values()} & {"faster", "slower"}
    if mean.reason or not mean.worded or len(levels) < 2:
        return mean
    if not words:
        return _alike(mean, levels, averaged=averaged)
    gap = max(one.low for one in known.values()) - min(one.high for one in known.values())
    if len(words) < 2 and gap <= max(abs(mean.mean), math.log1p(mean.delta)):
        return _alike(mean, levels, averaged=averaged)
    decided = {one: level for one, level in known.items() if level.word in words}
    below = {one: level for one, level in decided.items() if level.high < 0} or known
    above = {one: level for one, level in decided.items() if level.low > 0} or known
    lowest = min(below, key=lambda one: below[one].high)
    highest = max(above, key=lambda one: above[one].low)
    return replace(mean, reason="levels-differ", extremes=(lowest, highest))


def _alike(mean: Judgement, levels: Mapping[Extreme, Judgement], *, averaged: bool) -> Judgement:
    words = {level.word for level in levels.values()}
    within = mean.word in {"equivalent", "small"} and words <= {"equivalent", "small"}
    same = mean.word in {"faster", "slower"} and words == {mean.word}
    return mean if averaged or within or same else replace(mean, reason="not-averaged")


def judge(
    values: Sequence[float],
    *,
    delta: float,
    alpha: float,
    lower_is_better: bool,
    unusable: int = 0,
    sequential: bool = False,
    levels: int = 1,
) -> Judgement:
    """Of d = ln(new/old), a number for each pair."""

    def nothing(reason: str) -> Judgement:
        return Judgement(pairs, reason, alpha=alpha, delta=delta, lower_is_better=lower_is_better)

    pairs = len(values)
    if unusable:
        return nothing("not-positive")
    if pairs < 2:
        return nothing("too-few-pairs")
    mean = math.fsum(values) / pairs
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (pairs - 1))
    if deviation < IDENTICAL:
        return nothing("identical-pairs")
    if sequential:
        half = always_valid(deviation, pairs, alpha, levels)
    else:
        half = t_quantile(1 - alpha / 2, pairs - 1) * deviation / math.sqrt(pairs)
    if math.isinf(half):
        return nothing("infinite-interval")
    error = deviation / math.sqrt(pairs)
    seen = error * _multiple_that_is_found(round(half / error, 9), pairs - 1)
    return Judgement(
        pairs,
        "",
        mean,
        mean - half,
        mean + half,
        alpha,
        delta,
        math.expm1(seen) if seen < 700 else math.inf,
        lower_is_better,
    )


@cache
def _multiple_that_is_found(critical: float, freedom: int) -> float:
    """Of how many standard errors an effect is that is found in 80 % of campaigns, where the scatter
    of this one and of a further one are independent estimates of the true one."""
    wide = 8 / math.sqrt(2 * freedom)
    logarithms = np.linspace(-max(wide, 16 / freedom), min(wide, 2.0), 200)
    weights = np.exp(freedom * (logarithms - np.exp(2 * logarithms) / 2 + 0.5))
    weights /= weights.sum()
    u, v = np.exp(logarithms)[:, None], np.exp(logarithms)[None, :]
    least, most = critical / 2, 8 * critical
    for _ in range(36):
        middle = (least + most) / 2
        found = weights @ special.erfc((critical * v - middle * u) / math.sqrt(2)) @ weights / 2
        least, most = (middle, most) if found < 0.8 else (least, middle)
    return (least + most) / 2


def always_valid(deviation: float, pairs: int, alpha: float, levels: int) -> float:
    """METHOD.md, When to stop."""
    if pairs * levels < 6:
        return math.inf
    w = 1 + pairs / 0.25
    c = (math.sqrt(w) / alpha) ** (2 / pairs)
    if c >= w:
        return math.inf
    return deviation / math.sqrt(pairs) * math.sqrt((pairs - 1) * (c - 1) / (1 - c / w))


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def ratio_of(log: float) -> float:
    """A ratio of its logarithm; two pairs that scatter much have ends beyond every number."""
    return math.exp(max(-700.0, min(log, 700.0)))
