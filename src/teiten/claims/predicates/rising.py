"""The metric rises at every step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import ClaimQuestion
from teiten.claims.curves import ClaimCurve
from teiten.claims.forms import FORM, Ratio, Span, Yes
from teiten.claims.of_curves import ShapeOfCurve
from teiten.claims.questions import AT_CORES, beyond_reach, from_line, steps
from teiten.claims.told import LINE


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
        first, turn, last = levels[0], levels[-1], beyond[-1]
        yield ClaimQuestion(
            LINE,
            (curve.side,),
            (first, turn, last),
            from_line(curve, first, turn, last),
            0.0,
            math.inf,
        )
