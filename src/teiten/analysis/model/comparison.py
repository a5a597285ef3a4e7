"""Two campaigns side by side: what differs between them, and what their trials say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from teiten.analysis.model.claims import ClaimOutcome
from teiten.analysis.model.evidence import EvidenceTable
from teiten.analysis.model.findings import CampaignAnalysis, LevelResult, Verdict
from teiten.model.metrics import Metric
from teiten.model.plan import Context


class Weight(StrEnum):
    """Consequence of a difference for the comparison."""

    OBSTACLE = "obstacle"
    """Another thing was measured: compared only where the user insists."""
    CAUTION = "caution"
    """May explain a part of the result."""
    SUBJECT = "subject"
    """The machines, systems or times that are to be compared."""


@dataclass(frozen=True)
class Difference:
    """One thing in which two campaigns differ; ``code`` has a text in the reports.

    ``subject``: the workload, parameter or server that it is about; empty for the campaign.
    """

    code: str
    weight: Weight
    a: str
    b: str
    subject: str = ""


@dataclass(frozen=True)
class ComparedLevel:
    """A contrasted level (a server) of the one campaign and its counterpart in the other."""

    a: str
    b: str


@dataclass(frozen=True)
class UnpairedResult:
    """A metric of one workload on one server: B against A, without pairs."""

    workload: str
    metric: Metric
    side: ComparedLevel
    levels: tuple[LevelResult, ...]
    """Old is A, new is B; each verdict from Welch's interval at α/K."""
    overall: Verdict
    """The verdict on the mean over all levels, with each campaign's blocks as the units."""
    blocks: tuple[int, int]
    """Blocks of A and of B that have every level."""
    left_out: tuple[Context, ...] = ()
    """Contexts that ``overall`` leaves out, because a query exceeded its time limit there."""


@dataclass(frozen=True)
class Comparison:
    """Two campaigns, ready to be reported."""

    a: CampaignAnalysis
    b: CampaignAnalysis
    differences: tuple[Difference, ...]
    results: tuple[UnpairedResult, ...]
    claims: tuple[ClaimOutcome, ...]
    same_machine: bool
    """Both ran on one machine, by its fingerprint."""

    @property
    def statement_alpha(self) -> float:
        """α of a primary statement: of each workload on each server."""
        statements = sum(result.metric.judged for result in self.results)
        return self.a.plan.study.measure.alpha / max(1, statements)

    @property
    def obstacles(self) -> tuple[Difference, ...]:
        return tuple(
            difference for difference in self.differences if difference.weight is Weight.OBSTACLE
        )


@dataclass(frozen=True)
class Systems:
    """Two campaigns on one kind of hardware, by their operating systems."""

    comparison: Comparison
    here: Mapping[str, EvidenceTable]
