"""A verdict from two samples that share no blocks: Welch's interval on logarithms.

Two campaigns ran at different times on different machines, so that nothing of the one belongs to
anything of the other. The interval of ln(B) - ln(A) adds both variances, which may differ, with the
degrees of freedom of Welch (The generalization of "Student's" problem when several different
population variances are involved, Biometrika 34, 1947). It covers the scatter of trials, and
nothing else: there is one machine of each kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from teiten.analysis.claims.checks import Estimate, check_of, lack_of
from teiten.analysis.model.claims import Check, ClaimQuestion
from teiten.analysis.model.verdict import Interval, Verdict
from teiten.analysis.verdict.verdict import (
    NO_VARIANCE,
    NOT_POSITIVE,
    Rule,
    mean_and_deviation,
    no_verdict,
    of_interval,
    ratio_of,
    student_quantile,
)
from teiten.model.units import Share

Mean = tuple[float, float, int]
"""A mean, its standard error, and the number of values that it is the mean of."""
TOO_FEW_TRIALS = "too-few-trials"
IDENTICAL_TRIALS = "identical-trials"


def decide_unpaired(
    old: Sequence[float], new: Sequence[float], rule: Rule, *, unusable: int = 0
) -> Verdict:
    """The verdict of two samples of logarithms, finite numbers.

    ``unusable``: values that were zero, negative or infinite; with any there is no verdict. The
    verdict's ``pairs`` is the size of the smaller sample: there are no pairs.
    """
    fewer = min(len(old), len(new))
    if unusable:
        return no_verdict(fewer, rule, NOT_POSITIVE)
    if fewer < 2:
        return no_verdict(fewer, rule, TOO_FEW_TRIALS)
    difference, error, freedom = welch(old, new)
    if error < NO_VARIANCE:
        return no_verdict(fewer, rule, IDENTICAL_TRIALS)
    half = student_quantile(1 - rule.alpha / 2, freedom) * error
    return of_interval(difference, half, (error, freedom), fewer, rule)


def estimate_unpaired(old: Sequence[float], new: Sequence[float], alpha: float) -> Estimate | None:
    """The difference of two samples of logarithms with its interval.

    None of fewer than two values on a side, of values without any variance, or with a NaN.
    """
    if min(len(old), len(new)) < 2 or not all(map(math.isfinite, (*old, *new))):
        return None
    difference, error, freedom = welch(old, new)
    if error < NO_VARIANCE:
        return None
    half = student_quantile(1 - alpha / 2, freedom) * error
    return difference, difference - half, difference + half


def welch(old: Sequence[float], new: Sequence[float]) -> tuple[float, float, float]:
    """The difference of means (new less old), its standard error, and Welch's degrees of freedom.

    Of two or more values on each side. Without any variance the degrees of freedom are those of
    the smaller sample.
    """
    mean_old, deviation_old = mean_and_deviation(old)
    mean_new, deviation_new = mean_and_deviation(new)
    part_old, part_new = deviation_old**2 / len(old), deviation_new**2 / len(new)
    return mean_new - mean_old, *_added((part_old, len(old)), (part_new, len(new)))


def interval_of_means(old: Mean, new: Mean, alpha: float) -> Interval | None:
    """The ratio new by old of two means of logarithms; None where they have no variance.

    Each with its standard error and the number of values, two or more, that it is the mean of.
    """
    (mean_old, error_old, count_old), (mean_new, error_new, count_new) = old, new
    error, freedom = _added((error_old**2, count_old), (error_new**2, count_new))
    if error < NO_VARIANCE:
        return None
    return ratio_of(mean_new - mean_old, student_quantile(1 - alpha / 2, freedom) * error, alpha)


def _added(old: tuple[float, int], new: tuple[float, int]) -> tuple[float, float]:
    """The standard error of a difference and its degrees of freedom, from the squared standard
    error of either mean and the number of its values."""
    (part_old, count_old), (part_new, count_new) = old, new
    variance = part_old + part_new
    if variance <= 0:
        return 0.0, float(min(count_old, count_new) - 1)
    share = part_old / variance
    freedom = 1 / (share**2 / (count_old - 1) + (1 - share) ** 2 / (count_new - 1))
    return math.sqrt(variance), freedom


def unpaired_check(
    question: ClaimQuestion,
    samples: Sequence[Sequence[float]],
    alpha: float,
    *,
    among: int,
    delta: Share,
) -> Check:
    """Answer a question about old and new by Welch's interval. ``samples``: the logarithms of
    both; ``among``: the checks of the claim."""
    old, new = samples

    def estimated(_values: Sequence[float], at: float) -> Estimate | None:
        return estimate_unpaired(old, new, at)

    check = check_of(question, alpha, estimated, among=among, delta=delta)
    lack = lack_of(old, new) if check.lack else ""
    return replace(check, pairs=min(len(old), len(new)), lack=lack)
