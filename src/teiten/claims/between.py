"""Curves of two systems, of one campaign each: nothing is paired.

An effect between systems is asked of unpaired values: Welch's interval of the blocks' means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from teiten.analysis.across.unpaired import estimate_unpaired
from teiten.analysis.claims.checks import check_of
from teiten.analysis.model.claims import Check, Claim, ClaimQuestion
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable, block_means, logarithm
from teiten.analysis.model.observations import Context
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import CLIENTS, ClaimCurve
from teiten.claims.sides import ClaimSide


@dataclass(frozen=True)
class SystemCurves:
    """The two systems of a finding, old first."""

    old: ClaimCurve
    new: ClaimCurve
    cores: int
    delta: float
    alpha: float


def system_curves(claim: Claim, systems: Systems, metric: str) -> SystemCurves:
    """A metric by clients of both systems, on the newest server that both campaigns have.

    Raises UnmetError where the campaigns do not have it.
    """
    a, b = systems.comparison.a, systems.comparison.b
    contrast = claim.contrast
    names = (contrast.old, contrast.new) if contrast else claim.needs.systems
    results = [
        result
        for result in systems.comparison.results
        if result.workload == claim.workload and result.metric.judged
    ]
    if not results:
        raise UnmetError("workload", workload=claim.workload)
    result = results[-1]
    sides = {a.facts.system: result.side.a, b.facts.system: result.side.b}
    contexts = [level.context for level in result.levels]
    old, new = (
        ClaimCurve(name, _points(claim, sides[name], systems.here[name], contexts, metric))
        for name in names
    )
    measure = a.plan.study.measure
    return SystemCurves(old, new, a.facts.cpu.logical, measure.delta, measure.alpha)


def _points(
    claim: Claim, side: str, evidence: EvidenceTable, contexts: Sequence[Context], metric: str
) -> dict[float, Blocks]:
    others = sorted({name for context in contexts for name, _ in context} - {CLIENTS})
    if others:
        raise UnmetError("factors", factors=", ".join(others))
    contrast = evidence.plan.study.contrast
    return {
        float(dict(context)[CLIENTS]): ClaimSide(
            side, claim.workload, {**dict(context), contrast: side}
        ).blocks(evidence, metric)
        for context in contexts
    }


def contrast_checks(found: SystemCurves, asked: Sequence[ClaimQuestion]) -> tuple[Check, ...]:
    """Each question by Welch's interval."""
    return tuple(_check(one, found, len(asked)) for one in asked)


def _check(question: ClaimQuestion, found: SystemCurves, among: int) -> Check:
    old, new = (_block_means(one, question.at) for one in (found.old, found.new))
    check = check_of(
        question, found.alpha, lambda _values, at: estimate_unpaired(old, new, at), among=among
    )
    return replace(check, pairs=min(len(old), len(new)))


def _block_means(curve: ClaimCurve, levels: Sequence[float]) -> list[float]:
    """The mean of ln over the levels for each block that has them all; NaN for a zero."""
    logs = [
        {block: logarithm(value) for block, value in curve.points[level].items()}
        for level in levels
    ]
    return list(block_means(logs).values())
