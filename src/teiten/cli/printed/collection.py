"""A collection: what ``collection`` prints as JSON, and writes beside its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from teiten.analysis.across.prediction import CheckedPrediction
from teiten.analysis.model.claims import ClaimSource, ClaimStanding
from teiten.analysis.model.collection import CollectionResult, Finding
from teiten.cli.collection.planning import PlannedCampaign
from teiten.cli.console import json_text
from teiten.cli.printed.claims import JsonAssessment
from teiten.cli.printed.form import SPREAD, Count, From, Names, Positive, Text, taken
from teiten.cli.printed.outcome import JsonVerdict
from teiten.model.metrics import Better
from teiten.model.text import Bilingual
from teiten.report.collection import ratio_pair


@dataclass(frozen=True)
class JsonCollectedCampaign:
    name: Annotated[str, "In the collection."]
    study: str
    campaign: Annotated[Text, "Of its ledger; null where it has not run."]
    servers: tuple[str, ...]
    blocks: Count
    seconds: Annotated[Positive, "Measured.", From("wall")]
    lacking: Annotated[Text, "Why it has not run, or has failed."]


def _printed_ratio(finding: Finding) -> float | None:
    printed, _ = ratio_pair(finding)
    return printed.ratio if printed else None


@dataclass(frozen=True)
class JsonFinding:
    id: Annotated[str, From("outcome.claim.id")]
    study: Annotated[str, From("outcome.claim.study")]
    source: Annotated[ClaimSource, From("outcome.claim.source")]
    statement: Annotated[Bilingual, From("outcome.claim.statement")]
    campaign: Annotated[
        Text, "The one that judges it; null where it has not run.", From("campaign.campaign")
    ]
    printed_ratio: Annotated[
        float | None,
        "Of the same question on the published table; null where there is none.",
        From(_printed_ratio),
    ]
    assessment: Annotated[JsonAssessment, SPREAD, From("outcome")]
    further_blocks: Annotated[Count | None, "Foretold to decide it.", From("blocks")]
    further_seconds: Annotated[Positive | None, "Of those.", From("seconds")]


@dataclass(frozen=True)
class JsonAtlasPoint:
    version: str
    verdict: Annotated[JsonVerdict, SPREAD]


@dataclass(frozen=True)
class JsonAtlasLine:
    """A workload by version; ratios are of the metric, that on a version by that on the first."""

    campaign: Annotated[str, "In the collection."]
    workload: str
    metric: Annotated[str, From("metric.name")]
    better: Annotated[Better, From("metric.better")]
    first: str
    points: tuple[JsonAtlasPoint, ...]


def _counts(result: CollectionResult) -> dict[str, int]:
    return {standing.value: result.counts[standing] for standing in ClaimStanding}


@dataclass(frozen=True)
class JsonCollection:
    name: str
    title: Bilingual
    created_at: Annotated[float, "Seconds since 1970."]
    command: str
    budget: Annotated[Positive, "Seconds of measuring."]
    spent: Positive
    counts: Annotated[dict[str, Count], From(_counts)]
    campaigns: tuple[JsonCollectedCampaign, ...]
    findings: tuple[JsonFinding, ...]
    atlas: Annotated[
        tuple[JsonAtlasLine, ...], "Every workload by version; empty where it is not asked for."
    ]


def _versions(campaign: PlannedCampaign) -> list[str]:
    servers = campaign.planned.plan.servers if campaign.planned else ()
    return [str(server.version) for _, server in servers]


def _judged(campaign: PlannedCampaign) -> list[str]:
    return [outcome.claim.id for outcome in campaign.outcomes if campaign.why_not(outcome) is None]


def _not_judged(campaign: PlannedCampaign) -> dict[str, str]:
    reasons = ((outcome.claim.id, campaign.why_not(outcome)) for outcome in campaign.outcomes)
    return {claim: reason.code for claim, reason in reasons if reason is not None}


@dataclass(frozen=True)
class JsonPlannedCampaign:
    name: Annotated[str, From("table.called")]
    study: Annotated[str, From("table.study")]
    lacking: Annotated[Text, "Why it does not run here."]
    servers: Annotated[tuple[str, ...], From(_versions)]
    first_seconds: Annotated[Positive, "Of its first pass.", From("first")]
    block_seconds: Annotated[Positive, "Of each further block.", From("block")]
    judged: Annotated[tuple[str, ...], "Findings that it can judge.", From(_judged)]
    not_judged: Annotated[
        Names, "Findings that it cannot, with the code of the reason.", From(_not_judged)
    ]


@dataclass(frozen=True)
class JsonCollectionPlan:
    name: str
    title: Bilingual
    budget: Annotated[Positive, "Seconds of measuring."]
    campaigns: tuple[JsonPlannedCampaign, ...]


@dataclass(frozen=True)
class JsonComparedFinding:
    id: Annotated[str, From("first.outcome.claim.id")]
    study: Annotated[str, From("first.outcome.claim.study")]
    first: Annotated[JsonAssessment, From("first.outcome")]
    second: Annotated[JsonAssessment, From("second.outcome")]
    depends: Annotated[bool, "Reproduced in one and contradicted in the other."]


@dataclass(frozen=True)
class JsonCollectionComparison:
    first: str
    second: str
    findings: Annotated[tuple[JsonComparedFinding, ...], "Those that stand in both."]
    prediction: Annotated[
        CheckedPrediction | None, "How often what was foretold came true, where that was asked."
    ]


def findings_text(result: CollectionResult) -> str:
    """Write the file ``findings.json`` of a collection."""
    return json_text(taken(JsonCollection, result))
