"""A number itself, not a ratio of two, lies within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.claims.curves import ClaimCurve
from teiten.claims.forms import FORM, RatioBounds
from teiten.claims.of_curves import CurveGround, OfCurves
from teiten.claims.questions import log_bound

Floor = Annotated[float, Field(gt=0, strict=True)]


def _said(check: Check, words: ClaimWords) -> str:
    side = words.side(check.sides[0])
    return words.plural("claim.amount", round(check.at[0]), side=side)


AMOUNT = CheckKind("amount", _said)
"""The number at a level."""


class OfAmounts(OfCurves):
    """About numbers that may be zero."""

    counts: ClassVar[bool] = True
    low: float | None
    high: float | None
    floor: float

    def asked(
        self,
        curves: Sequence[ClaimCurve],
        machine: CurveGround,  # noqa: ARG002
    ) -> Iterator[ClaimQuestion]:
        for curve in curves:
            for level in curve.levels:
                values = (max(one, self.floor) for _, one in sorted(curve.points[level].items()))
                yield ClaimQuestion(
                    AMOUNT,
                    (curve.side,),
                    (level,),
                    tuple(math.log(value) for value in values),
                    log_bound(self.low, -math.inf),
                    log_bound(self.high, math.inf),
                )


@dataclass(frozen=True, config=FORM, kw_only=True)
class AmountOfMetric(RatioBounds, OfAmounts):
    """The metric lies within bounds in its own unit, at every level of clients. What is less than
    ``floor`` counts as that: logarithms know no zero."""

    floor: Floor
    kind: Literal["amount"] = "amount"
