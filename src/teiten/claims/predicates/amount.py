"""A number itself, not a ratio of two, lies within bounds: a metric, or the share of waiting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.claims.numbers import WAIT_SHARE
from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.claims.curves import ClaimCurve, CurveGround, OfCurves
from teiten.claims.forms import FORM, RatioBounds, Word

Floor = Annotated[float, Field(gt=0, strict=True)]


def _said(check: Check, words: ClaimWords) -> str:
    side = words.side(check.sides[0])
    what = words.plural("claim.amount", round(check.at[0]), side=side)
    if not check.metric:  # of a printed table
        return what
    return words("claim.amount-of", metric=words.metric(check.metric), what=what)


AMOUNT = CheckKind("amount", _said, is_amount=True)
"""The number at a level."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class AmountOfMetric(RatioBounds, OfCurves):
    """A number lies within bounds in its own unit, at every level of clients. What is less than
    ``floor`` counts as that: logarithms know no zero."""

    floor: Floor
    event: Word | None = None
    """The number is the share of the active backends' samples whose wait event holds this word
    (``wal``); None for the claim's metric."""
    kind: Literal["amount"] = "amount"
    counts: ClassVar[bool] = True

    def metric_of(self, claim: Claim) -> str:
        return f"{WAIT_SHARE}:{self.event}" if self.event else claim.metric

    def asked(
        self,
        curves: Sequence[ClaimCurve],
        machine: CurveGround,  # noqa: ARG002
    ) -> Iterator[ClaimQuestion]:
        for curve in curves:
            for level in curve.levels:
                values = curve.points[level]
                yield ClaimQuestion(
                    AMOUNT,
                    (curve.side,),
                    (level,),
                    {block: math.log(max(value, self.floor)) for block, value in values.items()},
                    *self.log_bounds,
                )
