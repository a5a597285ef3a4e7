"""Findings of the analysis: the only thing that a report is made from.

Input of the analysis of one kind of workload.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from teiten.analysis.model.claims import ClaimOutcome
from teiten.analysis.model.discussion import Discussion, PerTransaction
from teiten.analysis.model.observations import ContrastSides, without
from teiten.analysis.model.replication import Replication
from teiten.analysis.model.stacks import StacksFound
from teiten.analysis.model.verdict import CpuWitness, Interval, Verdict, VerdictKind
from teiten.model.facts import Caution, HostFacts
from teiten.model.metrics import Metric
from teiten.model.noise import NoiseFloor
from teiten.model.pairs_check import PairsCheck
from teiten.model.plan import Context, Plan, PlannedTrial
from teiten.model.progress import Standing
from teiten.model.quantities import is_number
from teiten.model.stacks import StackSamples
from teiten.model.study import SERVER, Study
from teiten.model.trial import Attempt, Event, FloatArray, Problem
from teiten.model.units import Seconds

__all__ = [
    "CampaignAnalysis",
    "ContrastResult",
    "Interval",
    "LevelResult",
    "SeriesView",
    "TrialView",
    "Verdict",
    "VerdictKind",
]


@dataclass(frozen=True)
class LevelResult:
    """One contrast at one combination of the other factors' levels."""

    context: Context
    old_values: tuple[float, ...]
    """Every counted trial, in block order."""
    new_values: tuple[float, ...]
    verdict: Verdict
    """From an interval at α/K over the K levels of a fixed design (``analysis.verdict``)."""
    old_over: int = 0
    """Counted trials that exceeded the time limit: they have no value, and the level no ratio."""
    new_over: int = 0
    limit: Seconds | None = None
    """The limit that they exceeded."""

    @property
    def old_median(self) -> float | None:
        return median(self.old_values) if self.old_values else None

    @property
    def new_median(self) -> float | None:
        return median(self.new_values) if self.new_values else None


def levels_of_factor(levels: Sequence[LevelResult], factor: str) -> tuple[str, ...]:
    """The levels of a factor that occur, in their order; none where the factor is what is
    contrasted."""
    named = (dict(level.context).get(factor) for level in levels)
    return tuple(dict.fromkeys(level for level in named if level is not None))


@dataclass(frozen=True)
class Drift:
    """Whether the blocks' differences stand for themselves."""

    lag_one: float
    """The correlation of each with the one before it, -1 to 1."""
    trend: float
    """How far they rise (positive) or fall with time, in standard deviations of what chance does
    (Mann and Kendall)."""
    blocks: int


@dataclass(frozen=True)
class ContrastResult(ContrastSides):
    """A metric of a workload, new against old, over all levels."""

    metric: Metric
    levels: tuple[LevelResult, ...]
    overall: Verdict
    """The verdict on the mean over all levels: one test, at α, with the blocks as pairs."""
    drift: Drift | None = None
    """None of fewer than three blocks, or of equal ones."""
    forecast: int | None = None
    """The number of blocks in all that will decide a sequential design, as it looks now."""
    left_out: tuple[Context, ...] = ()
    """Contexts that ``overall`` leaves out, because trials exceeded the time limit there."""

    def numeric_levels(self, study: Study) -> dict[str, tuple[str, ...]]:
        """By factor but the server: its levels, where there are several and all are numbers."""
        by_factor = {
            factor.name: levels_of_factor(self.levels, factor.name)
            for factor in study.factors
            if factor.name != SERVER
        }
        return {
            name: levels
            for name, levels in by_factor.items()
            if len(levels) > 1 and all(map(is_number, levels))
        }


@dataclass(frozen=True)
class SeriesView:
    """A series as the report draws it: thinned by averaging ``stride`` neighbouring samples."""

    source: str
    seconds: FloatArray
    columns: dict[str, FloatArray]
    stride: int


