"""Published findings about two operating systems, checked on two campaigns."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.analysis.claims.outcomes import deciding_of, in_print, other_question, standing_of
from teiten.analysis.model.claims import Claim, ClaimOutcome, ClaimStanding
from teiten.analysis.model.comparison import Comparison, Systems
from teiten.analysis.model.evidence import EvidenceTable
from teiten.analysis.model.predicate import UnmetError


def assess_comparison(
    claims: Sequence[Claim],
    comparison: Comparison,
    of_a: EvidenceTable,
    of_b: EvidenceTable,
) -> tuple[ClaimOutcome, ...]:
    """The outcome of each finding about two systems; others are left to each campaign's report."""
    return tuple(_assess(claim, comparison, of_a, of_b) for claim in claims if claim.needs.compared)


def _assess(
    claim: Claim,
    comparison: Comparison,
    of_a: EvidenceTable,
    of_b: EvidenceTable,
) -> ClaimOutcome:
    printed = in_print(claim)
    try:
        systems = systems_of(claim, comparison, of_a, of_b)
        checks = claim.predicate.between(claim, systems)
    except UnmetError as unmet:
        return ClaimOutcome(claim, ClaimStanding.NOT_APPLICABLE, unmet.reason, in_print=printed)
    reasons = (side.plan.study.withholds_findings for side in (comparison.a, comparison.b))
    standing, reason = standing_of(checks, withheld=next(filter(None, reasons), ""))
    return ClaimOutcome(claim, standing, reason, checks, deciding_of(checks), printed)


def systems_of(
    claim: Claim,
    comparison: Comparison,
    of_a: EvidenceTable,
    of_b: EvidenceTable,
) -> Systems:
    """The campaigns by their operating systems. Raises UnmetError where they do not do what the
    claim is about, or not on the same hardware."""
    a, b = comparison.a, comparison.b
    for one in (a, b):
        unmet = other_question(claim, one.plan)
        if unmet is not None:
            raise UnmetError(unmet.code, **dict(unmet.values))
    here = {a.facts.system: of_a, b.facts.system: of_b}
    if set(here) != set(claim.needs.systems):
        listed = f"{a.facts.system}, {b.facts.system}"
        raise UnmetError("systems", needed=", ".join(claim.needs.systems), here=listed)
    hardware = [(one.facts.cpu.model, one.facts.cpu.logical) for one in (a, b)]
    if hardware[0] != hardware[1]:
        raise UnmetError("hardware")
    return Systems(comparison, here)
