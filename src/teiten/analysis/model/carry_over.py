"""Evidence on paired transactions beside their verdicts: what the sides leave behind for each
other, and the processor time of the servers.
"""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.observations import Context
from teiten.analysis.model.verdict import Interval


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


@dataclass(frozen=True)
class CpuWitness:
    """Evidence on one contrast: whether throughput and processor time per transaction can both be
    true."""

    workload: str
    old: str
    new: str
    speed: Interval
    """New by old, as throughput would be if a transaction took processor time and nothing else."""
    agrees: bool
    """The intervals of both have a value in common."""
    parting: tuple[Context, ...]
    """Levels at which they have none."""
