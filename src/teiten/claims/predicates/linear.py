"""The metric lies on a straight line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import ClaimQuestion
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import ClaimCurve
from teiten.claims.forms import FORM, Span, Tolerance
from teiten.claims.of_curves import ShapeOfCurve
from teiten.claims.questions import AT_CORES, around, between, from_line
from teiten.claims.told import LINE


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
        yield between(curve, first, last, 0.0, math.inf)
        for level in levels[1:-1]:
            yield ClaimQuestion(
                LINE,
                (curve.side,),
                (first, level, last),
                from_line(curve, first, level, last),
                *around(self.within),
            )
