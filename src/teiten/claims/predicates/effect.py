"""The ratio of new and old lies within bounds, within δ, or changes along the levels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.claims.numbers import FUNCTION_SHARE
from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords, Reason
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.predicate import Aliases, UnmetError
from teiten.claims.curves import ClaimCurve, ContrastOfCurves, CurveGround, OfCurves, level_changes
from teiten.claims.forms import FORM, Bounds, RatioBounds, Word, Yes
from teiten.model.plan import Plan


@dataclass(frozen=True, config=FORM)
class Effect(ContrastOfCurves):
    """The ratio new/old of the claim's contrast lies within bounds; or new and old are equivalent
    within the campaign's δ, as the mean over the levels: the reports say so of a curve. At each
    level of a dozen it would hardly ever be shown."""

    parts: Annotated[tuple[Bounds, ...], Field(strict=False)] = ()
    equivalent: Yes = False
    function: Word | None = None
    """The ratio is of this function's share of the server's CPU time, with what it calls, which
    needs flame graphs; None for the claim's metric."""
    kind: Literal["effect"] = "effect"
    aliases: ClassVar[Aliases] = {"no-difference": {"equivalent": True}, "function-share": {}}

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.equivalent == bool(self.parts):
            raise ValueError("needs either parts, or equivalent = true")
        return self

    def metric_of(self, claim: Claim) -> str:
        return f"{FUNCTION_SHARE}:{self.function}" if self.function else claim.metric

    def bounds(self, delta: float) -> Sequence[Bounds]:
        return (Bounds(1 / (1 + delta), 1 + delta),) if self.equivalent else self.parts

    def lacking(self, plan: Plan) -> Reason | None:
        lacks = self.function and not plan.study.measure.flame_graph
        return Reason("flame-graph") if lacks else None

    def needs(self, words: ClaimWords) -> Iterator[str]:
        if self.function:
            yield words("claim.needs.flame-graph")


def _per_doubling(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    first, last = (words.number(level) for level in (check.at[0], check.at[-1]))
    return words("claim.per-doubling", old=old, new=new, first=first, last=last)


PER_DOUBLING = CheckKind("per-doubling", _per_doubling)
"""By what new/old is multiplied where the level doubles."""


@dataclass(frozen=True, config=FORM)
class EffectByLevel(RatioBounds, OfCurves):
    """By what the ratio new/old is multiplied for each doubling of the clients lies within bounds:
    of every block the slope of a straight line through the logarithms of both."""

    kind: Literal["effect-by-level"] = "effect-by-level"
    compares: ClassVar[bool] = True

    def asked(
        self,
        curves: Sequence[ClaimCurve],
        machine: CurveGround,  # noqa: ARG002
    ) -> Iterator[ClaimQuestion]:
        old, new = curves
        levels = [level for level in old.levels if level in new.points]
        if len(levels) < 3:
            raise UnmetError("levels-for-slope")
        yield ClaimQuestion(
            PER_DOUBLING,
            (old.side, new.side),
            tuple(levels),
            _slopes({level: level_changes(old, level, new, level) for level in levels}),
            *self.log_bounds,
        )

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:  # noqa: ARG002
        """Raises UnmetError: two systems share no blocks, and a slope is of one."""
        raise UnmetError("compared")


def _slopes(changes: Mapping[float, Mapping[int, float]]) -> dict[int, float]:
    """By block that has every level; NaN where one of its values was not usable."""
    blocks = set.intersection(*(set(change) for change in changes.values()))
    doublings = [math.log2(level) for level in changes]
    return {
        block: linear_regression(doublings, [change[block] for change in changes.values()]).slope
        for block in sorted(blocks)
    }
