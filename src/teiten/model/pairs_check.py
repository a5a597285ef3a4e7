"""Whether paired transactions tell the truth on this machine (``teiten doctor --pairs``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PAIRS_CHECK = "pairs-check"
"""The kind of the event with which a campaign keeps the check that was known at its start."""
STARTS = 20
"""Number of starts of a check; fixed before it."""
MORE = 0.02
"""The work that the second side has more of in the control."""
SLOPE = (0.9, 1.1)
"""Where what is seen of the control must lie, by what it costs."""
LARGEST_HALF = 0.25
"""Half of the widest interval of a slope that tells anything of it."""
BEYOND = 2
"""Clients of each processor, where there are more of them than processors."""


class Holds(StrEnum):
    """Result of a check."""

    YES = "yes"
    NO = "no"
    OPEN = "open"
    """The machine was too noisy for so many starts."""


@dataclass(frozen=True)
class StartNumbers:
    """The two numbers of a start, or of a part of one: ln(B/A), above 0 where B is faster."""

    throughput: float
    typical: float


@dataclass(frozen=True)
class CheckedLoad:
    """A number of clients in one start of both servers."""

    clients: int
    equal: StartNumbers
    """For the same work on both sides."""
    more: StartNumbers
    """For the work of which B has more, less ``equal``: the same start, as near in time as the way
    permits."""
    share: StartNumbers
    """By how much twice the work makes a transaction longer, of both sides."""


@dataclass(frozen=True)
class CheckedStart:
    """One start of both servers."""

    loads: tuple[CheckedLoad, ...]
    """With as many clients as processors, mixed; and with ``BEYOND`` times as many, in step."""
    load_average: float
    took: float
    """Seconds, with starting and stopping the servers."""


@dataclass(frozen=True)
class CheckedNumber:
    """Result of a whole check for one of the two numbers with so many clients."""

    name: str
    clients: int
    mean: float
    """Mean for equal work; with the ends of its interval."""
    low: float
    high: float
    deviation: float
    """From start to start."""
    slope: float
    """Difference seen for the work that B has more of, divided by what it costs."""
    slope_low: float
    slope_high: float
    band: float
    """Half of δ, as a logarithm: where the interval of equal work must lie."""

    @property
    def equal(self) -> Holds:
        """Whether equal sides are equal."""
        if -self.band < self.low and self.high < self.band:
            return Holds.YES
        return Holds.NO if self.low > self.band or self.high < -self.band else Holds.OPEN

    @property
    def true_to_scale(self) -> Holds:
        """Whether a known difference has its size."""
        low, high = SLOPE
        if self.slope_low > high or self.slope_high < low:
            return Holds.NO
        narrow = (self.slope_high - self.slope_low) / 2 <= LARGEST_HALF
        return Holds.YES if narrow and low <= self.slope <= high else Holds.OPEN


@dataclass(frozen=True)
class PairsCheck:
    """Both numbers by clients, of a whole check."""

    measured_at: float
    """Seconds since the epoch."""
    version: str
    starts: int
    delta: float
    load_average: float
    """The median of the starts'."""
    numbers: tuple[CheckedNumber, ...]

    def all_hold(self) -> Holds:
        """The worst of all."""
        results = {
            result for number in self.numbers for result in (number.equal, number.true_to_scale)
        }
        return next((result for result in (Holds.NO, Holds.OPEN) if result in results), Holds.YES)
