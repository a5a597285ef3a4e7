"""The search for the commit that changed the speed: what is known, and what to look at next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """Judgement of a commit, in git's words."""

    GOOD = "good"
    BAD = "bad"
    """Slow (or fast) like the bad end: by δ or more."""
    SKIP = "skip"
    """It cannot be judged: it does not build, or its server does not run the workload."""


@dataclass(frozen=True)
class SearchState:
    """Where a search stands: what to look at next, or what is known."""

    candidates: tuple[str, ...]
    """Commits of which one is the first bad one, the newest first; the newest is known as bad."""
    following: str | None
    """The next to look at; None where the search has ended."""
