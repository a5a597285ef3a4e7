"""What the trials of probes found, beside verdicts.

Times are in seconds, sizes in bytes, shares from 0 to 1. What is of several trials is pooled over
their statements: it describes, and decides nothing; verdicts come from one number of each trial.
"""

from __future__ import annotations

from dataclasses import dataclass

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.observations import Context
from teiten.kinds.probes.measurement import Origin
from teiten.kinds.probes.model import NAME
from teiten.model.units import Bytes, Seconds


@dataclass(frozen=True)
class Times:
    """The execution times of some statements."""

    count: int
    mean: Seconds
    median: Seconds
    quantiles: tuple[Seconds, ...]
    """From the shortest to the longest in a hundred equal steps of rank: their distribution."""


@dataclass(frozen=True)
class FromOrigin:
    """The statements whose page came from one place."""

    origin: Origin
    share: float
    """Of all statements of the part."""
    times: Times


@dataclass(frozen=True)
class PartTimes:
    """The timed statements of one step in one part."""

    step: str
    part: str
    """As the probe's file has it; empty in a probe without parts."""
    size: Bytes
    """Of the part."""
    times: Times
    origins: tuple[FromOrigin, ...]
    """Those that occurred."""
    in_buffers: float | None
    """The share of the part's pages before the statements; the mean over the trials."""
    in_os_cache: float | None

    def share(self, origin: Origin) -> float:
        return next((one.share for one in self.origins if one.origin is origin), 0.0)

    @property
    def outside_buffers(self) -> float:
        return 1.0 - self.share(Origin.BUFFERS)


@dataclass(frozen=True)
class SweepCost:
    """Statements that swept, against those that did not."""

    sweeps: int
    seconds: Seconds
    """Of once around all buffers: the median of the trials."""
    seconds_per_gib: Seconds
    with_sweep: Seconds
    """The median of the statements that swept, over all trials."""
    without: Seconds


@dataclass(frozen=True)
class ClientsPoint:
    """One number of clients; means over the trials."""

    clients: int
    tps: float
    latency: Seconds
    from_buffers: float
    """Of the blocks that were asked for."""


@dataclass(frozen=True)
class CheckpointCost:
    """The checkpoints of one step, over all trials."""

    step: str
    times: Times
    written: float
    """Buffers, the mean."""


@dataclass(frozen=True)
class ProbeSide:
    """A probe at one level of the contrasted factor."""

    context: Context
    """The levels of all factors but the contrasted one, the probe among them."""
    side: str
    trials: int
    memory: Bytes
    shared_buffers: Bytes
    parts: tuple[PartTimes, ...]
    sweep: SweepCost | None
    clients: tuple[ClientsPoint, ...]
    checkpoints: tuple[CheckpointCost, ...]
    executed: tuple[tuple[str, Seconds], ...]
    """Names of steps, and the median time of what they executed once."""


@dataclass(frozen=True)
class ProbeResult:
    """A probe of a workload in one context, at all levels of the contrasted factor."""

    workload: str
    probe: str
    context: Context
    sides: tuple[ProbeSide, ...]
    """In the order of the factor's levels; those that were measured."""


@dataclass(frozen=True)
class ProbesFound:
    """Of all workloads of probes of a campaign, in the study's order."""

    results: tuple[ProbeResult, ...] = ()

    def of_workload(self, workload: str) -> tuple[ProbeResult, ...]:
        return tuple(one for one in self.results if one.workload == workload)


def probes_found(analysis: CampaignAnalysis) -> ProbesFound:
    """What a campaign found of probes; nothing without any."""
    found = analysis.results.get(NAME, ProbesFound())
    assert isinstance(found, ProbesFound)
    return found
