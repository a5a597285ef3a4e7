"""Published findings against a campaign: reproduced, contradicted, inconclusive, not applicable.

A claim is a conjunction of checks, each a ratio that must lie between bounds. A check is reproduced
where its whole interval lies between them, contradicted where it lies wholly outside; a claim is
reproduced where every check is, contradicted where one is. To be reproduced takes all K checks,
each by its interval at α: nothing is gained by their number. To be contradicted takes one, by its
interval at α/K, so that one contradiction among many checks is no accident of their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from teiten.analysis.across.fingerprint import commands_of
from teiten.analysis.claims.checks import checks_in_print, checks_of
from teiten.analysis.model.claims import (
    Check,
    Claim,
    ClaimNeeds,
    ClaimOutcome,
    ClaimStanding,
    Reason,
)
from teiten.analysis.model.evidence import EvidenceTable
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.analysis.verdict.pairs import observe, starts_of
from teiten.analysis.verdict.verdict import log_of
from teiten.kinds.metrics import judged_in
from teiten.model.facts import HostFacts
from teiten.model.metrics import SHARED_BY_SIDES
from teiten.model.plan import Plan
from teiten.model.progress import GivenBlocks
from teiten.model.study import Script
from teiten.model.trial import Attempt
from teiten.ways.registry import way_of


def assess(
    claims: Sequence[Claim],
    plan: Plan,
    facts: HostFacts,
    attempts: Iterable[Attempt],
    given: GivenBlocks = MappingProxyType({}),
) -> tuple[ClaimOutcome, ...]:
    """The outcome of each claim; ``attempts`` are the campaign's recorded trials, ``given`` the
    blocks that it has from a collection."""
    known = tuple(attempts)
    evidence = EvidenceTable(plan, observe(plan, known), starts_of(plan, known), given)
    return tuple(_assess(claim, facts, evidence) for claim in claims)


def unassessed(claims: Sequence[Claim]) -> tuple[ClaimOutcome, ...]:
    """Claims without a campaign: only what the published tables say."""
    return tuple(
        ClaimOutcome(claim, ClaimStanding.NOT_RUN, Reason("no-campaign"), in_print=in_print(claim))
        for claim in claims
    )


def in_print(claim: Claim) -> Check | None:
    """The claim's deciding check on the published table; None where no table was printed."""
    try:
        return deciding_of(checks_in_print(claim))
    except UnmetError:
        return None


def outcome_of(
    claim: Claim, ask: Callable[[], tuple[Check, ...]], *, withheld: str
) -> ClaimOutcome:
    """The outcome of a claim by the checks that ``ask`` makes; it does not apply where that raises
    UnmetError. ``withheld``: as for ``standing_of``."""
    printed = in_print(claim)
    try:
        checks = ask()
    except UnmetError as unmet:
        return ClaimOutcome(claim, ClaimStanding.NOT_APPLICABLE, unmet.reason, in_print=printed)
    standing, reason = standing_of(checks, withheld=withheld)
    return ClaimOutcome(claim, standing, reason, checks, deciding_of(checks), printed)


def _assess(claim: Claim, facts: HostFacts, evidence: EvidenceTable) -> ClaimOutcome:
    plan = evidence.plan

    def ask() -> tuple[Check, ...]:
        require_question(claim, plan)
        claim.predicate.require(plan)
        _require_needs(claim.needs, plan, facts)
        return checks_of(claim, Ground(evidence, facts.cpu.logical))

    withheld = plan.study.withholds_findings
    with evidence.noting_levels() as levels:
        outcome = replace(outcome_of(claim, ask, withheld=withheld), levels=frozenset(levels))
    lacks = any(check.lack for check in outcome.checks) and not withheld
    inconclusive = outcome.standing is ClaimStanding.INCONCLUSIVE
    if lacks and inconclusive and _exceeded_limit(claim, evidence):
        return replace(outcome, reason=Reason("over-timeout"))
    return outcome


def _exceeded_limit(claim: Claim, evidence: EvidenceTable) -> bool:
    """Whether a trial of the claim's workload was cut off at its limit, and so has no number."""
    exceeded = judged_in(evidence.plan, claim.workload).exceeded
    return any(
        trial.workload == claim.workload and exceeded in trial.metrics
        for trial in evidence.observations
    )


def require_question(claim: Claim, plan: Plan) -> None:
    """Raise UnmetError where the campaign does something else than the published study did."""
    study = plan.study
    if study.name != claim.study:
        raise UnmetError("study", study=claim.study)
    workload = next(
        (workload for workload in study.workloads if workload.name == claim.workload), None
    )
    if workload is None:
        raise UnmetError("workload", workload=claim.workload)
    if _other_work(claim.work, workload.options.work):
        raise UnmetError("script", workload=claim.workload)
    if claim.metric in SHARED_BY_SIDES and way_of(study.measure).concurrent:
        raise UnmetError("shared-by-sides")


