"""Findings of the trials of probes, beside verdicts.

Times are in seconds, sizes in bytes, shares from 0 to 1. ``Times`` are pooled over the statements
of all trials: they describe, and decide nothing. What decides is made of one number of each trial
(``Estimate``, ``SidePair``, ``CostLine``): its n is the blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import Estimate, Verdict, VerdictKind
from teiten.kinds.probes.measurement import OfStep, PageOrigin
from teiten.kinds.probes.model import NAME
from teiten.kinds.probes.thresholds import Size
from teiten.model.plan import Context
from teiten.model.text import Bilingual
from teiten.model.units import Bytes, Seconds


@dataclass(frozen=True)
class Times:
    """The execution times of some statements."""

    count: int
    mean: Seconds
    median: Seconds
    quantiles: tuple[Seconds, ...]
    """From the shortest to the longest in a hundred equal steps of rank: their distribution."""


def mean_time(groups: Iterable[Times]) -> Seconds | None:
    """Find the mean time of the statements of some groups together; None without any."""
    known = list(groups)
    if not known:
        return None
    return Seconds(fmean((times.mean for times in known), (times.count for times in known)))


@dataclass(frozen=True)
class PartTimes(OfStep):
    """The timed statements of one step in one part."""

    size: Bytes
    """The size of the part."""
    times: Times
    mean: Estimate
    """The mean of the trials' mean times."""
    from_disk: Estimate | None
    """The mean of the trials' shares of pages from the disk; None where one is not known."""
    origins: Mapping[PageOrigin, Times]
    """The times of the statements by where their page came from."""
    in_buffers: float | None
    """The share of the part's pages before the statements; the mean over the trials."""
    in_os_cache: float | None

    def share(self, origin: PageOrigin) -> float:
        return self.origins[origin].count / self.times.count if origin in self.origins else 0.0

    @property
    def os_cache_hits(self) -> float | None:
        """The share of the pages not in the buffers that the OS cache had; None where there were
        none, or where that is not known of one."""
        known = self.share(PageOrigin.OS_CACHE) + self.share(PageOrigin.DISK)
        if not known or self.share(PageOrigin.OUTSIDE):
            return None
        return self.share(PageOrigin.OS_CACHE) / known

    @property
    def inside(self) -> Seconds | None:
        """The mean time of the statements whose page was in the buffers."""
        times = self.origins.get(PageOrigin.BUFFERS)
        return None if times is None else times.mean

    @property
    def outside(self) -> Seconds | None:
        """The mean time of the statements whose page was not in the buffers."""
        return mean_time(
            times for origin, times in self.origins.items() if origin is not PageOrigin.BUFFERS
        )


@dataclass(frozen=True)
class SweepCost:
    """Statements that swept, against those that did not."""

    sweeps: int
    seconds: Seconds
    """The cost of one time around all buffers: the median of the trials."""
    seconds_per_gib: Seconds
    with_sweep: Seconds
    """The median of the statements that swept, over all trials."""
    without: Seconds


@dataclass(frozen=True)
class ClientsPoint(OfStep):
    """One number of clients of one step in one part; means over the trials."""

    clients: int
    tps: Estimate
    latency: Estimate
    from_buffers: float
    """The share of the blocks asked for that were in the buffers."""


@dataclass(frozen=True)
class CheckpointCost:
    """The checkpoints of one step, over all trials."""

    step: str
    times: Times
    written: float
    """Buffers, the mean."""


@dataclass(frozen=True)
class Cliff:
    """From which working set on ``thresholds.CLIFF`` of the reads come from the disk."""

    safe: Bytes | None
    """The largest working set up to which no trial did so; None where one did from the first on."""
    beyond: Bytes | None
    """The smallest from which on all trials did so; None where they did not up to the largest."""


@dataclass(frozen=True)
class ProbeSide:
    """A probe at one level of the contrasted factor."""

    side: str
    trials: int
    memory: Bytes
    shared_buffers: Bytes
    number: Estimate | None
    """The number that the probe asks for (``probe_seconds``), geometric."""
    commit: Estimate | None
    """The time of COMMIT, geometric."""
    parts: tuple[PartTimes, ...]
    cliff: Cliff | None
    """None of a probe without several parts, or where it is not known what came from the disk."""
    sweep: SweepCost | None
    clients: tuple[ClientsPoint, ...]
    checkpoints: tuple[CheckpointCost, ...]
    executed: bool
    """Whether a statement was executed once, such as a scan."""

    def at(self, working_set: Bytes) -> PartTimes | None:
        """Find the smallest part that is not smaller than a working set."""
        enough = [part for part in self.parts if part.size >= working_set]
        return min(enough, key=lambda part: part.size, default=None)


