"""The judgement of a commit from a comparison: the pure part of ``teiten bisect``."""

from __future__ import annotations

import math

from teiten.analysis.model.bisection import CommitComparison
from teiten.analysis.model.verdict import BY_SIGN, VerdictKind
from teiten.model.bisection import Mark
from teiten.model.units import Share

SMALLEST_DELTA = 0.001
SMALLEST_ALPHA = 0.0001


def direction(ends: CommitComparison) -> VerdictKind | None:
    """Find the verdict to look for, by the comparison of both ends; None if they do not differ.

    A difference below δ is none to look for; nor is one that is not decided.
    """
    return ends.verdict if ends.verdict in BY_SIGN else None


def mark_of(looked_for: VerdictKind, one: CommitComparison) -> Mark | None:
    """Bad where the commit differs from the good one as the bad end does, by δ or more; good where
    it does not; None where its interval is not yet on one side of δ, which needs more pairs, and
    where its levels contradict one another."""
    if one.verdict in (VerdictKind.INCONCLUSIVE, VerdictKind.MIXED):
        return None
    if one.verdict is looked_for:
        return Mark.BAD if one.at_least_delta else None
    return Mark.GOOD


def needs_more_pairs(one: CommitComparison, *, beyond_delta: bool) -> bool:
    """Whether a comparison is not decided. ``beyond_delta``: its interval may not contain δ."""
    if one.verdict is VerdictKind.INCONCLUSIVE:
        return True
    return beyond_delta and one.verdict in BY_SIGN and not one.at_least_delta


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
    return Share(max(SMALLEST_ALPHA, math.floor(alpha / count * 1e4 + 1e-6) / 1e4))
