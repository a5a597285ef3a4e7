"""Findings on one probe: new against old lies within bounds, and which of its parts is quicker."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimQuestion,
    ClaimWords,
    PublishedQueries,
)
from teiten.analysis.model.evidence import Blocks
from teiten.analysis.model.predicate import Ground
from teiten.claims.forms import FORM, Ratio, Word, Yes
from teiten.claims.questions import log_bound
from teiten.claims.sides import ANY_BLOCK
from teiten.kinds.probes.claims.cells import cells_of, contrasted_cells, ratios
from teiten.kinds.probes.claims.measures import OfProbe, printed, told
from teiten.study.tables import Words


def _said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    return told(check, words, "claim.probe-ratio", probe=check.classes[0][0], old=old, new=new)


PROBE_RATIO = CheckKind("probe-ratio", _said, of_sides=True)
"""New and old."""


@dataclass(frozen=True, config=FORM)
class ProbeEffect(OfProbe):
    """The ratio new/old of the claim's contrast lies within bounds, or within the campaign's ±δ."""

    probe: Word
    low: Ratio | None = None
    high: Ratio | None = None
    equivalent: Yes = False
    quantity: str = ""
    """The row of the published table that has it."""
    kind: Literal["probe-effect"] = "probe-effect"
    compares: ClassVar[bool] = True

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.equivalent == (self.low is not None or self.high is not None):
            raise ValueError("needs either low, high or both, or equivalent = true")
        return self

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        delta = ground.plan.study.measure.delta
        for old, new in contrasted_cells(claim, ground, self.probe):
            sides = (old.level, new.level)
            yield self._question(claim, sides, ratios(old, new), delta, old.server)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        numbers = printed(claim, self.quantity)
        table = claim.published
        known = len(numbers) == 2 and min(numbers) > 0 and not self.equivalent
        if known and isinstance(table, PublishedQueries):
            sides = tuple(column.label for column in table.columns)
            yield self._question(
                claim, sides, {ANY_BLOCK: math.log(numbers[1] / numbers[0])}, 0.0, ""
            )

    def _question(
        self,
        claim: Claim,
        sides: tuple[str, ...],
        changes: Blocks,
        delta: float,
        server: str,
    ) -> ClaimQuestion:
        band = math.log1p(delta)
        return ClaimQuestion(
            PROBE_RATIO,
            sides,
            (),
            changes,
            -band if self.equivalent else log_bound(self.low, -math.inf),
            band if self.equivalent else log_bound(self.high, math.inf),
            classes=((self.probe,),),
            server=server,
            metric=claim.metric,
        )


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
