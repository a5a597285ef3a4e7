"""Decisions for a report's discussion of its results, and the resources that a transaction took on
both sides of a contrast; the words are the report's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.observations import ContrastSides
from teiten.analysis.model.verdict import Estimate
from teiten.model.metrics import Metric
from teiten.model.plan import Context


class Course(StrEnum):
    """How the intervals of two sides run along a factor, from its least level to its greatest."""

    TOGETHER = "together"
    """No interval excludes equality."""
    APART = "apart"
    """Every interval excludes it, on the same side."""
    PARTED = "parted"
    """From a level on, every interval excludes it, on the same side."""
    MET = "met"
    """Some exclude it, on the same side, but not all that follow."""
    CROSSED = "crossed"
    """Some exclude it on the one side, some on the other."""


@dataclass(frozen=True)
class Parting(ContrastSides):
    """Where the sides of a contrast part, on one line of levels."""

    metric: Metric
    axis: str
    """The factor along which the levels are ordered by their numbers."""
    others: Context
    """The levels of the other factors of this line."""
    course: Course
    higher: tuple[str, ...]
    """Levels of ``axis`` at which the metric of the new side is higher, ascending."""
    lower: tuple[str, ...]
    compared: tuple[str, ...]
    """All levels with an interval, ascending."""

    @property
    def apart(self) -> tuple[str, ...]:
        """Levels whose interval excludes equality, ascending."""
        known = {*self.higher, *self.lower}
        return tuple(level for level in self.compared if level in known)


@dataclass(frozen=True)
class SignCount(ContrastSides):
    """The number of intervals that exclude equality, in a contrast without an order of levels."""

    metric: Metric
    higher: int
    lower: int
    compared: int


@dataclass(frozen=True)
class MeanApart(ContrastSides):
    """A verdict's mean over the levels excludes equality where no level does by itself."""

    metric: Metric
    higher: bool
    """The metric of the new side."""


@dataclass(frozen=True)
class TailLevel:
    """p99 less p50 of both sides at one level, in seconds: means over the pairs."""

    context: Context
    old: float
    new: float
    change: Estimate
    """The new side's less the old one's."""


@dataclass(frozen=True)
class Tail(ContrastSides):
    """How far latency's tail reaches beyond its middle, of one contrast; intervals hold together
    over levels."""

    levels: tuple[TailLevel, ...]


@dataclass(frozen=True)
class StateLevel:
    """The mean shares of the processors' time in one state, both sides, at one level."""

    state: str
    context: Context
    old: float
    new: float
    change: Estimate


@dataclass(frozen=True)
class ProcessorUse(ContrastSides):
    """The processors' time by state, of one contrast; the intervals hold together."""

    levels: tuple[StateLevel, ...]


@dataclass(frozen=True)
class Discussion:
    """Discussion of a whole campaign, in the study's order; empty where nothing was compared."""

    partings: tuple[Parting, ...] = ()
    tallies: tuple[SignCount, ...] = ()
    means: tuple[MeanApart, ...] = ()
    processors: tuple[ProcessorUse, ...] = ()


class Origin(StrEnum):
    """In which window something was counted."""

    MEASURED = "measured"
    PROFILE = "profile"
    """The extra window after it (``--flame-graph``)."""


WAL_ROW = "wal-bytes"
"""The row of the WAL that a transaction wrote."""


class Counted(StrEnum):
    """The quantity that a row counts, and so its unit."""

    SECONDS = "s"
    BYTES = "B"
    COUNT = "1"


@dataclass(frozen=True)
class Taken:
    """One thing per transaction; ``name`` has a text under ``taken.``, but for a wait event."""

    name: str
    """``cpu``, ``wal-bytes``, … or a wait event ``Type:Event``."""
    kind: Counted
    origin: Origin
    old: float
    new: float
    """Means over the pairs."""
    pairs: int
    change: Estimate

    @property
    def is_wait(self) -> bool:
        return ":" in self.name


@dataclass(frozen=True)
class PerTransaction(ContrastSides):
    """All rows of one contrast at one level; each interval is at α divided by their number."""

    context: Context
    rows: tuple[Taken, ...]
