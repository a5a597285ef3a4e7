"""Parts of predicates, and their form in a claims file.

Levels of clients are written as multiples of the cores, because the reports' machines had 32 and 80
cores and others have not. Every bound is a ratio: 0.98 is two per cent less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Self

from pydantic import ConfigDict, Field, Strict, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, ClaimWords

FORM = ConfigDict(extra="forbid")
"""Configuration of every predicate. Fields are strict one by one: a strict class would refuse a
table."""
Ratio = Annotated[float, Field(gt=0, strict=True)]
Tolerance = Annotated[float, Field(gt=0, lt=1, strict=True)]
Multiple = Annotated[float, Field(ge=0, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]
Yes = Annotated[bool, Strict()]
Word = Annotated[str, Field(min_length=1, strict=True)]


@dataclass(frozen=True, config=FORM)
class RatioBounds:
    """Where a ratio must lie; None is open."""

    low: Ratio | None = None
    high: Ratio | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("needs low, high or both: a claim must be able to fail")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low must be below high")
        return self

    @property
    def log_bounds(self) -> tuple[float, float]:
        """The logarithms of both; infinite where it is open."""
        return log_bounds(self.low, self.high)


def log_bounds(low: float | None, high: float | None) -> tuple[float, float]:
    """The logarithms of two bounds; infinite where one is open."""
    least = -math.inf if low is None else math.log(low)
    return least, math.inf if high is None else math.log(high)


@dataclass(frozen=True, config=FORM)
class Span:
    """Levels of clients: from ``least`` to ``most`` cores' worth, both included, or one number."""

    least: Multiple | None = None
    most: Multiple | None = None
    clients: Count | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.clients is not None and (self.least is not None or self.most is not None):
            raise ValueError("names either clients, or least and most")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError("least must not be above most")
        return self


def worded(
    key: str, *, of: str = "", sides: Sequence[str] = (), at: Sequence[str] = ()
) -> Callable[[Check, ClaimWords], str]:
    """Say a check by the text under ``key``, whose placeholders have these names: of the level of
    the workload's own factor, of each side, and of each number of clients, cores or workers. What
    is given no name is not told."""

    def wording(check: Check, words: ClaimWords) -> str:
        own = {of: words.side(check.classes[0][0])} if of else {}
        levels = zip(sides, map(words.side, check.sides), strict=False)
        numbers = zip(at, map(words.number, check.at), strict=False)
        return words(key, **own, **dict(levels), **dict(numbers))

    return wording
