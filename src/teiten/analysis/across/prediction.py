"""Outcomes foretold for a second machine, and how many of them came true.

The rule is one sentence: a decided outcome is foretold to be the same where it would be with all
its intervals twice as wide (in logarithms), and where it does not hang on what the machines differ
in. A finding hangs on the processors where it asks for several of them, or compares several clients
or processors, and the machines have not as many; on the memory where its campaign needs more than
there is. Of what is left nothing is foretold: a rule that foretold everything would be right as
often as machines are alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from teiten.analysis.claims.checks import standing_between
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import Check, ClaimStanding
from teiten.analysis.model.collection import CollectionResult, Finding
from teiten.analysis.verdict.verdict import log_of
from teiten.model.units import Bytes

WIDER = 2.0
"""So many times as wide an interval still has to decide."""
DECIDED = (ClaimStanding.REPRODUCED, ClaimStanding.CONTRADICTED)


def foretold(result: CollectionResult, machine: SecondMachine) -> Iterator[ForetoldFinding]:
    """Foretell each finding of a collection for a second machine, in their order."""
    for finding in result.findings:
        claim, basis = finding.outcome.claim, _basis(finding, machine)
        outcome = {
            Basis.CLEAR: finding.standing,
            Basis.NEEDS_CORES: ClaimStanding.NOT_APPLICABLE,
        }.get(basis)
        yield ForetoldFinding(claim.id, claim.study, outcome, basis)


def _basis(finding: Finding, machine: SecondMachine) -> Basis:
    claim, campaign = finding.outcome.claim, finding.campaign
    if claim.needs.cores > machine.cores:
        return Basis.NEEDS_CORES
    if not finding.applies:
        return Basis.NOT_JUDGED
    if finding.standing not in DECIDED:
        return Basis.UNDECIDED
    if campaign.cores != machine.cores and _of_several(finding):
        return Basis.PROCESSORS
    if campaign.memory > machine.memory:
        return Basis.MEMORY
    widened = standing_of([_widened(check) for check in finding.outcome.checks])[0]
    return Basis.CLEAR if widened is finding.standing else Basis.NEAR


def _of_several(finding: Finding) -> bool:
    """Whether a finding asks for several processors, or compares several clients or processors."""
    levels = (level for check in finding.outcome.checks for level in check.at)
    return finding.outcome.claim.needs.cores > 1 or any(level > 1 for level in levels)


def _widened(check: Check) -> Check:
    """The check with its interval made wider around its ratio; as it is without one."""
    effect = check.effect
    if effect is None or min(effect.low, effect.ratio) <= 0 or math.isinf(effect.high):
        return check
    low = effect.ratio * (effect.low / effect.ratio) ** WIDER
    high = effect.ratio * (effect.high / effect.ratio) ** WIDER
    least = math.log(check.least) if check.least else -math.inf
    most = math.inf if check.most is None else log_of(check.most)
    wider = (math.log(effect.ratio), math.log(low), math.log(high))
    standing = standing_between(wider, wider, least, most, check.margin)
    return replace(check, low=low, high=high, standing=standing)


def checked(prediction: Prediction, second: CollectionResult) -> CheckedPrediction:
    """Compare what was foretold to be reproduced or contradicted with a second collection."""
    seen = {finding.outcome.claim.id: finding.standing for finding in second.findings}
    pairs = [
        (finding.id, finding.outcome, seen.get(finding.id, ClaimStanding.NOT_RUN))
        for finding in prediction.findings
        if finding.outcome in DECIDED
    ]

    def standing_as(*standings: ClaimStanding) -> tuple[str, ...]:
        return tuple(name for name, _, standing in pairs if standing in standings)

    right = tuple(name for name, outcome, standing in pairs if standing is outcome)
    undecided = standing_as(ClaimStanding.INCONCLUSIVE)
    not_judged = standing_as(ClaimStanding.NOT_APPLICABLE, ClaimStanding.NOT_RUN)
    known = {*right, *undecided, *not_judged}
    opposite = tuple(name for name, *_ in pairs if name not in known)
    return CheckedPrediction(right, undecided, opposite, not_judged)


@dataclass(frozen=True)
class SecondMachine:
    """The facts of a machine on which outcomes depend."""

    cores: int
    """Processors that Teiten may use there."""
    memory: Bytes


class Basis(StrEnum):
    """Why an outcome is foretold, or none is."""

    CLEAR = "clear"
    """It is the same with intervals twice as wide."""
    NEEDS_CORES = "needs-cores"
    """The finding asks for more processors than there are."""
    NOT_JUDGED = "not-judged"
    """Nothing judged it here."""
    UNDECIDED = "undecided"
    PROCESSORS = "processors"
    """It is about several clients or processors, and the machines have not as many."""
    MEMORY = "memory"
    """Its campaign needs more memory than there is."""
    NEAR = "near"
    """Intervals twice as wide do not decide it."""


@dataclass(frozen=True)
class ForetoldFinding:
    id: str
    study: str
    outcome: ClaimStanding | None
    """None where nothing is foretold."""
    basis: Basis


@dataclass(frozen=True)
class Prediction:
    """The outcomes that a collection foretells."""

    collection: str
    """The name of the one that it was made from."""
    digest: str
    """SHA-256 of that one's findings.json, as it stood."""
    made_at: float
    """Seconds since the epoch."""
    machine: SecondMachine
    findings: tuple[ForetoldFinding, ...]


@dataclass(frozen=True)
class CheckedPrediction:
    """Decided outcomes that were foretold, by what the second machine says of them."""

    right: tuple[str, ...]
    """Findings with the outcome that was foretold."""
    undecided: tuple[str, ...]
    """Inconclusive there, which is not the outcome that was foretold."""
    opposite: tuple[str, ...]
    not_judged: tuple[str, ...]
    """Neither right nor wrong: no campaign has judged them there."""

    @property
    def judged(self) -> int:
        return len(self.right) + len(self.undecided) + len(self.opposite)
