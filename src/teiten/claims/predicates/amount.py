"""A number itself, not a ratio of two, lies within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.claims.checks import ClaimQuestion, check_of, counted, estimator_of
from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimWords
from teiten.analysis.model.predicate import Ground
from teiten.claims.curves import ClaimCurve, measured
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
                    tuple(math.log(one) for one in values),
                    log_bound(self.low, -math.inf),
                    log_bound(self.high, math.inf),
                )

    def checks(self, claim: Claim, ground: Ground) -> tuple[Check, ...]:
        """Of counts that are the same in every block each is known exactly."""
        curves = measured(claim, ground, metric=self.metric_of(claim), axis=self.axis)
        measure = ground.plan.study.measure
        asked = tuple(self.asked(curves, CurveGround(ground.cores, measure.delta)))
        estimator = counted(estimator_of(measure))
        return tuple(check_of(one, measure.alpha, estimator, among=len(asked)) for one in asked)


@dataclass(frozen=True, config=FORM, kw_only=True)
class AmountOfMetric(RatioBounds, OfAmounts):
    """The metric lies within bounds in its own unit, at every level of clients. What is less than
    ``floor`` counts as that: logarithms know no zero."""

    floor: Floor
    kind: Literal["amount"] = "amount"
