"""Effects that the sides of paired transactions leave behind for each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CarryOver:
    """Carry-over in one of the numbers: by which share a new side seems better than it is."""

    new: str
    """The level that is compared with the base."""
    metric: str
    share: float
    low: float
    """Lower end of the interval that is valid at every look; infinite with too few starts."""
    high: float
    limit: float

    @property
    def is_too_much(self) -> bool:
        """Surely beyond the limit."""
        return self.low > self.limit or self.high < -self.limit
