"""Noise: how much two equal sides differ on this machine (``teiten null``)."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.model.study import CLASSIC
from teiten.model.units import Seconds, Share

NOISE = "noise-floor"
"""The kind of the event with which a campaign keeps a noise floor that was known at its start."""


@dataclass(frozen=True)
class Bias:
    """Advantage that one of two equal sides has in all pairs: ln(B/A) and its interval.

    The place of its files, the order of the starts, and whatever else stays for all pairs. Only an
    average over campaigns with other copies would take it out of a difference.
    """

    mean: float
    low: float
    high: float

    @property
    def bound(self) -> float:
        """How large it may be, on either side."""
        return max(abs(self.low), abs(self.high))

    @property
    def certain(self) -> bool:
        return not self.low <= 0 <= self.high


@dataclass(frozen=True)
class NoiseFloor:
    """Noise of one workload at one number of clients, in the metric that it is judged by."""

    key: str
    """Key of machine, script, data and clients: campaigns of one key have comparable noise."""
    campaign: str
    """The null campaign that measured it."""
    measured_at: float
    """Seconds since the epoch."""
    workload: str
    clients: int
    duration: Seconds
    """Duration of a trial."""
    version: str
    """PostgreSQL version of the server on both sides."""
    pairs: int
    deviation: float
    """Deviation of d = ln(B/A)."""
    robust_deviation: float
    """By the median absolute deviation: without the few pairs that are far off."""
    lag_one: float | None
    false_alarms: Share
    """Share of sequential comparisons, resampled from these pairs, that would have said that the
    sides differ."""
    alpha: Share
    """The share of false alarms that is promised at most."""
    between: float | None = None
    """Deviation of ln TPS from trial to trial that no longer trial averages away; None where it was
    not estimated."""
    within: float | None = None
    """Deviation of one second of a trial, autocorrelation counted in."""
    bias: Bias | None = None
    """None of a floor of before, or of too few pairs for an interval."""
    best_duration: Seconds | None = None
    """Duration of a trial beyond which a further pair pays more; None: the longer the better."""
    way: str = CLASSIC
    """How the sides were loaded."""

    @property
    def seconds_of_a_pair(self) -> Seconds:
        """Seconds of load in a pair: of both sides one after the other, or of both together."""
        sides = 2 if self.way == CLASSIC else 1
        return Seconds(sides * self.duration)
