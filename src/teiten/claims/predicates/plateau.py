"""The metric levels off, or falls, beyond the number of cores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import ClaimQuestion
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import ClaimCurve
from teiten.claims.forms import FORM, Tolerance
from teiten.claims.of_curves import ShapeOfCurve
from teiten.claims.questions import around, at_cores, between, steps


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
