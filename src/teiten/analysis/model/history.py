"""Many campaigns as lines through time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.comparison import Difference
from teiten.analysis.model.verdict import Interval
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.text import Bilingual
from teiten.model.units import Share


class Axis(StrEnum):
    DATE = "date"
    VERSION = "version"


@dataclass(frozen=True)
class HistoryPoint:
    """One campaign on one level of its contrast: the geometric mean of TPS over the others."""

    campaign: str
    path: str
    """Where its ledger was found."""
    at: float
    """Seconds since the epoch."""
    level: str
    """The level of the contrasted factor."""
    version: str
    """Each version of the servers that it is a mean over, the newest last."""
    version_number: int
    """The newest version's."""
    value: float
    low: float | None
    """Lower end of the interval from the blocks of this campaign; None of fewer than two."""
    high: float | None
    error: float | None
    """Its standard error on the logarithm, from the scatter inside of the campaign."""
    blocks: int
    levels: int
    conclusive: bool


@dataclass(frozen=True)
class LineEstimate:
    """A point, and what tells on which line it is."""

    machine: str
    """Fingerprint."""
    conditions: str
    """Fingerprint."""
    workload: str
    factor: str
    """The factor that the campaign contrasts. One line may run through all levels of ``server``."""
    point: HistoryPoint


@dataclass(frozen=True)
class ChangePoint:
    """Where a line changes: between the point before ``first`` and that point."""

    first: int
    """The index of the first point after the change."""
    ratio: float
    """Geometric mean of the segment after it by that of the segment before it."""
    firm: bool
    """Also beyond what swings where neighbouring campaigns depend on each other."""
    differences: tuple[Difference, ...]
    """Differences between the two campaigns around it; what is compared comes last."""


class ChangeSearch(StrEnum):
    """Whether changes were looked for."""

    DONE = "done"
    TOO_FEW = "too-few"


@dataclass(frozen=True)
class HistoryLine:
    """Points that belong together: one machine, one study under the same conditions."""

    machine: str
    """Fingerprint."""
    conditions: str
    """Fingerprint."""
    study: str
    profile: str
    title: Bilingual
    workload: str
    factor: str
    """The factor that its campaigns contrast."""
    level: str
    """The level of that factor; empty where the line runs through all versions."""
    plan: Plan
    """The plan of the newest campaign."""
    facts: HostFacts
    """The machine's facts in the newest campaign."""
    points: tuple[HistoryPoint, ...]
    changes: tuple[ChangePoint, ...]
    search: ChangeSearch
    confidence: Share
    """With which a line without changes has none marked."""

    @property
    def is_drawn(self) -> bool:
        """Whether it has two campaigns, from which on there is a line through time."""
        return len(self.points) > 1

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First index and the index after the last, between changes."""
        edges = [0, *(change.first for change in self.changes), len(self.points)]
        return tuple(itertools.pairwise(edges))


@dataclass(frozen=True)
class LineStep:
    """A campaign's point on a line, beside that of the campaign before it."""

    line: HistoryLine
    before: HistoryPoint
    after: HistoryPoint
    effect: Interval | None
    """The later by the earlier, unpaired; None where one of them has no spread."""


@dataclass(frozen=True)
class CampaignStep:
    """A campaign beside the one before it in its series, on all lines that both are on."""

    before: HistoryPoint
    after: HistoryPoint
    lines: tuple[LineStep, ...]
    """Never empty."""


@dataclass(frozen=True)
class LeftOut:
    """A ledger that is on no line. ``why`` is for people, in English."""

    path: str
    why: str
    code: str = ""
    """The reason's key, where reports have a text for it."""
    metric: str = ""
    """By which the campaign is judged, where that is the reason."""


@dataclass(frozen=True)
class History:
    axis: Axis
    lines: tuple[HistoryLine, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def drawn(self) -> int:
        """Count the lines that are drawn."""
        return sum(line.is_drawn for line in self.lines)


NO_HISTORY = History(Axis.DATE, (), ())
