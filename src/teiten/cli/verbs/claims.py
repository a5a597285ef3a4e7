"""``teiten claims``: published findings, and their outcomes in a campaign."""

from __future__ import annotations

import click

from teiten.analysis.model.claims import Claim, ClaimOutcome, ClaimStanding, Reason
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.completion import campaigns, studies
from teiten.cli.main import Session
from teiten.cli.parameters import json_option, language_option
from teiten.cli.text.layout import paragraph
from teiten.errors import UsageError
from teiten.model.text import Language

EXAMPLES = "Examples:  teiten claims --promises 18  ·  teiten claims observe --run last --lang ja"
INDENT = "    "


@click.command("claims", epilog=EXAMPLES)
@click.argument("study", required=False, shell_complete=studies)
@click.option(
    "--run",
    "campaign",
    metavar="RUN",
    shell_complete=campaigns,
    help="Check the findings on this campaign.",
)
@language_option
@click.option(
    "--promises",
    metavar="VERSION",
    help="Only what the release notes of these major versions promise (13,18), or all.",
)
@json_option("the findings")
@click.pass_obj
def command(
    session: Session,
    *,
    study: str | None,
    campaign: str | None,
    language: Language,
    promises: str | None,
    as_json: bool,
) -> None:
    """List the published findings that studies replicate, of STUDY or of all.

    With --run (a campaign's name, a unique prefix, its path, or "last"), each with its outcome:
    reproduced, contradicted, inconclusive, or not applicable here, with the reason.
    """
    from teiten.analysis.claims.outcomes import unassessed
    from teiten.claims.catalogue import claims_of

    claims = claims_of(study)
    if not claims:
        raise _without_claims(session, study)
    if promises is not None:
        claims = _promised(claims, promises)
    analysis = None
    if campaign:
        from teiten.cli.campaign.read import read_campaign
        from teiten.ledger.campaigns import find_campaign

        analysis = read_campaign(find_campaign(session.workdir.campaigns, campaign))
    outcomes = _of_campaign(analysis, claims) if analysis else unassessed(claims)
    if as_json:
        from teiten.cli.printed.claims import json_claim

        assessed = analysis is not None
        session.console.json([json_claim(outcome, assessed=assessed) for outcome in outcomes])
        return
    from teiten.report.claim_words import lines_about, outcome_word
    from teiten.report.names import Names
    from teiten.report.texts import texts

    t = texts(language)
    names = Names(analysis.plan, t) if analysis else None
    for outcome in outcomes:
        word = f"  {outcome_word(t, outcome)}" if names else ""
        texts_about = lines_about(t, outcome, names)
        lines = (line for text in texts_about for line in paragraph(text, indent=INDENT))
        session.console.text(f"{outcome.claim.id}{word}", *lines)


def _promised(claims: tuple[Claim, ...], versions: str) -> tuple[Claim, ...]:
    """List what release notes of these versions promise. Raises UsageError without any."""
    known = sorted({claim.promise for claim in claims if claim.promise})
    wanted = known if versions == "all" else [version.strip() for version in versions.split(",")]
    promised = tuple(claim for claim in claims if claim.promise and claim.promise in wanted)
    if not promised:
        raise UsageError(
            f"--promises {versions}: no promise of these versions is in the catalogue",
            f"versions with promises: {', '.join(known) or 'none of this study'}",
        )
    return promised


def _without_claims(session: Session, study: str | None) -> UsageError:
    from teiten.claims.catalogue import claims_of
    from teiten.ledger.campaigns import is_campaign
    from teiten.suggest import did_you_mean

    if study and is_campaign(session.workdir.campaigns, study):
        return UsageError(
            f"{study!r} is a campaign; claims are of studies", f"give it as --run {study}"
        )
    known = sorted({claim.study for claim in claims_of()})
    return UsageError(
        f"the study {study!r} replicates no published finding.{did_you_mean(study or '', known)}",
        f"studies with findings: {', '.join(known)}",
    )


def _of_campaign(analysis: CampaignAnalysis, claims: tuple[Claim, ...]) -> tuple[ClaimOutcome, ...]:
    """The campaign's outcomes, those of its own study first; findings about other studies do not
    apply to it."""
    from teiten.analysis.claims.outcomes import in_print

    judged = {outcome.claim.id: outcome for outcome in analysis.claims}
    own = analysis.plan.study.name
    return tuple(
        judged.get(claim.id)
        or ClaimOutcome(
            claim,
            ClaimStanding.NOT_APPLICABLE,
            Reason("study", (("study", claim.study),)),
            in_print=in_print(claim),
        )
        for claim in sorted(claims, key=lambda claim: claim.study != own)
    )
