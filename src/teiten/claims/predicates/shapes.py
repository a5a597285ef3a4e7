"""Shapes of a curve: flat, linear, rising, proportional to the cores, levelling off beyond them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import (
    AT_CORES,
    CORES,
    RISES,
    ClaimCurve,
    ShapeOfCurve,
    around,
    at_cores,
    between,
    beyond_reach,
    from_line,
    level_changes,
    steps,
)
from teiten.claims.forms import FORM, Ratio, Span, Tolerance, Yes


@dataclass(frozen=True, config=FORM, kw_only=True)
class Flat(Span, ShapeOfCurve):
    """The metric stays within a share of its value at the first level of the span."""

    within: Tolerance
    rises_beyond: Yes = False
    """Beyond the span it is higher than at its end."""
    kind: Literal["flat"] = "flat"

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        levels = curve.within(self, cores)
        reached = self.most is None or (bool(levels) and levels[-1] >= AT_CORES * self.most * cores)
        if len(levels) < 2 or not reached:
            raise beyond_reach(self)
        for level in levels[1:]:
            yield between(curve, levels[0], level, *around(self.within))
        if self.rises_beyond:
            beyond = [level for level in curve.levels if level > levels[-1]]
            if not beyond:
                raise beyond_reach(Span(least=self.most))
            yield between(curve, levels[-1], beyond[-1], *RISES)


@dataclass(frozen=True, config=FORM, kw_only=True)
class Linear(Span, ShapeOfCurve):
    """Over a span, by itself from the cores on, the metric lies on a rising straight line, within a
    share."""

    within: Tolerance
    kind: Literal["linear"] = "linear"

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        from_cores = self.least is None and self.most is None
        levels = curve.within(Span(least=AT_CORES) if from_cores else self, cores)
        if len(levels) < 3:
            raise UnmetError("levels-from-cores" if from_cores else "levels-for-line")
        first, last = levels[0], levels[-1]
        yield between(curve, first, last, *RISES)
        for level in levels[1:-1]:
            yield from_line(curve, (first, level, last), *around(self.within))


@dataclass(frozen=True, config=FORM)
class Plateau(ShapeOfCurve):
    """The metric rises up to the number of cores; beyond it, it stays within a share, or falls."""

    within: Tolerance | None = None
    """A share of the value at the cores; None: every level beyond is lower."""
    kind: Literal["plateau"] = "plateau"

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        at = at_cores(curve, cores)
        before = [level for level in curve.levels if level <= at]
        beyond = [level for level in curve.levels if level > max(at, cores)]
        if len(before) < 2 or not beyond:
            raise UnmetError("levels-around-cores")
        yield from steps(curve, before)
        bounds = (-math.inf, 0.0) if self.within is None else around(self.within)
        for level in beyond:
            yield between(curve, at, level, *bounds)


@dataclass(frozen=True, config=FORM)
class Rising(ShapeOfCurve):
    """The metric rises at every step up to ``to`` clients per core."""

    to: Ratio
    slower_beyond: Yes = False
    """Beyond that it rises by less for each client than before."""
    kind: Literal["rising"] = "rising"

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        levels = [level for level in curve.levels if level <= self.to * cores]
        if len(levels) < 2 or levels[-1] < AT_CORES * self.to * cores:
            raise beyond_reach(Span(most=self.to))
        yield from steps(curve, levels)
        if not self.slower_beyond:
            return
        beyond = [level for level in curve.levels if level > self.to * cores]
        if not beyond:
            raise beyond_reach(Span(least=self.to))
        yield from_line(curve, (levels[0], levels[-1], beyond[-1]), *RISES)


def _per_core(check: Check, words: ClaimWords) -> str:
    first, second = (words.number(level) for level in check.at)
    return words("claim.per-core", side=words.side(check.sides[0]), first=first, second=second)


PER_CORE = CheckKind("per-core", _per_core)
"""The metric per core at the second level and at the first."""


@dataclass(frozen=True, config=FORM)
class Proportional(ShapeOfCurve):
    """The metric is proportional to the number of cores, within a share."""

    within: Tolerance
    kind: Literal["proportional"] = "proportional"
    axis: ClassVar[str] = CORES

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:  # noqa: ARG002
        first, *others = curve.levels or (0.0,)
        if not others:
            raise UnmetError("levels-of-cores")
        for level in others:
            changes = level_changes(curve, first, curve, level)
            values = {block: change - math.log(level / first) for block, change in changes.items()}
            yield ClaimQuestion(
                PER_CORE, (curve.side,), (first, level), values, *around(self.within)
            )
