"""The ratio of new and old lies within bounds, for one probe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Self

from pydantic import model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.claims.checks import ClaimQuestion, check_of, exact
from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimWords,
    PublishedQueries,
)
from teiten.analysis.model.predicate import Ground
from teiten.claims.forms import FORM, Ratio, Word, Yes
from teiten.claims.questions import log_bound
from teiten.kinds.probes.claims.cells import cells_of, ratios
from teiten.kinds.probes.claims.predicate import OfProbe, printed, told


def _said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(one) for one in check.sides)
    return told(check, words, "claim.probe-ratio", probe=check.classes[0][0], old=old, new=new)


PROBE_RATIO = CheckKind("probe-ratio", _said)
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

    def asked(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        contrast = claim.contrast
        assert contrast is not None
        ends = (contrast.old, contrast.new)
        delta = ground.plan.study.measure.delta
        for old, new in cells_of(claim, ground, self.probe, contrast.factor, ends):
            sides = (old.level, new.level)
            yield self._question(claim, sides, ratios(old, new), delta, old.server)

    def in_print(self, claim: Claim) -> Sequence[Check]:
        found = printed(claim, self.quantity)
        if len(found) != 2 or min(found) <= 0 or self.equivalent:
            return ()
        table = claim.published
        assert isinstance(table, PublishedQueries)
        sides = tuple(one.label for one in table.columns)
        change = math.log(found[1] / found[0])
        return [check_of(self._question(claim, sides, (change,), 0.0, ""), 1.0, exact)]

    def _question(
        self,
        claim: Claim,
        sides: tuple[str, ...],
        changes: tuple[float, ...],
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