DECIDED = (VerdictKind.FASTER, VerdictKind.SLOWER, VerdictKind.DIFFERENT_BUT_SMALL)


@dataclass(frozen=True)
class SidePair:
    """Two levels of the contrasted factor, new against old."""

    old: str
    new: str
    verdict: Verdict
    """From an interval at ``comparison_alpha``, which all pairs and contexts share."""

    @property
    def slower(self) -> tuple[str, str] | None:
        """The slower side and the faster one, where that was decided."""
        effect = self.verdict.effect
        if self.verdict.kind not in DECIDED or effect is None:
            return None
        return (self.new, self.old) if effect.ratio > 1 else (self.old, self.new)


PROPORTIONAL_WITHIN = 0.3
"""So far the ratio of the times may be from that of the sizes; 2021 calls 0.78 proportional."""


class Proportion(StrEnum):
    """How a time goes with the size of the buffers."""

    PROPORTIONAL = "proportional"
    NOT_PROPORTIONAL = "not-proportional"
    UNDECIDED = "undecided"
    NONE = "none"
    """No cost of the size is shown."""
    UNKNOWN = "unknown"
    """There is no interval."""


@dataclass(frozen=True)
class CostLine:
    """A time by the size of the buffers: a line through each block's numbers."""

    per_gib: Estimate
    """Seconds that a GiB more of buffers costs: the blocks' slopes."""
    at_nothing: Estimate
    """Where the lines begin."""
    smallest: Bytes
    largest: Bytes
    ratio: Estimate
    """The number at the largest size by that at the smallest, geometric."""

    @property
    def sizes(self) -> float:
        """The largest size by the smallest: the ratio of what is proportional to the size."""
        return self.largest / self.smallest

    @property
    def proportion(self) -> Proportion:
        """From whole intervals alone: a cost that may be nothing has no proportion."""
        if self.ratio.low is None or self.ratio.high is None or self.per_gib.low is None:
            return Proportion.UNKNOWN
        if self.per_gib.low <= 0:
            return Proportion.NONE
        low, high = self.ratio.low / self.sizes, self.ratio.high / self.sizes
        if low >= 1 - PROPORTIONAL_WITHIN and high <= 1 + PROPORTIONAL_WITHIN:
            return Proportion.PROPORTIONAL
        return Proportion.UNDECIDED if low <= 1 <= high else Proportion.NOT_PROPORTIONAL


@dataclass(frozen=True)
class EffectFound:
    """The effect of the contrasted factor on a probe, by declared thresholds."""

    best: str
    worst: str
    """The sides with the least and the greatest number."""
    verdict: Verdict
    """The verdict of worst against best."""
    added: Estimate
    """Seconds that a statement takes longer at worst (a checkpoint: its search)."""
    measure: Seconds | None
    """The measure that thresholds are shares of: the mean time of a page from the disk, or the
    median of a whole checkpoint; None where there was none."""
    of_checkpoint: bool
    least: Size
    most: Size
    """Between which sizes the interval leaves it; equal where it is decided."""
    winners: tuple[str, ...]
    """Sides that no other was decided to be faster than, where any pair was decided; all sides
    where all are equivalent; else none."""

    @property
    def size(self) -> Size | None:
        """None where the interval does not decide."""
        return self.least if self.least is self.most else None


@dataclass(frozen=True)
class ProbeResult:
    """A probe of a workload in one context, at all levels of the contrasted factor."""

    workload: str
    probe: str
    context: Context
    sides: tuple[ProbeSide, ...]
    """In the order of the factor's levels; those that were measured."""
    pairs: tuple[SidePair, ...] = ()
    """Each level against each before it."""
    commits: tuple[SidePair, ...] = ()
    """Each level against each before it by the time of COMMIT, where it was timed."""
    line: CostLine | None = None
    """The cost of the buffers' size, of a number of all buffers: a sweep, a checkpoint's search."""
    effect: EffectFound | None = None
    """None with fewer than two sides."""

    @property
    def by_parts(self) -> bool:
        """Whether it looks at working sets of several sizes."""
        return any(len(side.parts) > 1 for side in self.sides)

    @property
    def after_another(self) -> bool:
        """Whether pages are read after a statement that was executed once, such as a scan."""
        return any(side.executed and side.parts for side in self.sides)

    @property
    def tells_of_memory(self) -> bool:
        """Whether it shows how memory is used: by working sets, or by pages after a scan."""
        return self.by_parts or self.after_another

    @property
    def beaten(self) -> dict[str, str]:
        """Sides that were decided to be slower, each with the side that beats it most."""
        most: dict[str, tuple[float, str]] = {}
        for pair in self.pairs:
            if pair.slower is not None and pair.verdict.effect is not None:
                side, faster = pair.slower
                by = abs(math.log(pair.verdict.effect.ratio))
                if by > most.get(side, (0.0, ""))[0]:
                    most[side] = (by, faster)
        return {side: faster for side, (_, faster) in most.items()}


