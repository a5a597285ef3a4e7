"""The findings of a collection, each judged by one campaign; and the lines of an atlas: verdicts of
campaigns that compare versions, told by workload."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from teiten.analysis.claims.forecast import OpenFinding, further_blocks, seconds_of
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import Check, Claim, ClaimOutcome, ClaimStanding
from teiten.analysis.model.collection import (
    NOT_RUN,
    AtlasLine,
    AtlasPoint,
    CollectedCampaign,
    CollectionResult,
    ComparedFinding,
    Finding,
)
from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, VerdictKind
from teiten.model.plan import Level, Plan
from teiten.model.study import SERVER
from teiten.model.units import Seconds


def findings_of(
    claims: Iterable[Claim],
    campaigns: Sequence[CollectedCampaign],
    outcomes: Mapping[str, Sequence[ClaimOutcome]],
    *,
    plans: Mapping[str, Plan],
    levels: Mapping[str, Mapping[Level, Seconds]],
) -> Iterator[Finding]:
    """Each finding as the first campaign of its study says to which it applies: the order in the
    collection decides, and never an outcome.

    ``outcomes``, ``plans``, ``levels`` (the seconds of each in a block): by a campaign's name in
    the collection, of those that have run.
    """
    by_claim = {
        name: {outcome.claim.id: outcome for outcome in mine} for name, mine in outcomes.items()
    }
    for claim in claims:
        wanted = [campaign for campaign in campaigns if campaign.study == claim.study]
        ran = [campaign for campaign in wanted if campaign.name in by_claim]
        pairs = [(campaign, by_claim[campaign.name][claim.id]) for campaign in ran]
        applies = (pair for pair in pairs if pair[1].applies)
        chosen = next(applies, pairs[0] if pairs and len(ran) == len(wanted) else None)
        if chosen is not None:
            campaign, outcome = chosen
            plan = plans[campaign.name]
            blocks = further_blocks(outcome, plan.study.measure.alpha, plan.blocks_of_a_number)
            took = levels[campaign.name]
            seconds = None if blocks is None else seconds_of(blocks, outcome.levels, took)
            by_server = tuple(standings_by_server(outcome, plan))
            yield Finding(outcome, campaign, blocks, seconds, by_server)
        elif wanted:
            waiting = next(campaign for campaign in wanted if campaign not in ran)
            yield Finding(ClaimOutcome(claim, ClaimStanding.NOT_RUN, NOT_RUN), waiting)


def standings_by_server(
    outcome: ClaimOutcome, plan: Plan
) -> Iterator[tuple[tuple[str, ...], ClaimStanding]]:
    """Yield the outcomes that ``Finding.by_server`` holds."""
    servers = dict(plan.servers)
    asked: dict[tuple[str, ...], list[Check]] = {}
    for check in outcome.checks:
        asked.setdefault(_servers_of(check, outcome.claim, servers), []).append(check)
    for names, checks in asked.items():
        if names:
            versions = tuple(str(servers[name].version) for name in names)
            yield versions, standing_of(checks)[0]


def _servers_of(check: Check, claim: Claim, servers: Collection[str]) -> tuple[str, ...]:
    if check.server:
        return (check.server,)
    names_servers = claim.contrast is None or claim.contrast.factor == SERVER
    if names_servers and check.sides and set(check.sides) <= set(servers):
        return check.sides
    return tuple(servers) if len(servers) == 1 else ()


def compared(first: CollectionResult, second: CollectionResult) -> Iterator[ComparedFinding]:
    """The findings that stand in both collections, in the order of the first."""
    others = {finding.outcome.claim.id: finding for finding in second.findings}
    for finding in first.findings:
        second_finding = others.get(finding.outcome.claim.id)
        if second_finding is not None:
            yield ComparedFinding(finding, second_finding)


def atlas_of(campaigns: Mapping[str, CampaignAnalysis]) -> Iterator[AtlasLine]:
    """Yield a line for each workload of the campaigns that contrast servers.

    ``campaigns``: by their names in the collection.
    """
    for name, analysis in campaigns.items():
        if _compares_servers(analysis):
            yield from _lines(name, analysis)


def open_verdicts(analysis: CampaignAnalysis) -> Iterator[OpenFinding]:
    """Foretell for each open verdict of the atlas how many further blocks decide it; verdicts that
    no number of blocks is foretold to decide are left out."""
    for contrast in analysis.contrasts if _compares_servers(analysis) else ():
        verdict = contrast.overall
        is_open = contrast.metric.judged and verdict.kind is VerdictKind.INCONCLUSIVE
        if is_open and contrast.forecast is not None:
            blocks = max(1, contrast.forecast - verdict.pairs) * analysis.plan.blocks_of_a_number
            levels = (
                (contrast.workload, level.context)
                for level in contrast.levels
                if level.context not in contrast.left_out
            )
            ran = verdict.pairs * analysis.plan.blocks_of_a_number
            yield OpenFinding(blocks, frozenset(levels), ran)


def _compares_servers(analysis: CampaignAnalysis) -> bool:
    return analysis.plan.study.contrast == SERVER


def _lines(name: str, analysis: CampaignAnalysis) -> Iterator[AtlasLine]:
    versions = {level: server.version for level, server in analysis.plan.servers}
    lines: dict[tuple[str, str], list[ContrastResult]] = {}
    for contrast in analysis.contrasts:
        if contrast.metric.judged:
            lines.setdefault((contrast.workload, contrast.old), []).append(contrast)
    for (workload, old), contrasts in lines.items():
        yield AtlasLine(
            name,
            workload,
            analysis.plan.study.workload(workload).title,
            contrasts[0].metric,
            versions[old],
            tuple(AtlasPoint(versions[contrast.new], contrast.overall) for contrast in contrasts),
        )
