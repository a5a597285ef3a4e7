"""Times of queries for people: one unit for a table or chart, chosen by the greatest of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from teiten.report.numbers import MOST_DIGITS, NOTHING, decimals_for, decimals_of, fixed

IN_SECONDS = 10.0
"""From this greatest time on, in seconds."""
SHORT = 100.0
"""Milliseconds below which a time has a decimal at least; the clock tells microseconds."""


@dataclass(frozen=True)
class TimeUnit:
    name: str
    factor: float
    """The number of such units in a second."""

    def text(self, seconds: float | None, half_width: float) -> str:
        """A time with the digits that its interval allows, and a short one with three at least.

        ``half_width``: in seconds; not finite where there is none.
        """
        if seconds is None or not math.isfinite(seconds):
            return NOTHING
        value, half = seconds * self.factor, half_width * self.factor
        known = math.isfinite(half) and half > 0
        decimals = min(decimals_of(value, MOST_DIGITS), decimals_for(half)) if known else 0
        least = decimals_of(value, 3) if not known or seconds * 1000 < SHORT else 0
        return fixed(value, max(decimals, least))


SECONDS = TimeUnit("s", 1.0)
MILLISECONDS = TimeUnit("ms", 1000.0)


def unit_for(times: Iterable[float]) -> TimeUnit:
    """Seconds where the greatest is long."""
    greatest = max((time for time in times if math.isfinite(time)), default=0.0)
    return SECONDS if greatest >= IN_SECONDS else MILLISECONDS
