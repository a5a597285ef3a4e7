"""The metric stays where it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import ClaimQuestion
from teiten.claims.curves import ClaimCurve
from teiten.claims.forms import FORM, Span, Tolerance, Yes
from teiten.claims.of_curves import ShapeOfCurve
from teiten.claims.questions import AT_CORES, around, between, beyond_reach


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
            yield between(curve, levels[-1], beyond[-1], 0.0, math.inf)
