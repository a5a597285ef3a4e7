"""About a metric by clients or cores: curves, the questions asked of them, and their words.

Everything that a predicate asks is a mean over blocks of a logarithm of a ratio, and two bounds, so
that measured curves (with an interval) and published ones (without) are asked the same.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.claims.checks import check_of, estimated
from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimQuestion,
    PublishedCurves,
)
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.forms import Span, worded
from teiten.claims.sides import ANY_BLOCK, ClaimSide, places_of
from teiten.model.plan import Context
from teiten.model.study import SERVER
from teiten.model.units import Share

CLIENTS = "clients"
CORES = "cores"


@dataclass(frozen=True)
class ClaimCurve:
    """A metric of one side, by clients (or cores)."""

    side: str
    points: Mapping[float, Blocks]
    """Level to block to value. A planned level without a counted trial has no blocks."""

    @property
    def levels(self) -> tuple[float, ...]:
        return tuple(sorted(self.points))

    def within(self, span: Span, cores: int) -> tuple[float, ...]:
        """The levels of a span."""
        if span.clients is not None:
            return tuple(level for level in self.levels if level == span.clients)
        least = -math.inf if span.least is None else span.least * cores
        most = math.inf if span.most is None else span.most * cores
        return tuple(level for level in self.levels if least <= level <= most)


def level_changes(old: ClaimCurve, at: float, new: ClaimCurve, to: float) -> dict[int, float]:
    """ln(new at ``to`` / old at ``at``) by block; NaN where a value has no logarithm."""
    return log_changes(old.points[at], new.points[to])


@dataclass(frozen=True, eq=False)
class _Points(Mapping[float, Blocks]):
    """The points of a measured curve, read where they are asked for: a finding about some of its
    levels reads no others."""

    sides: Mapping[float, ClaimSide]
    evidence: EvidenceTable
    metric: str

    def __getitem__(self, level: float) -> Blocks:
        return self.sides[level].blocks(self.evidence, self.metric)

    def __contains__(self, level: object) -> bool:
        return level in self.sides

    def __iter__(self) -> Iterator[float]:
        return iter(self.sides)

    def __len__(self) -> int:
        return len(self.sides)


def published(curves: PublishedCurves) -> tuple[ClaimCurve, ...]:
    return tuple(
        ClaimCurve(curve.label, {level: {ANY_BLOCK: value} for level, value in curve.points})
        for curve in curves.curves
    )


def measured(
    claim: Claim, evidence: EvidenceTable, *, metric: str, axis: str = CLIENTS
) -> Iterator[tuple[str, tuple[ClaimCurve, ...]]]:
    """The curves of a claim by the server on which it is checked, where the campaign has several:
    old and new of a contrast, else one named like its server. Raises UnmetError where the campaign
    has none.
    """
    servers = evidence.plan.servers
    for place in places_of(claim, evidence, along=(axis,)):
        levels = evidence.levels(claim.workload).get(axis, ())
        labels = place.labels
        if claim.contrast is None:
            labels = (place.sides[0].at.get(SERVER) or servers[0][0],)
        curves = (
            ClaimCurve(
                label,
                _Points({float(at): side.further(axis, at) for at in levels}, evidence, metric),
            )
            for label, side in zip(labels, place.sides, strict=True)
        )
        yield place.server if claim.contrast is not None else "", tuple(curves)


RISES = (0.0, math.inf)
"""Bounds of a number that is above another."""


def between(
    curve: ClaimCurve, first: float, second: float, low: float, high: float
) -> ClaimQuestion:
    changes = level_changes(curve, first, curve, second)
    return ClaimQuestion(LEVELS, (curve.side,), (first, second), changes, low, high)


def from_line(
    curve: ClaimCurve, levels: tuple[float, float, float], low: float, high: float
) -> ClaimQuestion:
    """Ask of ln(value / straight line through the ends) at a middle level; NaN as in
    level_changes."""
    first, middle, last = levels
    ends = (curve.points[first], curve.points[middle], curve.points[last])
    weight = (middle - first) / (last - first)
    changes: dict[int, float] = {}
    for block in sorted(set.intersection(*(set(end) for end in ends))):
        start, value, end = (end[block] for end in ends)
        line = start + weight * (end - start)
        usable = min(start, value, end) > 0 and math.isfinite(value + line)
        changes[block] = math.log(value / line) if usable else math.nan
    return ClaimQuestion(LINE, (curve.side,), levels, changes, low, high)


def around(share: float) -> tuple[float, float]:
    """The band of a share: from 1 - share to its reciprocal, so that it is symmetric in ratios."""
    return math.log1p(-share), -math.log1p(-share)


def beyond_reach(span: Span) -> UnmetError:
    if span.clients is not None:
        return UnmetError("levels-clients", clients=str(span.clients))
    if span.most is None:
        return UnmetError("levels-beyond", least=f"{span.least or 0:g}")
    return UnmetError("levels-up-to", most=f"{span.most:g}")


LEVELS = CheckKind("levels", worded("claim.levels", sides=("side",), at=("first", "second")))
"""The second level and the first."""
LINE = CheckKind("line", worded("claim.line", sides=("side",), at=("first", "middle", "last")))
"""The middle level and the straight line through the others."""


DELTA_IN_PRINT = 0.02


@dataclass(frozen=True)
class CurveGround:
    """Numbers, besides the curves, on which the questions asked of curves depend."""

    cores: int
    delta: float


class OfCurves(Predicate):
    """About curves, block by block."""

    @property
    def axis(self) -> str:
        """The factor along which they go."""
        return CLIENTS

    def metric_of(self, claim: Claim) -> str:
        """The name under which its values are observed."""
        return claim.metric

    def quantities(self, claim: Claim) -> tuple[str]:
        return (self.metric_of(claim),)

    @abstractmethod
    def asked(self, curves: Sequence[ClaimCurve], machine: CurveGround) -> Iterator[ClaimQuestion]:
        """Yield the questions asked of curves. Raises UnmetError where they do not reach as far as
        the predicate looks."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        machine = CurveGround(ground.cores, ground.plan.study.measure.delta)
        by_server = measured(claim, ground.evidence, metric=self.metric_of(claim), axis=self.axis)
        for server, curves in by_server:
            for question in self.asked(curves, machine):
                yield replace(question, server=server, metric=self.metric_of(claim))

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        table = claim.published
        if isinstance(table, PublishedCurves):
            yield from self.asked(published(table), CurveGround(table.cores, DELTA_IN_PRINT))

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        known = system_curves(claim, systems, self.metric_of(claim))
        asked = tuple(self.asked((known.old, known.new), CurveGround(known.cores, known.delta)))
        return tuple(self.of_systems(question, known, len(asked)) for question in asked)

    def of_systems(self, question: ClaimQuestion, known: SystemCurves, among: int) -> Check:
        """Check the shape of each system's curve by itself."""
        values = known.here[question.sides[0]].alone(question.values)
        return check_of(replace(question, values=values), known.alpha, estimated, among=among)


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
    delta: Share
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
