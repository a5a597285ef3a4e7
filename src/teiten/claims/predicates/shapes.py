"""Shapes of a curve: on a straight line, or rising up to a number of clients and less beyond it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Literal, Self

from pydantic import model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import AT_CORES, CheckKind, ClaimQuestion
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import (
    CLIENTS,
    CORES,
    RISES,
    ClaimCurve,
    ShapeOfCurve,
    around,
    between,
    beyond_reach,
    from_line,
    level_changes,
)
from teiten.claims.forms import FORM, Ratio, Span, Tolerance, Yes, worded


@dataclass(frozen=True, config=FORM, kw_only=True)
class Straight(Span, ShapeOfCurve):
    """Over a span the metric lies on a straight line, within a share. A rising line goes through
    the ends of the span, which by itself begins at the cores; a flat one through its first level;
    and a proportional one, of a metric by cores, through zero and its first level."""

    line: Literal["rising", "flat", "proportional"] = "rising"
    within: Tolerance
    rises_beyond: Yes = False
    """Beyond the span it is higher than at its end."""
    kind: Literal["straight"] = "straight"

    @property
    def axis(self) -> str:
        return CORES if self.line == "proportional" else CLIENTS

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        levels, band = self._levels(curve, cores), around(self.within)
        first, last = levels[0], levels[-1]
        if self.line == "rising":
            yield between(curve, first, last, *RISES)
            for level in levels[1:-1]:
                yield from_line(curve, (first, level, last), *band)
        else:
            question = between if self.line == "flat" else _from_proportion
            for level in levels[1:]:
                yield question(curve, first, level, *band)
        if self.rises_beyond:
            beyond = [level for level in curve.levels if level > last]
            if not beyond:
                raise beyond_reach(Span(least=self.most))
            yield between(curve, last, beyond[-1], *RISES)

    def _levels(self, curve: ClaimCurve, cores: int) -> tuple[float, ...]:
        """The levels on the line. Raises UnmetError where there are too few for one."""
        if self.line == "proportional":
            if len(curve.levels) < 2:
                raise UnmetError("levels-of-cores")
            return curve.levels
        if self.line == "flat":
            levels = curve.within(self, cores)
            reached = AT_CORES * (self.most or 0.0) * cores
            if len(levels) < 2 or levels[-1] < reached:
                raise beyond_reach(self)
            return levels
        from_cores = self.least is None and self.most is None
        levels = curve.within(Span(least=AT_CORES) if from_cores else self, cores)
        if len(levels) < 3:
            raise UnmetError("levels-from-cores" if from_cores else "levels-for-line")
        return levels


@dataclass(frozen=True, config=FORM)
class Rising(ShapeOfCurve):
    """The metric rises at every step up to ``to`` clients per core."""

    to: Ratio
    slower_beyond: Yes = False
    """Beyond that it rises by less for each client than before."""
    ends: Yes = False
    """Beyond that every level is lower, or with ``within`` about as high."""
    within: Tolerance | None = None
    """How far beyond that it may be from the value there, as a share of this."""
    kind: Literal["rising"] = "rising"

    @model_validator(mode="after")
    def _one_course(self) -> Self:
        if self.ends and self.slower_beyond:
            raise ValueError("beyond that, a rise either ends or is slower")
        if self.within is not None and not self.ends:
            raise ValueError("within is about a rise that ends")
        return self

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        levels = [level for level in curve.levels if level <= self.to * cores]
        beyond = [level for level in curve.levels if level > self.to * cores]
        if len(levels) < 2 or levels[-1] < AT_CORES * self.to * cores:
            raise self._unmet(Span(most=self.to))
        if not beyond and (self.slower_beyond or self.ends):
            raise self._unmet(Span(least=self.to))
        for lower, higher in itertools.pairwise(levels):
            yield between(curve, lower, higher, *RISES)
        if self.slower_beyond:
            yield from_line(curve, (levels[0], levels[-1], beyond[-1]), *RISES)
        if self.ends:
            bounds = (-math.inf, 0.0) if self.within is None else around(self.within)
            for level in beyond:
                yield between(curve, levels[-1], level, *bounds)

    def _unmet(self, span: Span) -> UnmetError:
        return UnmetError("levels-around-cores") if self.to == 1.0 else beyond_reach(span)


PER_CORE = CheckKind("per-core", worded("claim.per-core", sides=("side",), at=("first", "second")))
"""The metric per core at the second level and at the first."""


def _from_proportion(
    curve: ClaimCurve, first: float, second: float, low: float, high: float
) -> ClaimQuestion:
    changes = level_changes(curve, first, curve, second)
    values = {block: change - math.log(second / first) for block, change in changes.items()}
    return ClaimQuestion(PER_CORE, (curve.side,), (first, second), values, low, high)
