"""Curves on which claims are checked: a metric by level, for each side, block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from teiten.analysis.model.claims import Claim, PublishedCurves
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes
from teiten.claims.forms import Span
from teiten.claims.sides import ANY_BLOCK, places_of
from teiten.model.study import SERVER

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
        if claim.contrast is not None:
            labels = [side.label for side in place.sides]
        else:
            labels = [place.sides[0].at.get(SERVER) or servers[0][0]]
        curves = (
            ClaimCurve(
                label,
                {
                    float(level): side.further(axis, level).blocks(evidence, metric)
                    for level in levels
                },
            )
            for label, side in zip(labels, place.sides, strict=True)
        )
        yield place.server if claim.contrast is not None else "", tuple(curves)
