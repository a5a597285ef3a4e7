"""A collection of campaigns: the findings that they judge together, and an atlas of upgrades: the
speed of every workload on several versions, relative to the oldest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from teiten.analysis.model.claims import ClaimOutcome, ClaimStanding, Reason
from teiten.analysis.model.verdict import Interval, Verdict, VerdictKind
from teiten.model.facts import HostFacts
from teiten.model.installation import Version
from teiten.model.metrics import Better, Metric
from teiten.model.plan import Plan
from teiten.model.text import Bilingual
from teiten.model.units import Bytes, Seconds

NOT_RUN = Reason(ClaimStanding.NOT_RUN.value)


@dataclass(frozen=True)
class CollectedCampaign:
    """A campaign of a collection, or one that has not run."""

    name: str
    """In the collection."""
    study: str
    subject: Bilingual
    """The study's title."""
    campaign: str
    """Its ledger's name; empty where it has not run."""
    servers: tuple[str, ...]
    """Versions."""
    blocks: int
    wall: Seconds
    cores: int
    """Processors of the machine on which it ran; 0 where it has not, as for memory."""
    memory: Bytes
    """The memory that its plan needs."""
    lacking: str = ""
    """Why it has not run, or has failed."""
    remark: Bilingual | None = None
    plan: Plan | None = None
    """The plan, which names the levels of findings; None where it has not run."""


@dataclass(frozen=True)
class Finding:
    """A published finding with its outcome in one campaign of the collection."""

    outcome: ClaimOutcome
    campaign: CollectedCampaign
    blocks: int | None = None
    """The further blocks that would decide it; None where it is decided, or none are foretold to.
    """
    seconds: Seconds | None = None
    """The time of those."""
    by_server: tuple[tuple[tuple[str, ...], ClaimStanding], ...] = ()
    """The outcome on each server, or of each two that were compared, by their versions; nothing of
    a check that does not name one of several servers."""

    @property
    def standing(self) -> ClaimStanding:
        return self.outcome.standing

    @property
    def applies(self) -> bool:
        return self.outcome.applies


@dataclass(frozen=True)
class CollectionResult:
    """The findings of a collection as far as it has come."""

    name: str
    title: Bilingual
    created_at: float
    """Seconds since the epoch."""
    machines: tuple[HostFacts, ...]
    """As their first campaign of the collection found them; more than one where it was restored
    and went on elsewhere."""
    command: str
    budget: Seconds
    spent: Seconds
    campaigns: tuple[CollectedCampaign, ...]
    findings: tuple[Finding, ...]
    """The findings of every study of the collection, by report and in its order."""
    atlas: tuple[AtlasLine, ...] = ()
    """Every workload by version, where the collection asks for it."""

    @property
    def counts(self) -> Counter[ClaimStanding]:
        return counts(self.findings)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The inconclusive ones."""
        return tuple(
            finding for finding in self.findings if finding.standing is ClaimStanding.INCONCLUSIVE
        )

    @property
    def open_verdicts(self) -> tuple[AtlasPoint, ...]:
        """The inconclusive points of the atlas."""
        return tuple(
            point
            for line in self.atlas
            for point in line.points
            if point.verdict.kind is VerdictKind.INCONCLUSIVE
        )


@dataclass(frozen=True)
class ComparedFinding:
    """A finding in two collections, each on its machine."""

    first: Finding
    second: Finding

    @property
    def applies(self) -> bool:
        """Whether both could judge it."""
        return self.first.applies and self.second.applies

    @property
    def waits(self) -> bool:
        """Whether its campaign has not run in one of them."""
        return ClaimStanding.NOT_RUN in (self.first.standing, self.second.standing)

    @property
    def depends(self) -> bool:
        """Whether one reproduced what the other contradicted."""
        return {self.first.standing, self.second.standing} == {
            ClaimStanding.REPRODUCED,
            ClaimStanding.CONTRADICTED,
        }


def counts(findings: Iterable[Finding]) -> Counter[ClaimStanding]:
    """How many findings have each outcome."""
    return Counter(finding.standing for finding in findings)


@dataclass(frozen=True)
class AtlasPoint:
    """A workload on one version."""

    version: Version
    verdict: Verdict
    """The campaign's own, over all levels, against the line's first version."""


@dataclass(frozen=True)
class AtlasLine:
    """A workload through the versions of a campaign."""

    campaign: str
    """In the collection."""
    workload: str
    title: Bilingual
    metric: Metric
    first: Version
    """The version to which the others are relative."""
    points: tuple[AtlasPoint, ...]

    def speed(self, point: AtlasPoint) -> Interval | None:
        """The speed on a version by that on the first one; None where the verdict has no ratio."""
        effect = point.verdict.effect
        of_time = self.metric.better is Better.LOWER
        return effect.inverse if effect is not None and of_time else effect
