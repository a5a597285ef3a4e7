"""The levels of a factor have an order by a probe's number."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Claim, ClaimQuestion
from teiten.analysis.model.predicate import Ground
from teiten.claims.forms import FORM, Word
from teiten.kinds.probes.claims.cells import cells_of, ratios
from teiten.kinds.probes.claims.effect import PROBE_RATIO
from teiten.kinds.probes.claims.predicate import OfProbe
from teiten.study.tables import Words


@dataclass(frozen=True, config=FORM)
class ProbeOrder(OfProbe):
    """From the level with the least number to the one with the greatest, each above the one before
    it: ``first``, ``middle``, ``last`` of the factor."""

    probe: Word
    factor: Word
    order: Annotated[Words, Field(min_length=2)]
    kind: Literal["probe-order"] = "probe-order"

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for cells in cells_of(claim, ground, self.probe, self.factor, self.order):
            for lower, higher in itertools.pairwise(cells):
                yield ClaimQuestion(
                    PROBE_RATIO,
                    (lower.level, higher.level),
                    (),
                    ratios(lower, higher),
                    0.0,
                    math.inf,
                    classes=((self.probe,),),
                    server=lower.server,
                    metric=claim.metric,
                )
