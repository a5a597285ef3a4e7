"""Comparisons and outcome of a search for a commit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.findings import Interval, VerdictKind
from teiten.model.bisection import Mark
from teiten.model.units import Seconds, Share


class BisectEnding(StrEnum):
    """How far a search came."""

    FOUND = "found"
    NO_DIFFERENCE = "no-difference"
    """Good and bad do not differ by δ: there is nothing to look for."""
    UNDECIDED = "undecided"
    """The budget was spent before a comparison was decided."""
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
