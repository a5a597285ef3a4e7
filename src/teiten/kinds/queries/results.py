"""Results of workloads of queries, beside verdicts: plans, groups, workers, blocks, partitions.

Times are in seconds, sizes in blocks of the server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from teiten.analysis.model.explain import GatherWorkers, QueryPlans, TableUse, WorkerLimits
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import Estimate, Interval, Verdict
from teiten.kinds.queries.model import NAME
from teiten.model.plan import Context
from teiten.model.text import Bilingual
from teiten.model.units import Seconds, Share


@dataclass(frozen=True)
class QueryWorkers:
    """A query's workers on one side."""

    context: Context
    side: str
    gathers: tuple[GatherWorkers, ...]
    """Empty of a serial plan; the one with the most workers first."""
    limits: WorkerLimits | None

    @property
    def main(self) -> GatherWorkers | None:
        return self.gathers[0] if self.gathers else None


@dataclass(frozen=True)
class RatioBound:
    """Where a query exceeded its time limit: how far the ratio new/old is known."""

    ratio: float
    at_most: bool
    """The ratio is not above it, as the old side exceeded the limit; else not below."""


@dataclass(frozen=True)
class GroupConclusion:
    """The geometric mean of the ratios of several queries, in each block, as one test."""

    group: str
    """The study's name of it; empty for all queries."""
    title: Bilingual | None
    context: Context
    """The levels of the factors but the contrasted one and the query."""
    queries: tuple[str, ...]
    over: tuple[str, ...]
    """Those of them that exceeded the time limit."""
    verdict: Verdict
    """From an interval at its queries' part of α (``comparison_alpha``); without a number where a
    query exceeded its limit."""
    bound: RatioBound | None = None
    """In that case, where the sides allow one."""
    needed: int | None = None
    """The pairs in all that would decide an open one, of a sequential design."""


@dataclass(frozen=True)
class QueryTime:
    """A query's time on one side: the geometric mean over the blocks, with its t interval."""

    context: Context
    side: str
    estimate: Estimate | None
    """None where no execution stayed within the limit."""
    over: int
    """Trials that exceeded the limit."""
    limit: Seconds | None = None

    @property
    def within(self) -> int:
        """Trials that stayed within the limit."""
        return 0 if self.estimate is None else self.estimate.blocks

    @property
    def mean(self) -> float | None:
        """None as ``estimate`` is."""
        return None if self.estimate is None else self.estimate.mean


@dataclass(frozen=True)
class FewerWorkers:
    """A query that is slower, and whose plan begins with a smaller table or index, which gets fewer
    workers (2020 §6.3.5)."""

    context: Context
    slower: float
    """new/old"""
    old: GatherWorkers
    new: GatherWorkers


@dataclass(frozen=True)
class QueryContrast:
    """Two sides of a workload of queries."""

    old: str
    new: str
    groups: tuple[GroupConclusion, ...]
    bounds: tuple[tuple[Context, RatioBound], ...]
    """Bounds of the ratios of queries that exceeded the limit."""
    fewer_workers: tuple[FewerWorkers, ...]
    gain: Context | None
    """The query with the greatest gain, decided as faster; None without one."""
    loss: Context | None
    """The one with the greatest loss, decided as slower."""


@dataclass(frozen=True)
class SweepStep:
    """A level of a sweep."""

    level: str
    time: QueryTime
    against_first: Verdict | None
    """None of the first level."""
    against_previous: Verdict | None
    workers: QueryWorkers | None

    @property
    def effect(self) -> Interval | None:
        """The ratio of its time and that at the first level."""
        return self.against_first.effect if self.against_first else None


@dataclass(frozen=True)
class QuerySweep:
    """One query over many levels of a numeric factor."""

    context: Context
    first: str
    """The level with which the others are compared, whether it was measured or not."""
    confidence: Share
    """The confidence of each interval against that level."""
    steps: tuple[SweepStep, ...]
    """The levels that were measured."""

    @property
    def by_time(self) -> tuple[SweepStep, ...]:
        """The levels at which every execution stayed within the limit, the fastest one first; of
        equal ones the lower. By the pairs with the first level, as their verdicts are: means of
        all trials can rank otherwise, where blocks are missing. A level that has no ratio is
        ranked by its mean."""
        timed = [step for step in self.steps if step.time.within and not step.time.over]
        base = next((step.time.mean for step in timed if step.level == self.first), None)

        def relative(step: SweepStep) -> float:
            if step.effect is not None:
                return step.effect.ratio
            return (step.time.mean or 0.0) / base if base else math.inf

        return tuple(sorted(timed, key=relative))


@dataclass(frozen=True)
class QueryResults:
    """All that is found of a workload of queries."""

    workload: str
    times: tuple[QueryTime, ...]
    contrasts: tuple[QueryContrast, ...]
    workers: tuple[QueryWorkers, ...]
    tables: tuple[TableUse, ...]
    """The use of each query's greatest table."""
    sweeps: tuple[QuerySweep, ...]
    """Where the contrast has many numeric levels."""


@dataclass(frozen=True)
class QueriesFound:
    """Results of all workloads of queries of a campaign, in the study's order."""

    plans: tuple[QueryPlans, ...] = ()
    """The plans of every query."""
    workloads: tuple[QueryResults, ...] = ()

    def of_workload(self, workload: str) -> QueryResults | None:
        return next((known for known in self.workloads if known.workload == workload), None)


def queries_found(analysis: CampaignAnalysis) -> QueriesFound:
    """Find a campaign's results of queries; empty ones without any."""
    results = analysis.results.get(NAME, QueriesFound())
    assert isinstance(results, QueriesFound)
    return results
