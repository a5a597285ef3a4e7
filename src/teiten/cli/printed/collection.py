"""A collection: what ``collection`` prints as JSON, and writes beside its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from teiten.analysis.across.prediction import CheckedPrediction
from teiten.analysis.model.claims import ClaimSource, ClaimStanding
from teiten.analysis.model.collection import (
    AtlasLine,
    CollectedCampaign,
    CollectionResult,
    ComparedFinding,
    Finding,
)
from teiten.cli.collection.planning import PlannedCampaign
from teiten.cli.printed.claims import JsonAssessment, json_assessment
from teiten.cli.printed.form import SPREAD, Count, Names, Positive, taken
from teiten.cli.printed.outcome import JsonVerdict, json_verdict
from teiten.model.metrics import Better
from teiten.model.text import Bilingual
from teiten.model.units import Seconds
from teiten.report.collection import ratio_pair
from teiten.study.collection import CollectionTable


@dataclass(frozen=True)
class JsonCollectedCampaign:
    name: Annotated[str, "In the collection."]
    study: str
    campaign: Annotated[str | None, "Of its ledger; null where it has not run."]
    servers: tuple[str, ...]
    blocks: Count
    seconds: Annotated[Positive, "Measured."]
    lacking: Annotated[str | None, "Why it has not run, or has failed."]


@dataclass(frozen=True)
class JsonFinding:
    id: str
    study: str
    source: ClaimSource
    statement: Bilingual
    campaign: Annotated[str | None, "The one that judges it; null where it has not run."]
    printed_ratio: Annotated[
        float | None, "Of the same question on the published table; null where there is none."
    ]
    assessment: Annotated[JsonAssessment, SPREAD]
    further_blocks: Annotated[Count | None, "Foretold to decide it."]
    further_seconds: Annotated[Positive | None, "Of those."]


@dataclass(frozen=True)
class JsonAtlasPoint:
    version: str
    verdict: Annotated[JsonVerdict, SPREAD]


@dataclass(frozen=True)
class JsonAtlasLine:
    """A workload by version; ratios are of the metric, that on a version by that on the first."""

    campaign: Annotated[str, "In the collection."]
    workload: str
    metric: str
    better: Better
    first: str
    points: tuple[JsonAtlasPoint, ...]


@dataclass(frozen=True)
class JsonCollection:
    name: str
    title: Bilingual
    created_at: Annotated[float, "Seconds since 1970."]
    command: str
    budget: Annotated[Positive, "Seconds of measuring."]
    spent: Positive
    counts: dict[str, Count]
    campaigns: tuple[JsonCollectedCampaign, ...]
    findings: tuple[JsonFinding, ...]
    atlas: Annotated[
        tuple[JsonAtlasLine, ...], "Every workload by version; empty where it is not asked for."
    ]


@dataclass(frozen=True)
class JsonPlannedCampaign:
    name: str
    study: str
    lacking: Annotated[str | None, "Why it does not run here."]
    servers: tuple[str, ...]
    first_seconds: Annotated[Positive, "Of its first pass."]
    block_seconds: Annotated[Positive, "Of each further block."]
    judged: Annotated[tuple[str, ...], "Findings that it can judge."]
    not_judged: Annotated[Names, "Findings that it cannot, with the code of the reason."]


@dataclass(frozen=True)
class JsonCollectionPlan:
    name: str
    title: Bilingual
    budget: Annotated[Positive, "Seconds of measuring."]
    campaigns: tuple[JsonPlannedCampaign, ...]


@dataclass(frozen=True)
class JsonComparedFinding:
    id: str
    study: str
    first: JsonAssessment
    second: JsonAssessment
    depends: Annotated[bool, "Reproduced in one and contradicted in the other."]


@dataclass(frozen=True)
class JsonCollectionComparison:
    first: str
    second: str
    findings: Annotated[tuple[JsonComparedFinding, ...], "Those that stand in both."]
    prediction: Annotated[
        CheckedPrediction | None, "How often what was foretold came true, where that was asked."
    ]


def json_collection_comparison(
    first: str,
    second: str,
    findings: Sequence[ComparedFinding],
    prediction: CheckedPrediction | None,
) -> JsonCollectionComparison:
    compared = tuple(map(_compared, findings))
    return JsonCollectionComparison(first, second, compared, prediction)


def _compared(finding: ComparedFinding) -> JsonComparedFinding:
    claim = finding.first.outcome.claim
    return JsonComparedFinding(
        claim.id,
        claim.study,
        json_assessment(finding.first.outcome),
        json_assessment(finding.second.outcome),
        finding.depends,
    )


def json_collection(result: CollectionResult) -> JsonCollection:
    return taken(
        JsonCollection,
        result,
        counts={standing.value: result.counts[standing] for standing in ClaimStanding},
        campaigns=tuple(map(_campaign, result.campaigns)),
        findings=tuple(map(_finding, result.findings)),
        atlas=tuple(map(_atlas_line, result.atlas)),
    )


def _atlas_line(line: AtlasLine) -> JsonAtlasLine:
    return taken(
        JsonAtlasLine,
        line,
        metric=line.metric.name,
        better=line.metric.better,
        first=str(line.first),
        points=tuple(
            JsonAtlasPoint(str(point.version), json_verdict(point.verdict)) for point in line.points
        ),
    )


def _campaign(campaign: CollectedCampaign) -> JsonCollectedCampaign:
    return taken(
        JsonCollectedCampaign,
        campaign,
        campaign=campaign.campaign or None,
        seconds=campaign.wall,
        lacking=campaign.lacking or None,
    )


def _finding(finding: Finding) -> JsonFinding:
    printed, _ = ratio_pair(finding)
    return taken(
        JsonFinding,
        finding.outcome.claim,
        campaign=finding.campaign.campaign or None,
        printed_ratio=printed.ratio if printed else None,
        assessment=json_assessment(finding.outcome),
        further_blocks=finding.blocks,
        further_seconds=finding.seconds,
    )


def json_collection_plan(
    table: CollectionTable, campaigns: Sequence[PlannedCampaign], budget: Seconds
) -> JsonCollectionPlan:
    return JsonCollectionPlan(table.name, table.title, budget, tuple(map(_planned, campaigns)))


def _planned(campaign: PlannedCampaign) -> JsonPlannedCampaign:
    why = {outcome.claim.id: campaign.why_not(outcome) for outcome in campaign.outcomes}
    servers = campaign.planned.plan.servers if campaign.planned else ()
    return JsonPlannedCampaign(
        campaign.table.called,
        campaign.table.study,
        campaign.lacking or None,
        tuple(str(server.version) for _, server in servers),
        campaign.first,
        campaign.block,
        tuple(claim for claim, reason in why.items() if reason is None),
        {claim: reason.code for claim, reason in why.items() if reason is not None},
    )
