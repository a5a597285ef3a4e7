"""Comparisons and outcome of a search for a commit, and the judgement of a commit from a
comparison: the pure part of ``teiten bisect``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.verdict import BY_SIGN, Interval, VerdictKind
from teiten.analysis.verdict.verdict import MENDED_BY_PAIRS
from teiten.model.bisection import Mark
from teiten.model.units import Seconds, Share

SMALLEST_DELTA = 0.001
LEGIBLE_ALPHA = 0.001
"""From it on α is rounded to hundredths of a per cent."""


def direction(ends: CommitComparison) -> VerdictKind | None:
    """Find the verdict to look for, by the comparison of both ends; None if they do not differ.

    A difference below δ is none to look for; nor is one that is not decided.
    """
    return ends.verdict if ends.verdict in BY_SIGN else None


def mark_of(looked_for: VerdictKind, comparison: CommitComparison) -> Mark | None:
    """Bad where the commit differs from the good one as the bad end does, by δ or more; good where
    it does not; None where its interval is not yet on one side of δ, which needs more pairs, and
    where its levels contradict one another."""
    if comparison.verdict in (VerdictKind.INCONCLUSIVE, VerdictKind.MIXED):
        return None
    if comparison.verdict is looked_for:
        return Mark.BAD if comparison.at_least_delta else None
    return Mark.GOOD


def needs_more_pairs(comparison: CommitComparison, *, beyond_delta: bool) -> bool:
    """Whether a comparison is not decided, and further pairs may do so. ``beyond_delta``: its
    interval may not contain δ."""
    if comparison.verdict is VerdictKind.INCONCLUSIVE:
        return not is_stuck(comparison)
    return beyond_delta and comparison.verdict in BY_SIGN and not comparison.at_least_delta


def is_stuck(comparison: CommitComparison) -> bool:
    """Whether it is not decided for a reason that further pairs do not remove, as what each build
    leaves behind for the other, or levels that contradict one another."""
    return comparison.reason is not None and comparison.reason not in MENDED_BY_PAIRS


def step_delta(ends: CommitComparison) -> Share:
    """The δ by which commits are judged, where none was given: half of what the ends differ by.

    So a commit without the change and one with it are equally far from it, and as few pairs as
    possible decide.
    """
    if ends.effect is None:
        return ends.delta
    half = abs(math.log(ends.effect.ratio)) / 2
    return Share(max(SMALLEST_DELTA, round(math.expm1(half), 4)))


def comparisons(candidates: int) -> int:
    """How many comparisons a search among so many commits takes, the ends and the last included."""
    return 2 + math.ceil(math.log2(max(1, candidates)))


def step_alpha(alpha: float, count: int) -> Share:
    """The α of one of ``count`` comparisons, so that the whole search errs in α of searches at the
    most; rounded down, to be read."""
    share = alpha / count
    return Share(math.floor(share * 1e4 + 1e-6) / 1e4 if share >= LEGIBLE_ALPHA else share)


def campaign_alpha(alpha: float, number: int) -> Share:
    """The α of a comparison's campaign, by its number from 1: half of the comparison's for the
    first, a quarter for the second and so on, so that all of them err in it at the most, however
    many there are. Each at all of it would be another chance to err."""
    return Share(alpha / 2**number)


class BisectEnding(StrEnum):
    """How far a search came."""

    FOUND = "found"
    NO_DIFFERENCE = "no-difference"
    """Good and bad do not differ by δ: there is nothing to look for."""
    SAME_BUILD = "same-build"
    """Good and bad are built from the same files: nothing was measured."""
    UNDECIDED = "undecided"
    """A comparison was not decided: the budget was spent before, or further pairs do not help."""
    ONLY_SKIPPED = "only-skipped"
    """The commits that are left cannot be judged."""


@dataclass(frozen=True)
class CommitComparison:
    """The outcome of one campaign of a search: a commit against the good one."""

    campaign: str
    verdict: VerdictKind
    at_least_delta: bool
    effect: Interval | None
    pairs: int
    delta: Share
    seconds: Seconds
    report: str
    reason: str | None = None
    """Code of why nothing can be said, as a verdict has it."""


@dataclass(frozen=True)
class BisectStep:
    """One commit that was looked at."""

    commit: str
    mark: Mark | None
    """None where the comparison was not decided."""
    why: str
    """For a skipped commit, or one that needed no measuring."""
    comparison: CommitComparison | None = None
    seconds: Seconds = Seconds(0)  # noqa: RUF009 - a NewType
    """Time that all campaigns of this commit took."""
