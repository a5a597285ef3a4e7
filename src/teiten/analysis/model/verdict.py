"""Statements on two sides, and how sure they are; of paired transactions with the evidence beside
them: what the sides leave behind for each other, and the processor time of the servers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.observations import ContrastSides
from teiten.model.plan import Context
from teiten.model.units import Share


@dataclass(frozen=True)
class Estimate:
    """The mean over the blocks of one number of each trial, or of how far it is above that of the
    old side, with its interval."""

    mean: float
    low: float | None
    """None of fewer than two blocks, or of equal numbers."""
    high: float | None
    blocks: int

    @property
    def certain(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def half_width(self) -> float:
        """Half the width of its interval; NaN without one."""
        return math.nan if self.low is None or self.high is None else (self.high - self.low) / 2

    def scaled(self, factor: float) -> Estimate:
        """In another unit, ``factor`` of which make one of today's."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Estimate(self.mean * factor, low, high, self.blocks)


@dataclass(frozen=True)
class Interval:
    """A ratio new/old of a metric with its confidence interval."""

    ratio: float
    low: float
    high: float
    confidence: Share

    @property
    def inverse(self) -> Interval:
        """The interval of old/new; for a ratio of times that of speeds."""
        low, high = (1 / end if end else math.inf for end in (self.high, self.low))
        return Interval(1 / self.ratio, low, high, self.confidence)

    @property
    def sign(self) -> int:
        """1: the whole interval is above 1; -1: below; 0: it includes 1."""
        return int(self.low > 1) - int(self.high < 1)


class VerdictKind(StrEnum):
    SLOWER = "slower"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    DIFFERENT_BUT_SMALL = "different-but-small"
    MIXED = "mixed"
    """Over several levels that contradict their mean: it would say what holds at none of them."""
    INCONCLUSIVE = "inconclusive"
    UNJUDGED = "unjudged"
    """An interval without a word: of a metric that is shown beside the judged one."""


WORDS = tuple(kind for kind in VerdictKind if kind is not VerdictKind.UNJUDGED)
"""Verdicts that a primary statement can give."""


BY_SIGN = (VerdictKind.SLOWER, VerdictKind.FASTER)


@dataclass(frozen=True)
class Extreme:
    """One of the two levels between which a mixed verdict lies."""

    context: Context
    kind: VerdictKind
    """The level's own verdict."""
    effect: Interval


@dataclass(frozen=True)
class Verdict:
    """METHOD.md, Verdicts."""

    kind: VerdictKind
    at_least_delta: bool
    """Slower or faster, and the whole interval lies beyond δ."""
    effect: Interval | None
    """None where nothing can be said; ``reason`` tells why."""
    pairs: int
    delta: Share
    smallest_detectable: Share | None
    """For an inconclusive verdict: the smallest effect that this many pairs could have shown."""
    reason: str | None = None
    """Code of why nothing can be said: too-few-pairs, not-positive, identical-pairs (no variance,
    as a rounded metric can have: an interval of no width would claim certainty), infinite-interval
    (of a sequential design, whose interval is finite from ``verdict.sequential.least_pairs`` on),
    over-timeout (a query exceeded its time limit, and has no number), incomplete-blocks (there are
    pairs, but fewer than two blocks have one at every level), left-behind (of paired transactions:
    the difference could be what each side leaves behind for the other), levels-differ (mixed),
    not-averaged (levels without an order, which do not all say the same, have no mean).
    """
    conclusive: bool = True
    """False: of a campaign whose profile supports no conclusion. ``kind`` is then what the interval
    would say, for whoever reads the numbers; no form shows it as a verdict
    (``analysis.verdict.conclusive``)."""
    given_up: bool = False
    """Left behind, and no number of starts would give a verdict: a campaign waits for none."""
    extremes: tuple[Extreme, ...] = ()
    """The two outermost levels of a mixed verdict: the one whose interval ends lowest, and the one
    whose interval begins highest, on each side of 1 among those that are slower or faster where
    there are any."""

    @property
    def is_given(self) -> bool:
        """Whether there is something to say: an interval, or levels that contradict their mean."""
        return self.effect is not None or bool(self.extremes)

    @property
    def holds_of(self) -> frozenset[VerdictKind]:
        """Kinds that a gate may ask for: the verdict's own; of a mixed one also slower and faster,
        where a named level is so. A new side that is slower at one level must not pass because it
        is faster at another."""
        return frozenset(
            {self.kind, *(extreme.kind for extreme in self.extremes if extreme.kind in BY_SIGN)}
        )


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
class CpuWitness(ContrastSides):
    """Evidence on one contrast: whether throughput and processor time per transaction can both be
    true."""

    speed: Interval
    """New by old, as throughput would be if a transaction took processor time and nothing else."""
    agrees: bool | None
    """The intervals of both have a value in common; None where throughput has none, over all levels
    or at any, so that nothing is compared."""
    parting: tuple[Context, ...]
    """Levels at which they have none."""