def _other_work(published: Sequence[Script], here: Sequence[Script]) -> bool:
    """Whether the campaign runs other texts: under the same names, of which it may have fewer, or
    as the only one, whatever its name."""
    if len(published) == len(here) == 1:
        return commands_of(published[0]) != commands_of(here[0])
    known = {script.name: commands_of(script) for script in published}
    return any(
        known.get(script.name, commands_of(script)) != commands_of(script) for script in here
    )


def _require_needs(needs: ClaimNeeds, plan: Plan, facts: HostFacts) -> None:
    """Raise UnmetError for versions, factors or cores that the campaign has not."""
    if needs.systems and needs.systems != (facts.system,):
        code = "systems" if needs.compared else "system"
        raise UnmetError(code, needed=", ".join(needs.systems), here=facts.system)
    versions = [server.version for _, server in plan.servers]
    if any(of_major(plan, major) is None for major in needs.servers):
        here = ", ".join(sorted({version.major for version in versions}))
        raise UnmetError("servers", needed=", ".join(needs.servers), here=here)
    if needs.before is not None:
        newer = [version for version in versions if version.major_number >= needs.before]
        if newer:
            here = ", ".join(sorted(map(str, newer)))
            raise UnmetError("before", needed=str(needs.before), here=here)
    if needs.factor is not None and len(plan.study.levels(needs.factor)) < 2:
        raise UnmetError("factor", factor=needs.factor)
    if facts.cpu.logical < needs.cores:
        raise UnmetError("cores", needed=str(needs.cores), here=str(facts.cpu.logical))


def standing_of(
    checks: Sequence[Check], *, withheld: str = ""
) -> tuple[ClaimStanding, Reason | None]:
    """``withheld``: why the study judges no findings (``Study.withholds_findings``)."""
    if withheld:
        return ClaimStanding.INCONCLUSIVE, Reason(withheld)
    standings = {check.standing for check in checks}
    if ClaimStanding.CONTRADICTED in standings:
        return ClaimStanding.CONTRADICTED, _below_delta(checks)
    if standings == {ClaimStanding.REPRODUCED}:
        return ClaimStanding.REPRODUCED, None
    lack = next((check.lack for check in checks if check.lack), "undecided")
    return ClaimStanding.INCONCLUSIVE, Reason(lack)


def _below_delta(checks: Sequence[Check]) -> Reason | None:
    """The reason of checks that contradict only in that the difference is less than δ."""
    contradicting = [check for check in checks if check.standing is ClaimStanding.CONTRADICTED]
    if not all(check.is_below_margin for check in contradicting):
        return None
    return Reason("below-delta", (("delta", f"{100 * contradicting[0].margin:g}"),))


_RANK = {ClaimStanding.CONTRADICTED: 0, ClaimStanding.INCONCLUSIVE: 1, ClaimStanding.REPRODUCED: 2}


def deciding_of(checks: Sequence[Check]) -> Check | None:
    """The check that contradicts, most of all by its bounds; else one that is open; else the one
    nearest to its bounds."""

    def rank(check: Check) -> tuple[object, ...]:
        standing = _RANK[check.standing]
        return standing, check.is_below_margin, check.ratio is None, _room(check)

    return min(checks, key=rank, default=None)


def _room(check: Check) -> float:
    """How far the interval stays inside the bounds, in logarithms; negative where it does not."""
    if check.low is None or check.high is None:
        return 0.0
    below = math.inf if check.least is None else log_of(check.low) - math.log(check.least)
    above = math.inf if check.most is None else math.log(check.most) - log_of(check.high)
    return min(below, above)


def of_major(plan: Plan, major: str) -> str | None:
    """The level of ``server`` that is of a major version; the first, where there are several.
    ``<18``: the newest of those before it; ``>=18``: the oldest of it and those after it."""
    numbers = {level: server.version.major_number for level, server in plan.servers}
    if major.startswith("<"):
        older = [level for level in numbers if numbers[level] < int(major.removeprefix("<"))]
        return max(older, key=lambda level: numbers[level], default=None)
    if major.startswith(">="):
        later = [level for level in numbers if numbers[level] >= int(major.removeprefix(">="))]
        return min(later, key=lambda level: numbers[level], default=None)
    return next((level for level, server in plan.servers if server.version.major == major), None)
