"""Published findings about two operating systems, checked on two campaigns.

An effect between systems is asked of unpaired values (Welch's interval of block means); a finding
about the shape of each system's curve is asked of each campaign by itself, block by block.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.across.published_queries import Observed, query_checks, unpaired
from teiten.analysis.claims.checks import check_of, student
from teiten.analysis.claims.curves import CLIENTS, Curve
from teiten.analysis.claims.outcomes import deciding_of, in_print, other_question, standing_of
from teiten.analysis.claims.questions import (
    Ground,
    Question,
    UnmetError,
    level_groups,
    log_bound,
    questions,
    within_delta,
)
from teiten.analysis.model.comparison import Comparison
from teiten.analysis.verdict.pairs import Observation
from teiten.analysis.verdict.verdict import log_ratio
from teiten.model.claims import (
    Bounds,
    Check,
    CheckKind,
    Claim,
    ClaimOutcome,
    ClaimStanding,
    Effect,
    NoDifference,
    Reason,
)
from teiten.model.query_claims import QueryPredicate


@dataclass(frozen=True)
class Sides:
    """The two systems of a finding, old first."""

    old: Curve
    new: Curve
    cores: int
    delta: float
    alpha: float


def assess_comparison(
    claims: Sequence[Claim],
    comparison: Comparison,
    of_a: Sequence[Observation],
    of_b: Sequence[Observation],
) -> tuple[ClaimOutcome, ...]:
    """The outcome of each finding about two systems; others are left to each campaign's report."""
    return tuple(_assess(claim, comparison, of_a, of_b) for claim in claims if claim.needs.compared)


def _assess(
    claim: Claim,
    comparison: Comparison,
    of_a: Sequence[Observation],
    of_b: Sequence[Observation],
) -> ClaimOutcome:
    printed = in_print(claim)
    try:
        here = systems_of(claim, comparison, of_a, of_b)
        if isinstance(claim.predicate, QueryPredicate):
            checks = query_checks(claim, claim.predicate, here)
        else:
            checks = tuple(_checks(claim, _sides(claim, comparison, here)))
    except UnmetError as unmet:
        return ClaimOutcome(claim, ClaimStanding.NOT_APPLICABLE, unmet.reason, in_print=printed)
    conclusive = all(one.plan.study.conclusive for one in (comparison.a, comparison.b))
    standing, reason = standing_of(checks, conclusive=conclusive)
    return ClaimOutcome(claim, standing, reason, checks, deciding_of(checks), printed)


def systems_of(
    claim: Claim,
    comparison: Comparison,
    of_a: Sequence[Observation],
    of_b: Sequence[Observation],
) -> dict[str, Observed]:
    """The campaigns by their operating systems. Raises UnmetError where they do not do what the
    claim is about, or not on the same hardware."""
    a, b = comparison.a, comparison.b
    for one in (a, b):
        unmet = other_question(claim, one.plan)
        if unmet is not None:
            raise UnmetError(unmet.code, **dict(unmet.values))
    here = {a.facts.system: (a, of_a), b.facts.system: (b, of_b)}
    if set(here) != set(claim.needs.systems):
        listed = f"{a.facts.system}, {b.facts.system}"
        raise UnmetError("systems", needed=", ".join(claim.needs.systems), here=listed)
    hardware = [(one.facts.cpu.model, one.facts.cpu.logical) for one in (a, b)]
    if hardware[0] != hardware[1]:
        raise UnmetError("hardware")
    return here


def _sides(claim: Claim, comparison: Comparison, here: Mapping[str, Observed]) -> Sides:
    """The curves of the two systems. Raises UnmetError where the campaigns do not have them."""
    a, b = comparison.a, comparison.b
    contrast = claim.contrast
    systems = (contrast.old, contrast.new) if contrast else claim.needs.systems
    result = next(
        (
            one
            for one in reversed(comparison.results)
            if (one.workload, one.metric.name) == (claim.workload, "tps")
        ),
        None,
    )
    if result is None:
        raise UnmetError("workload", workload=claim.workload)
    levels = {a.facts.system: result.side.a, b.facts.system: result.side.b}
    contexts = [level.context for level in result.levels]
    old, new = (
        _curve(claim, system, levels[system], here[system][1], contexts) for system in systems
    )
    measure = a.plan.study.measure
    return Sides(old, new, a.facts.cpu.logical, measure.delta, measure.alpha)


def _curve(
    claim: Claim,
    system: str,
    side: str,
    found: Sequence[Observation],
    contexts: Sequence[tuple[tuple[str, str], ...]],
) -> Curve:
    """A metric by clients on the newest server that both campaigns have."""
    others = sorted({name for context in contexts for name, _ in context} - {CLIENTS})
    if others:
        raise UnmetError("factors", factors=", ".join(others))
    points: dict[float, dict[int, float]] = {
        float(level): {} for context in contexts for _, level in context
    }
    for one in found:
        value = one.metrics.get(claim.metric, math.nan)
        wanted = (one.workload, one.side) == (claim.workload, side)
        if wanted and one.context in contexts and not math.isnan(value):
            points[float(one.context[0][1])][one.block] = value
    return Curve(system, points)


def _checks(claim: Claim, sides: Sides) -> Iterator[Check]:
    match claim.predicate:
        case Effect(parts):
            yield from _effects(parts, sides)
        case NoDifference():
            yield from _effects((within_delta(sides.delta),), sides)
        case predicate if not isinstance(predicate, QueryPredicate):
            ground = Ground(sides.cores, sides.delta)
            asked = questions(predicate, (sides.old, sides.new), ground)
            if isinstance(asked, Reason):
                raise UnmetError(asked.code, **dict(asked.values))
            for one in asked:
                yield check_of(one, sides.alpha / len(asked), student)


def _effects(parts: Sequence[Bounds], sides: Sides) -> Iterator[Check]:
    groups = [
        (part, group)
        for part in parts
        for group in level_groups(part, sides.old, sides.new, sides.cores)
    ]
    for part, group in groups:
        yield _effect(part, group, sides, sides.alpha / len(groups))


def _effect(part: Bounds, group: Sequence[float], sides: Sides, alpha: float) -> Check:
    old, new = (_block_means(one, group) for one in (sides.old, sides.new))
    question = Question(
        CheckKind.CONTRAST,
        (sides.old.side, sides.new.side),
        tuple(group),
        (),
        log_bound(part.low, -math.inf),
        log_bound(part.high, math.inf),
    )
    estimate = unpaired(old, new, alpha)
    check = check_of(question, alpha, lambda _values, _alpha: estimate)
    return replace(check, pairs=min(len(old), len(new)))


def _block_means(curve: Curve, levels: Sequence[float]) -> list[float]:
    """The mean of ln over the levels for each block that has them all; NaN for a zero."""
    blocks = set.intersection(*(set(curve.points[level]) for level in levels))
    means = []
    for block in sorted(blocks):
        found = [log_ratio(1.0, curve.points[level][block]) for level in levels]
        means.append(math.fsum(math.nan if one is None else one for one in found) / len(found))
    return means
