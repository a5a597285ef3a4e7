"""A provisional run: how many clients it takes until TPS stops rising (2020 §5.3.3)."""

from __future__ import annotations

from dataclasses import dataclass

PROVISIONAL = "provisional"
"""The profile of a provisional run's own campaign."""
SATURATION = "saturation"
"""The kind of the event with which a campaign keeps what its provisional run found."""


@dataclass(frozen=True)
class ShortTrial:
    """One short trial of a provisional run."""

    clients: int
    tps: float | None
    """None where no attempt counted, for example because the load generator was at its limit."""


@dataclass(frozen=True)
class Saturation:
    """Result of a provisional run for one workload."""

    workload: str
    probes: tuple[ShortTrial, ...]
    clients: int
    """The fewest whose TPS is within δ of the greatest."""
    reached: bool
    """TPS stopped rising; else the search ended at the most clients, or at a trial that failed."""
    levels: tuple[int, ...]
    """The numbers of clients that were chosen for the campaign."""


def doublings(most: int) -> tuple[int, ...]:
    """1, 2, 4, … up to ``most``."""
    return tuple(1 << power for power in range(most.bit_length()))