class Trace(StrEnum):
    """A number measured beside the time, by which a change in the server shows."""

    FROM_BUFFERS = "from-buffers"
    """The share of statements whose page was there."""
    FROM_DISK = "from-disk"
    READING = "reading"
    """Seconds of the mean statement in which pages are read (track_io_timing)."""
    NOT_READING = "not-reading"
    """The rest of them."""
    WAL = "wal"
    """Bytes that a statement writes."""
    READ_SIZE = "read-size"
    """Bytes that a scan asks the kernel for at once."""
    BY_WORKERS = "by-workers"
    """The share of what a scan reads that I/O workers read."""
    KEPT = "kept"
    """Bytes of the scanned table that stay in the buffers: the ring."""


@dataclass(frozen=True)
class TraceSeen:
    """One that differs between two servers; means over their trials."""

    trace: Trace
    old: float
    new: float


@dataclass(frozen=True)
class Changed:
    """A change that came between two versions (``mechanisms.toml``)."""

    text: Bilingual
    seen: tuple[Trace, ...]
    """The traces by which it shows, as far as they differ between the two."""


@dataclass(frozen=True)
class VersionPair:
    """Two servers in one probe at one side."""

    workload: str
    probe: str
    context: Context
    """The levels of all factors but the contrasted one and the server, the probe among them."""
    executed: str
    """The step whose statement was executed once, and timed; empty: the probe's number."""
    side: str
    old: str
    new: str
    """Levels of the factor server."""
    old_number: Estimate | None
    new_number: Estimate | None
    verdict: Verdict
    changed: tuple[Changed, ...]
    """Changes to the probe's mechanism between the two versions."""
    traces: tuple[TraceSeen, ...] = ()
    """In the order of ``Trace``."""
    comparable: bool = True
    """False where what came between them is in the way of measuring: the verdict says nothing."""


@dataclass(frozen=True)
class Room:
    """The memory that a size of the buffers leaves."""

    side: str
    shared_buffers: Bytes
    left: Bytes
    """For connections and the page cache."""
    for_each: Bytes
    """Bytes that a connection may take: its own, work_mem once, page tables of all buffers."""
    fit: int
    """Connections of that kind for which it suffices, without any page cache."""
    needed: Bytes | None
    """By the connections that were asked for; None where none were."""

    @property
    def threatens(self) -> bool:
        """Whether they need more than there is."""
        return self.needed is not None and self.needed > self.left


@dataclass(frozen=True)
class Recommendation:
    """A campaign's recommendation on the size of the buffers, in one context; each list in the
    order of the sizes."""

    context: Context
    """The levels of all factors but the contrasted one and the probe."""
    memory: Bytes
    rooms: tuple[Room, ...]
    connections: int | None
    work_mem: Bytes
    working_set: Bytes | None
    threatened: tuple[str, ...]
    """Sides whose room does not suffice."""
    left: tuple[str, ...]
    """Sides that neither rules out."""
    decided: bool
    """Whether any pair of the probes that count was decided."""


@dataclass(frozen=True)
class MemoryKnown:
    """The memory in force, and how it is known."""

    memory: Bytes
    limited: bool
    """A control group; else the machine has no more."""
    read: Bytes | None = None
    """Bytes that the check of the limit read inside it; ``stayed``: those of them that stayed."""
    stayed: Bytes | None = None


@dataclass(frozen=True)
class ProbesFound:
    """Findings of all workloads of probes of a campaign, in the study's order."""

    results: tuple[ProbeResult, ...] = ()
    memories: tuple[MemoryKnown, ...] = ()
    """Each that trials had, the smallest first."""
    recommendations: tuple[Recommendation, ...] = ()
    """One for each context, where sizes of the buffers are contrasted."""
    versions: tuple[VersionPair, ...] = ()
    """Where servers are crossed in."""
    settings: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Where servers are crossed in: of those that told them the parameters by which they read and
    write pages, with the values that occurred."""
    comparisons: int = 1
    """How many comparisons, of sides and of servers, by any number of any workload, share α."""


def probes_found(analysis: CampaignAnalysis) -> ProbesFound:
    """Get a campaign's findings of probes; empty ones without any."""
    findings = analysis.results.get(NAME, ProbesFound())
    assert isinstance(findings, ProbesFound)
    return findings
