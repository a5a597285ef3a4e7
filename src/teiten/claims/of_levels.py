"""Predicates about a number at levels of a factor, wherever a campaign measured it.

Ratios of two levels, a whole order of levels, and the number at one level; a kind of workload says
where its numbers stand, and in which words they are told.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import CheckKind, Claim, ClaimQuestion, PublishedQueries
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes, logarithm
from teiten.analysis.model.predicate import Ground, Predicate
from teiten.claims.forms import FORM, Ratio, RatioBounds, Tolerance, Yes, log_bounds
from teiten.claims.of_curves import DELTA_IN_PRINT
from teiten.claims.questions import around
from teiten.claims.sides import ANY_BLOCK, ClaimPlace, ClaimSide
from teiten.study.tables import Words

RISES = (0.0, math.inf)
"""Bounds of a number that is above another."""


class OfLevels(Predicate):
    """About the claim's metric at levels of a factor, block by block."""

    @property
    def named(self) -> Sequence[str]:
        """The levels that it names; none where it is about the claim's contrast."""
        return ()

    @abstractmethod
    def places(
        self, claim: Claim, evidence: EvidenceTable, named: Sequence[str]
    ) -> Iterator[ClaimPlace]:
        """Yield the places where it is checked, with a side for each named level, or with those of
        the contrast. Raises UnmetError where the campaign lacks what that takes."""

    @abstractmethod
    def classes(self, place: ClaimPlace | None) -> tuple[tuple[str, ...], ...]:
        """The names that tell a place in its questions; None for the published table."""

    def server(self, place: ClaimPlace) -> str:
        """The server that questions name, where the campaign has several."""
        return place.server

    def question(
        self,
        claim: Claim,
        place: ClaimPlace | None,
        compared: tuple[CheckKind, tuple[str, ...], tuple[float, ...]],
        values: Blocks,
        bounds: tuple[float, float],
    ) -> ClaimQuestion:
        """Ask whether values lie within bounds. ``compared``: how that is told, sides and levels;
        without a place, values are those of the published table."""
        return ClaimQuestion(
            *compared,
            values,
            *bounds,
            classes=self.classes(place),
            server="" if place is None else self.server(place),
            metric=claim.metric,
        )


class RatiosOfLevels(OfLevels):
    """About the ratio of each level and the one before it."""

    ratio: ClassVar[CheckKind]
    """How the ratio of two levels is told."""
    quantity: str

    @abstractmethod
    def bounds(self, delta: float) -> tuple[float, float]:
        """Where the logarithms of the ratios must lie. ``delta``: the campaign's."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence, self.named):
            for old, new in itertools.pairwise(place.sides):
                yield self.of_pair(claim, ground, place, (old, new))

    def of_pair(
        self, claim: Claim, ground: Ground, place: ClaimPlace, pair: tuple[ClaimSide, ClaimSide]
    ) -> ClaimQuestion:
        changes = log_changes(*(side.blocks(ground.evidence, claim.metric) for side in pair))
        compared = (self.ratio, tuple(side.label for side in pair), ())
        return self.question(
            claim, place, compared, changes, self.bounds(ground.plan.study.measure.delta)
        )

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        row = printed_row(claim, self.quantity)
        if len(row) == (len(self.named) or 2) and all(number > 0 for _, number in row):
            for (old, before), (new, after) in itertools.pairwise(row):
                changes = {ANY_BLOCK: math.log(after / before)}
                compared = (self.ratio, (old, new), ())
                yield self.question(claim, None, compared, changes, self.bounds(DELTA_IN_PRINT))


@dataclass(frozen=True, config=FORM, kw_only=True)
class EffectOfLevels(RatiosOfLevels):
    """The ratio new/old of the claim's contrast lies within bounds, within a share, or within the
    campaign's ±δ."""

    low: Ratio | None = None
    high: Ratio | None = None
    within: Tolerance | None = None
    equivalent: Yes = False
    quantity: str = ""
    """The row of the published table that has it."""
    compares: ClassVar[bool] = True

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        bounded = self.low is not None or self.high is not None
        if bounded + (self.within is not None) + self.equivalent != 1:
            raise ValueError("needs either low, high or both, or within, or equivalent = true")
        return self

    def bounds(self, delta: float) -> tuple[float, float]:
        if self.equivalent:
            return -math.log1p(delta), math.log1p(delta)
        if self.within is not None:
            return around(self.within)
        return log_bounds(self.low, self.high)


@dataclass(frozen=True, config=FORM, kw_only=True)
class OrderOfLevels(RatiosOfLevels):
    """From the level with the least number to the one with the greatest, each is above the one
    before it."""

    order: Annotated[Words, Field(min_length=2)]
    quantity: str = ""
    """The row of the published table whose columns have this order."""

    @property
    def named(self) -> Sequence[str]:
        return self.order

    def bounds(self, delta: float) -> tuple[float, float]:  # noqa: ARG002
        return RISES


@dataclass(frozen=True, config=FORM, kw_only=True)
class ValueAtLevel(RatioBounds, OfLevels):
    """The number at a level lies within bounds."""

    quantity: str = ""
    """The row of the published table that has it."""
    value: ClassVar[CheckKind]
    """How the number is told."""
    floor: ClassVar[float] = 0.0
    """A smaller number counts as this much, so that its logarithm is finite."""
    printed_unit: ClassVar[float] = 1.0
    """The unit of the published table in the metric's own."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence, self.named):
            (side,) = place.sides
            yield self._asked(claim, place, side.label, side.blocks(ground.evidence, claim.metric))

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        row = printed_row(claim, self.quantity)
        if len(row) == 1:
            ((label, number),) = row
            yield self._asked(claim, None, label, {ANY_BLOCK: number * self.printed_unit})

    def _asked(
        self, claim: Claim, place: ClaimPlace | None, side: str, numbers: Blocks
    ) -> ClaimQuestion:
        logs = {block: logarithm(max(self.floor, number)) for block, number in numbers.items()}
        return self.question(claim, place, (self.value, (side,), ()), logs, self.log_bounds)


def printed_row(claim: Claim, quantity: str) -> tuple[tuple[str, float], ...]:
    """A row of the published table: the label and the number of each of the claim's columns; empty
    where there is no table, or the row does not have them all."""
    table = claim.published
    if not quantity or not isinstance(table, PublishedQueries):
        return ()
    columns = {column.label: dict(column.values) for column in table.columns}
    if any(quantity not in numbers for numbers in columns.values()):
        return ()
    return tuple((label, numbers[quantity]) for label, numbers in columns.items())
