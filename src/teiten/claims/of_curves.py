"""Predicates about a metric by clients or cores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from teiten.analysis.across.unpaired import unpaired_check
from teiten.analysis.claims.checks import check_of, student
from teiten.analysis.model.claims import Check, Claim, ClaimQuestion, PublishedCurves
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable, block_means, logarithm
from teiten.analysis.model.observations import Context
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.curves import CLIENTS, ClaimCurve, level_changes, measured, published
from teiten.claims.forms import Bounds
from teiten.claims.questions import CONTRAST, level_groups
from teiten.claims.sides import ClaimSide

DELTA_IN_PRINT = 0.02


@dataclass(frozen=True)
class CurveGround:
    """Numbers, besides the curves, on which the questions asked of curves depend."""

    cores: int
    delta: float


class OfCurves(Predicate):
    """About curves, block by block."""

    axis: ClassVar[str] = CLIENTS

    def metric_of(self, claim: Claim) -> str:
        """The name under which its values are observed."""
        return claim.metric

    @abstractmethod
    def asked(self, curves: Sequence[ClaimCurve], machine: CurveGround) -> Iterator[ClaimQuestion]:
        """Yield the questions asked of curves. Raises UnmetError where they do not reach as far as
        the predicate looks."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        machine = CurveGround(ground.cores, ground.plan.study.measure.delta)
        by_server = measured(claim, ground.evidence, metric=self.metric_of(claim), axis=self.axis)
        for server, curves in by_server:
            for question in self.asked(curves, machine):
                yield replace(question, server=server)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        table = claim.published
        if isinstance(table, PublishedCurves):
            yield from self.asked(published(table), CurveGround(table.cores, DELTA_IN_PRINT))

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        """The shape of each system's curve, by itself."""
        known = system_curves(claim, systems, self.metric_of(claim))
        asked = tuple(
            replace(question, values=known.here[question.sides[0]].alone(question.values))
            for question in self.asked(
                (known.old, known.new), CurveGround(known.cores, known.delta)
            )
        )
        return tuple(
            check_of(question, known.alpha, student, among=len(asked)) for question in asked
        )


class ContrastOfCurves(OfCurves):
    """About new against old."""

    compares: ClassVar[bool] = True

    @abstractmethod
    def bounds(self, delta: float) -> Sequence[Bounds]:
        """Where the ratios must lie. ``delta``: the campaign's."""

    def asked(self, curves: Sequence[ClaimCurve], machine: CurveGround) -> Iterator[ClaimQuestion]:
        old, new = curves
        for part in self.bounds(machine.delta):
            for group in level_groups(part, old, new, machine.cores):
                changes = [level_changes(old, level, new, level) for level in group]
                yield ClaimQuestion(
                    CONTRAST,
                    (old.side, new.side),
                    tuple(group),
                    block_means(changes),
                    *part.log_bounds,
                    averaged=len(group),
                )

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        """Check unpaired values: no block of the one system belongs to one of the other."""
        known = system_curves(claim, systems, self.metric_of(claim))
        asked = tuple(self.asked((known.old, known.new), CurveGround(known.cores, known.delta)))
        return tuple(
            unpaired_check(question, _samples(known, question), known.alpha, among=len(asked))
            for question in asked
        )


class ShapeOfCurve(OfCurves):
    """About the curve of each server."""

    @abstractmethod
    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        """Yield the questions asked of one curve. Raises UnmetError as ``asked`` does."""

    def asked(self, curves: Sequence[ClaimCurve], machine: CurveGround) -> Iterator[ClaimQuestion]:
        for curve in curves:
            yield from self.shape(curve, machine.cores)


@dataclass(frozen=True)
class SystemCurves:
    """The two systems of a finding, old first."""

    old: ClaimCurve
    new: ClaimCurve
    cores: int
    delta: float
    alpha: float
    here: Mapping[str, EvidenceTable]
    """The numbers of each system, by its name."""


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
    cores = a.facts.cpu.logical
    return SystemCurves(old, new, cores, measure.delta, measure.alpha, systems.here)


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


def _samples(known: SystemCurves, question: ClaimQuestion) -> list[tuple[float, ...]]:
    curves = (known.old, known.new)
    return [_means(curve, question.at, known.here[curve.side]) for curve in curves]


def _means(
    curve: ClaimCurve, levels: Sequence[float], evidence: EvidenceTable
) -> tuple[float, ...]:
    """The mean of ln over the levels for each start that has them all; NaN for a zero."""
    logs = [
        {block: logarithm(value) for block, value in curve.points[level].items()}
        for level in levels
    ]
    return tuple(evidence.alone(block_means(logs)).values())
