"""The search for the commit that changed the speed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.model.analysis import Interval, VerdictKind
from teiten.model.units import Seconds, Share


class Mark(StrEnum):
    """What is known of a commit, in git's words."""

    GOOD = "good"
    BAD = "bad"
    """As slow (or as fast) as the bad end: by δ or more."""
    SKIP = "skip"
    """It cannot be judged: it does not build, or its server does not run the workload."""


class BisectEnding(StrEnum):
    """How far a search came."""

    FOUND = "found"
    NO_DIFFERENCE = "no-difference"
    """Good and bad do not differ by δ: there is nothing to look for."""
    UNDECIDED = "undecided"
    """The budget was spent before a comparison was decided."""
    ONLY_SKIPPED = "only-skipped"
    """What is left cannot be judged."""


@dataclass(frozen=True)
class Comparison:
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
    comparison: Comparison | None = None
    seconds: Seconds = Seconds(0)  # noqa: RUF009 - a NewType
    """Of all its campaigns."""


@dataclass(frozen=True)
class Remaining:
    """Where a search stands: what to look at next, or what is known."""

    candidates: tuple[str, ...]
    """Commits of which one is the first bad one, the newest first; the newest is known as bad."""
    following: str | None
    """The next to look at; None where the search has ended."""
