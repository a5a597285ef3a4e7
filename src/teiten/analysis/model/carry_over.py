"""What the sides of paired transactions leave behind for each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CarryOver:
    """Of one of the numbers: by which share the new side seems better than it is."""

    metric: str
    share: float
    low: float
    """Of the interval that is valid at every look; infinite while there are too few starts."""
    high: float
    limit: float

    @property
    def is_too_much(self) -> bool:
        """Surely beyond the limit."""
        return self.low > self.limit or self.high < -self.limit