@dataclass(frozen=True, kw_only=True)
class TrialView(Attempt):
    """A trial as the report lists it."""

    metrics: dict[str, float]
    block: int
    workload: str
    levels: Context
    problems: tuple[Problem, ...]
    series: tuple[SeriesView, ...]
    histogram: tuple[tuple[float, float], ...]
    """Latency in seconds and the share of transactions at or below it."""
    facts: dict[str, Any]
    evidence: tuple[tuple[str, str], ...]
    stack_samples: StackSamples | None = None

    def metric(self, name: str) -> float:
        """A metric of the trial; NaN where it has none."""
        return self.metrics.get(name, math.nan)

    def context(self, contrast: str) -> Context:
        """The levels of all factors but the contrasted one."""
        return without(self.levels, contrast)

    def side(self, contrast: str) -> str:
        """The level of the contrasted factor; empty without a contrast."""
        return dict(self.levels).get(contrast, "")


@dataclass(frozen=True)
class CampaignAnalysis:
    """A campaign, ready to be reported."""

    name: str
    teiten_version: str
    created_at: float
    finished_at: float | None
    complete: bool
    """Every planned trial has ended (counted, or failed beyond its repeats)."""
    plan: Plan
    facts: HostFacts
    cautions: tuple[Caution, ...]
    server_facts: dict[str, dict[str, Any]]
    """By server level: version text, compiler, configure options, non-default settings."""
    contrasts: tuple[ContrastResult, ...]
    trials: tuple[TrialView, ...]
    missing: int
    """Planned trials that have not ended; of a sequential design, at most."""
    measured: Seconds
    wall: Seconds
    events: tuple[Event, ...]
    command: str
    """The command line that repeats the campaign."""
    cpu_witnesses: tuple[CpuWitness, ...] = ()
    """Evidence of processor time on the contrasts, where it was counted in paired transactions."""
    noise: tuple[NoiseFloor, ...] = ()
    """Noise that ``teiten null`` had measured here before, for workloads of this campaign."""
    pairs_check: PairsCheck | None = None
    """Findings of an earlier ``teiten doctor --pairs`` here; only of paired transactions."""
    replication: Replication | None = None
    """How the length of the trials was chosen, where a pilot or a null campaign chose it."""
    standing: Standing = field(default_factory=Standing)
    """Trials that a sequential campaign did without, and why it ended."""
    claims: tuple[ClaimOutcome, ...] = ()
    """The published findings that the study replicates, and their outcomes here."""
    results: Mapping[str, object] = field(default_factory=dict)
    """Findings of each kind of workload beside verdicts, by its name: the kind's own values, which
    ``kinds.KIND.results`` reads."""
    stacks: StacksFound = field(default_factory=StacksFound)
    """Where the CPU time went, of a campaign with flame graphs."""
    per_transaction: tuple[PerTransaction, ...] = ()
    """Resources that a transaction took besides time: one for each contrast and level."""
    discussion: Discussion = field(default_factory=Discussion)
    """Joint reading of the results: where sides part, and what the machine did meanwhile."""

    def cpu_witness(self, contrast: ContrastResult) -> CpuWitness | None:
        """Find the evidence of processor time on a contrast; None where it was not counted."""
        known = (witness for witness in self.cpu_witnesses if witness.key == contrast.key)
        return next(known, None)

    @property
    def due(self) -> tuple[PlannedTrial, ...]:
        """The planned trials that were run or, as far as is known now, are needed."""
        tried = {trial.number for trial in self.trials}
        return tuple(
            trial
            for trial in self.plan.trials
            if trial.number in tried or trial.number not in self.standing.unneeded
        )


@dataclass(frozen=True)
class Measured:
    """A campaign's trials, and the verdicts on the workloads of one kind."""

    plan: Plan
    facts: HostFacts
    workloads: tuple[str, ...]
    """Workloads of the kind, in the study's order."""
    views: tuple[TrialView, ...]
    contrasts: tuple[ContrastResult, ...]
    events: tuple[Event, ...]
