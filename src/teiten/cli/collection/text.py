"""A collection in lines: what it would do here, and what it has come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.analysis.model.claims import ClaimStanding
from teiten.analysis.model.collection import CollectionResult, ComparedFinding
from teiten.cli.collection.carry_out import foretold_first_pass
from teiten.cli.collection.planning import PlannedCampaign, disk_needed, reasons
from teiten.cli.text.layout import paragraph
from teiten.model.quantities import format_size, rough_duration
from teiten.model.units import Seconds
from teiten.report.claim_words import check_text, outcome_word, reason_text, side_of
from teiten.report.texts import texts
from teiten.study.collection import CollectionTable

INDENT = "    "


def plan_lines(
    table: CollectionTable, campaigns: Sequence[PlannedCampaign], budget: Seconds, *, whole: bool
) -> Iterator[str]:
    """List the campaigns in their order, then time and disk, then what cannot be judged here.

    ``whole``: each finding that cannot be judged, with its reason; else they are counted.
    """
    yield f"{table.title.en} ({table.name}), in {rough_duration(budget)}"
    yield ""
    for campaign in campaigns:
        yield from _campaign(campaign, whole=whole)
    yield ""
    first = foretold_first_pass(campaigns)
    yield f"first pass    about {rough_duration(first)} of {rough_duration(budget)}"
    if first > budget:
        yield "              it does not fit: the last campaigns wait for a larger --budget"
    yield f"disk          {format_size(disk_needed(campaigns))}"
    judged = sum(campaign.judged for campaign in campaigns)
    every = sum(len(campaign.outcomes) for campaign in campaigns)
    yield f"findings      {judged} of {every} can be judged here"
    for reason, count in reasons(campaigns).most_common():
        yield f"{count:>18} cannot: {reason_text(texts('en'), reason)}"


def _campaign(campaign: PlannedCampaign, *, whole: bool) -> Iterator[str]:
    if campaign.planned is None or not campaign.runs:
        yield f"{campaign.table.called}: does not run here"
        yield from paragraph(campaign.lacking, indent=INDENT)
    else:
        plan = campaign.planned.plan
        servers = ", ".join(str(server.version) for _, server in plan.servers)
        yield (
            f"{campaign.table.called}: PostgreSQL {servers};"
            f" {rough_duration(campaign.first)} at first,"
            f" {rough_duration(campaign.block)} for each further block;"
            f" {campaign.judged} of {len(campaign.outcomes)} findings"
        )
    if campaign.table.remark is not None:
        yield from paragraph(campaign.table.remark.en, indent=INDENT)
    if whole:
        for outcome in campaign.outcomes:
            reason = campaign.why_not(outcome) if campaign.runs else None
            if reason is not None:
                why = reason_text(texts("en"), reason)
                yield from paragraph(f"{outcome.claim.id}: {why}", indent=INDENT)


def comparison_lines(first: str, second: str, findings: Sequence[ComparedFinding]) -> Iterator[str]:
    """Tell which findings came out otherwise in a second collection, each with both intervals."""
    t = texts("en")
    judged = [finding for finding in findings if finding.applies]
    alike = sum(finding.first.standing is finding.second.standing for finding in judged)
    yield (
        f"{len(judged)} findings apply in both, {alike} of them with the same outcome, and"
        f" {sum(finding.depends for finding in judged)} reproduced in one and contradicted in the"
        " other"
    )
    for finding in judged:
        if finding.first.standing is finding.second.standing:
            continue
        yield ""
        yield from paragraph(t.of(finding.first.outcome.claim.statement))
        for name, sided in ((first, finding.first), (second, finding.second)):
            outcome = sided.outcome
            side = side_of(outcome.claim, str)
            told = f"{name}: {outcome_word(t, outcome)}; {check_text(t, outcome.deciding, side)}"
            yield from paragraph(told, indent=INDENT)


def result_lines(result: CollectionResult) -> Iterator[str]:
    """Count the findings by outcome."""
    t = texts("en")
    counted = ", ".join(
        f"{result.counts[standing]} {t(f'claim-outcome.{standing.value}')}"
        for standing in ClaimStanding
    )
    yield f"{len(result.findings)} findings: {counted}"
