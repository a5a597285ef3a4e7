"""How long the trials of a campaign were made, and from which noise that was chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from teiten.model.units import Seconds

REPLICATION = "replication"
"""The kind of the event with which a campaign keeps that choice."""


class NoiseSource(StrEnum):
    """Where the noise was seen from which the length of trials was chosen."""

    PILOT = "pilot"
    NULL = "null"


@dataclass(frozen=True)
class Replication:
    """The noise of one workload, and what follows from it for the trials of a campaign."""

    source: NoiseSource
    between: float
    """Deviation of ln TPS from one start of a server to the next, whatever a trial's length."""
    within: float
    """Deviation of one second of a trial, as the mean of many seconds shows it."""
    fixed: Seconds
    """Seconds of a trial besides the measured ones."""
    duration: Seconds
    """Measured seconds of a trial that were chosen."""
    slices: int
    restart_every: int
    pairs: int | None
    """Pairs that a difference of δ is expected to take (those of a start count as one)."""
    campaign: str | None = None
    """The null campaign that had measured the noise."""
    starts: int = 0
    """The number of starts of the servers in the pilot, each with one pair."""
    seen: int = 0
    """Slices of each trial of the pilot."""
    took: Seconds = field(default=Seconds(0.0))
    """The part of the budget that the pilot took."""
