"""The ratio of new and old lies within bounds, within δ, or changes along the levels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.across.unpaired import unpaired_check
from teiten.analysis.claims.numbers import FUNCTION_SHARE
from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.evidence import Blocks, EvidenceTable, block_means, logarithm
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.curves import (
    ClaimCurve,
    CurveGround,
    OfCurves,
    SystemCurves,
    beyond_reach,
    level_changes,
)
from teiten.claims.forms import FORM, RatioBounds, Span, Word, Yes
from teiten.model.plan import Plan


def _contrast(check: Check, words: ClaimWords) -> str:
    old, *_, new = (words.side(side) for side in check.sides)
    if len(check.at) == 1:
        return words.plural("claim.contrast", round(check.at[0]), old=old, new=new)
    levels = words("list.separator").join(words.number(level) for level in check.at)
    return words("claim.contrast-mean", old=old, new=new, levels=levels)


CONTRAST = CheckKind("contrast", _contrast, of_sides=True)
"""New and old, at the levels named."""


def _per_doubling(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    first, last = (words.number(level) for level in (check.at[0], check.at[-1]))
    return words("claim.per-doubling", old=old, new=new, first=first, last=last)


PER_DOUBLING = CheckKind("per-doubling", _per_doubling)
"""By what new/old is multiplied where the level doubles."""


@dataclass(frozen=True, config=FORM)
class Bounds(Span, RatioBounds):
    """Where a ratio must lie over the levels of a span: its mean, unless said otherwise."""

    at_every_level: Yes = Field(default=False, alias="each")
    """At every level of the span."""
    per_doubling: Yes = False
    """By what it is multiplied for each doubling of the clients: of every block the slope of a
    straight line through the logarithms of both."""

    @model_validator(mode="after")
    def _one_number(self) -> Self:
        if self.at_every_level and self.per_doubling:
            raise ValueError("is about each level, or per doubling")
        return self


@dataclass(frozen=True, config=FORM)
class Effect(OfCurves):
    """The ratio new/old of the claim's contrast lies within bounds; or new and old are equivalent
    within the campaign's δ, as the mean over the levels: the reports say so of a curve. At each
    level of a dozen it would hardly ever be shown."""

    parts: Annotated[tuple[Bounds, ...], Field(strict=False)] = ()
    equivalent: Yes = False
    function: Word | None = None
    """The ratio is of this function's share of the server's CPU time, with what it calls, which
    needs flame graphs; None for the claim's metric."""
    kind: Literal["effect"] = "effect"

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.equivalent == bool(self.parts):
            raise ValueError("needs either parts, or equivalent = true")
        return self

    @property
    def compares(self) -> bool:
        return True

    def metric_of(self, claim: Claim) -> str:
        return f"{FUNCTION_SHARE}:{self.function}" if self.function else claim.metric

    def require(self, plan: Plan) -> None:
        if self.function and not plan.study.measure.flame_graph:
            raise UnmetError("flame-graph")

    def needs(self, words: ClaimWords) -> Iterator[str]:
        if self.function:
            yield words("claim.needs.flame-graph")

    def asked(self, curves: Sequence[ClaimCurve], machine: CurveGround) -> Iterator[ClaimQuestion]:
        old, new = curves
        band = Bounds(1 / (1 + machine.delta), 1 + machine.delta)
        for part in (band,) if self.equivalent else self.parts:
            levels = [level for level in old.within(part, machine.cores) if level in new.points]
            changes = {level: level_changes(old, level, new, level) for level in levels}
            yield from _of_part(part, changes, (old.side, new.side))

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        """Raises UnmetError of a slope, which is of one block: two systems share none."""
        if any(part.per_doubling for part in self.parts):
            raise UnmetError("compared")
        return super().between(claim, systems)

    def of_systems(self, question: ClaimQuestion, known: SystemCurves, among: int) -> Check:
        """Check unpaired values: no block of the one system belongs to one of the other."""
        samples = [
            _means(curve, question.at, known.here[curve.side]) for curve in (known.old, known.new)
        ]
        return unpaired_check(question, samples, known.alpha, among=among, delta=known.delta)


Changes = Mapping[float, Blocks]
"""By level and block, the logarithm of new/old."""


def _of_part(part: Bounds, changes: Changes, sides: tuple[str, str]) -> Iterator[ClaimQuestion]:
    if part.per_doubling:
        if len(changes) < 3:
            raise UnmetError("levels-for-slope")
        slopes = _slopes(changes)
        yield ClaimQuestion(PER_DOUBLING, sides, tuple(changes), slopes, *part.log_bounds)
        return
    if not changes:
        raise beyond_reach(part)
    for group in [(level,) for level in changes] if part.at_every_level else [tuple(changes)]:
        means = block_means([changes[level] for level in group])
        bounds = part.log_bounds
        yield ClaimQuestion(CONTRAST, sides, group, means, *bounds, averaged=len(group))


def _slopes(changes: Changes) -> dict[int, float]:
    """By block that has every level; NaN where one of its values was not usable."""
    blocks = set.intersection(*(set(change) for change in changes.values()))
    doublings = [math.log2(level) for level in changes]
    return {
        block: linear_regression(doublings, [change[block] for change in changes.values()]).slope
        for block in sorted(blocks)
    }


def _means(
    curve: ClaimCurve, levels: Sequence[float], evidence: EvidenceTable
) -> tuple[float, ...]:
    """The mean of ln over the levels for each start that has them all; NaN for a zero."""
    logs = [
        {block: logarithm(value) for block, value in curve.points[level].items()}
        for level in levels
    ]
    return tuple(evidence.alone(block_means(logs)).values())
