"""About the claim's metric at levels of a factor: the ratio of two levels, a whole order of them,
the number at one level, and which part of a number is the largest."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self

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
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes, logarithm
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.curves import DELTA_IN_PRINT, RISES, around
from teiten.claims.forms import FORM, Ratio, RatioBounds, Tolerance, Word, Yes, log_bounds
from teiten.claims.sides import ANY_BLOCK, ClaimPlace, ClaimSide, places_at, places_of
from teiten.kinds.contract import plan_of
from teiten.kinds.metrics import by_name
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.plan import Plan
from teiten.model.quantities import parse_size
from teiten.model.study import SERVER
from teiten.model.units import Bytes
from teiten.study.tables import Words

LEAST_SHARE = 1e-4
"""A share of nothing has no logarithm: none of ten thousand statements."""
PERCENT = 0.01
"""The unit in which shares are printed."""
Compared = tuple[CheckKind, tuple[str, ...], tuple[float, ...]]
"""How it is told, sides and levels."""


@dataclass(frozen=True, config=FORM, kw_only=True)
class OfLevels(Predicate):
    """About levels of a factor, block by block."""

    of: str = ""
    """The level of the workload's own factor that it is about, such as a probe; empty where that
    factor's levels are compared, or the claim's ``at`` names one."""
    everywhere: Yes = False
    """At every combination of the levels that its claim leaves open; else on each server."""
    quantity: str = ""
    """The row of the published table that has it."""

    def places(
        self, claim: Claim, evidence: EvidenceTable, factor: str = "", named: Sequence[str] = ()
    ) -> Iterator[ClaimPlace]:
        """Yield the places where it is checked: with a side for each of the named levels of a
        factor (of the workload's own one where none is given), or with those of the contrast.

        Raises UnmetError where the campaign lacks what that takes.
        """
        own = plan_of(evidence.plan.study.workload(claim.workload).kind).own_factor or ""
        factor = factor or own
        own_levels = {self.of} - {""} | set(named if factor == own else ())
        for level in sorted(own_levels.difference(evidence.levels(claim.workload).get(own, ()))):
            raise UnmetError(own or "factor", **{own or "factor": level})
        if self.of:
            claim = replace(claim, at=(*claim.at, (own, self.of)))
        free = None if self.everywhere else (SERVER,)
        if named:
            return places_at(claim, evidence, factor, named, free=free)
        return places_of(claim, evidence, free=free)

    def question(
        self,
        claim: Claim,
        place: ClaimPlace | None,
        compared: Compared,
        values: Blocks,
        bounds: tuple[float, float],
    ) -> ClaimQuestion:
        """Ask whether values lie within bounds; without a place, those of the published table."""
        open_levels = () if place is None else place.levels
        return ClaimQuestion(
            *compared,
            values,
            *bounds,
            classes=(
                *([(self.of,)] if self.of else []),
                *([open_levels] if self.everywhere else []),
            ),
            server="" if place is None or self.everywhere else place.server,
            metric=claim.metric,
        )

    def printed_row(self, claim: Claim) -> tuple[tuple[str, float], ...]:
        """A row of the published table: the label and the number of each of the claim's columns;
        empty where there is no table, or the row does not have them all."""
        table = claim.published
        if not self.quantity or not isinstance(table, PublishedQueries):
            return ()
        columns = {column.label: dict(column.values) for column in table.columns}
        if any(self.quantity not in numbers for numbers in columns.values()):
            return ()
        return tuple((label, numbers[self.quantity]) for label, numbers in columns.items())


class RatiosOfLevels(OfLevels):
    """About the ratio of each level and the one before it."""

    @property
    def named(self) -> tuple[str, Sequence[str]]:
        """A factor and the levels that it names; none where it is about the claim's contrast."""
        return "", ()

    @abstractmethod
    def bounds(self, delta: float) -> tuple[float, float]:
        """Where the logarithms of the ratios must lie. ``delta``: the campaign's."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence, *self.named):
            for pair in itertools.pairwise(place.sides):
                yield self.of_pair(claim, ground, place, pair)

    def of_pair(
        self, claim: Claim, ground: Ground, place: ClaimPlace, pair: tuple[ClaimSide, ClaimSide]
    ) -> ClaimQuestion:
        changes = log_changes(*(side.blocks(ground.evidence, claim.metric) for side in pair))
        old, new = (side.label for side in pair)
        bounds = self.bounds(ground.plan.study.measure.delta)
        return self.question(claim, place, self._compared(old, new), changes, bounds)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        row = self.printed_row(claim)
        if len(row) == (len(self.named[1]) or 2) and all(number > 0 for _, number in row):
            for (old, before), (new, after) in itertools.pairwise(row):
                changes = {ANY_BLOCK: math.log(after / before)}
                compared = self._compared(old, new)
                yield self.question(claim, None, compared, changes, self.bounds(DELTA_IN_PRINT))

    def _compared(self, old: str, new: str) -> Compared:
        return RATIO_OF if self.of else RATIO, (old, new), ()


@dataclass(frozen=True, config=FORM, kw_only=True)
class EffectOfLevels(RatiosOfLevels):
    """The ratio new/old of the claim's contrast lies within bounds, within a share, or within the
    campaign's ±δ."""

    low: Ratio | None = None
    high: Ratio | None = None
    within: Tolerance | None = None
    equivalent: Yes = False
    per_size: Yes = False
    """The ratio is divided by that of the levels' shared buffers: 1 where it is proportional."""
    kind: Literal["levels-effect"] = "levels-effect"

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        bounded = self.low is not None or self.high is not None
        if bounded + (self.within is not None) + self.equivalent != 1:
            raise ValueError("needs either low, high or both, or within, or equivalent = true")
        if self.per_size and not self.of:
            raise ValueError("per_size is about one level of the own factor: name it (of)")
        return self

    @property
    def compares(self) -> bool:
        return True

    def bounds(self, delta: float) -> tuple[float, float]:
        if self.equivalent:
            return -math.log1p(delta), math.log1p(delta)
        if self.within is not None:
            return around(self.within)
        return log_bounds(self.low, self.high)

    def of_pair(
        self, claim: Claim, ground: Ground, place: ClaimPlace, pair: tuple[ClaimSide, ClaimSide]
    ) -> ClaimQuestion:
        question = super().of_pair(claim, ground, place, pair)
        if not self.per_size:
            return question
        old, new = (_buffers(ground.plan, side) for side in pair)
        if not old or not new or old == new:
            raise UnmetError("probe-sizes")
        sizes = new / old
        values = {block: change - math.log(sizes) for block, change in question.values.items()}
        return replace(question, kind=PER_SIZE, at=(round(sizes, 2),), values=values)


def _buffers(plan: Plan, side: ClaimSide) -> Bytes | None:
    """The shared buffers at a place; None where they are not known."""
    for trial in plan.trials:
        here = dict(trial.cell.levels)
        if trial.cell.workload == side.workload and side.at.items() <= here.items():
            try:
                return parse_size(dict(trial.settings).get(SHARED_BUFFERS, ""))
            except ValueError:
                return None
    return None


@dataclass(frozen=True, config=FORM, kw_only=True)
class OrderOfLevels(RatiosOfLevels):
    """From the level with the least number to the one with the greatest, each is above the one
    before it."""

    order: Annotated[Words, Field(min_length=2)]
    factor: str = ""
    """The factor of the levels; empty for the workload's own."""
    kind: Literal["levels-order"] = "levels-order"

    @property
    def named(self) -> tuple[str, Sequence[str]]:
        return self.factor, self.order

    def bounds(self, delta: float) -> tuple[float, float]:  # noqa: ARG002
        return RISES


@dataclass(frozen=True, config=FORM, kw_only=True)
class ValueAtLevel(RatioBounds, OfLevels):
    """The number at a level lies within bounds."""

    level: Word
    factor: str = ""
    """The factor of the level; empty for the workload's own."""
    share: Yes = False
    """The number is a share of what is counted, and printed in per cent."""
    kind: Literal["levels-value"] = "levels-value"

    def is_counted(self, claim: Claim) -> bool:  # noqa: ARG002
        return self.share

    def refuses(self, metric: str) -> str:
        shares = [known.name for known in by_name().values() if known.unit == "1"]
        return "is about a share" if self.share and metric not in shares else ""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence, self.factor, (self.level,)):
            (side,) = place.sides
            yield self._asked(claim, place, side.label, side.blocks(ground.evidence, claim.metric))

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        row = self.printed_row(claim)
        if len(row) == 1:
            ((label, number),) = row
            number *= PERCENT if self.share else 1.0
            yield self._asked(claim, None, label, {ANY_BLOCK: number})

    def _asked(
        self, claim: Claim, place: ClaimPlace | None, side: str, numbers: Blocks
    ) -> ClaimQuestion:
        least = LEAST_SHARE if self.share else 0.0
        logs = {block: logarithm(max(least, number)) for block, number in numbers.items()}
        compared = (SHARE if self.share and self.of else VALUE, (side,), ())
        return self.question(claim, place, compared, logs, self.log_bounds)


@dataclass(frozen=True, config=FORM, kw_only=True)
class LargestPart(OfLevels):
    """At a level of the workload's own factor, one part of the claim's quantity is larger than each
    of the others: of the time of a method, one step."""

    level: Word
    part: Word
    others: Annotated[Words, Field(min_length=1)]
    kind: Literal["largest-part"] = "largest-part"

    def quantities(self, claim: Claim) -> tuple[str, ...]:
        quantity = claim.metric.partition(":")[0]
        return tuple(f"{quantity}:{part}" for part in (self.part, *self.others))

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence, named=(self.level,)):
            (side,) = place.sides
            parts = [side.blocks(ground.evidence, name) for name in self.quantities(claim)]
            yield from self._asked(claim, place, parts)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        """Take the part from the first column of the row."""
        parts = [{ANY_BLOCK: number} for _, number in self.printed_row(claim)]
        if len(parts) == len(self.others) + 1:
            yield from self._asked(claim, None, parts)

    def _asked(
        self, claim: Claim, place: ClaimPlace | None, parts: Sequence[Blocks]
    ) -> Iterator[ClaimQuestion]:
        largest, *further = parts
        for smaller, numbers in zip(self.others, further, strict=True):
            compared = (LARGEST, (self.level, smaller, self.part), ())
            yield self.question(claim, place, compared, log_changes(numbers, largest), RISES)


def _ratio(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    what = words("claim.level-ratio", old=old, new=new, at=_at(check, words))
    return _with_metric(check, words, what)


def _ratio_of(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    what = words("claim.level-ratio-of", of=words.side(check.classes[0][0]), old=old, new=new)
    return _with_metric(check, words, what)


def _per_size(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    values = {"of": words.side(check.classes[0][0]), "old": old, "new": new}
    what = words("claim.level-per-size", sizes=words.number(check.at[0]), **values)
    return _with_metric(check, words, what)


def _value(check: Check, words: ClaimWords) -> str:
    what = words("claim.level-value", side=words.side(check.sides[0]), at=_at(check, words))
    return _with_metric(check, words, what)


def _share(check: Check, words: ClaimWords) -> str:
    values = {"of": words.side(check.classes[0][0]), "side": words.side(check.sides[0])}
    return words("claim.level-share", what=words(f"metric.{check.metric}"), **values)


def _largest(check: Check, words: ClaimWords) -> str:
    level, smaller, part = check.sides
    values = {"level": words.side(level), "part": words.part(part), "other": words.part(smaller)}
    return words("claim.largest-part", at=_at(check, words), **values)


def _at(check: Check, words: ClaimWords) -> str:
    """The levels of what else is varied."""
    levels = check.classes[-1] if check.classes else ()
    listed = words("list.separator").join(words.side(level) for level in levels)
    return words("claim.level-at", levels=listed) if listed else ""


def _with_metric(check: Check, words: ClaimWords, what: str) -> str:
    """With the metric's name, unless it is the one that the workload is judged by."""
    measure, _, of = check.metric.partition(":")
    if of:
        return words(f"claim.{measure}", of=words.part(of), what=what)
    if not measure or by_name()[measure].judged:
        return what
    alone = check.kind in (RATIO, VALUE)
    key = "claim.level-metric" if alone else "claim.level-metric-of"
    return words(key, metric=words(f"metric.{measure}"), what=what)


RATIO = CheckKind("method-ratio", _ratio, of_sides=True)
"""New and old."""
RATIO_OF = CheckKind("probe-ratio", _ratio_of, of_sides=True)
"""New and old at one level of the workload's own factor."""
PER_SIZE = CheckKind("probe-per-size", _per_size, of_sides=True)
"""New and old, by the ratio of their sizes: 1 where the number is proportional to it."""
VALUE = CheckKind("method-value", _value)
"""The number itself, no ratio."""
SHARE = CheckKind("probe-share", _share)
"""The share itself."""
LARGEST = CheckKind("method-step", _largest)
"""A part, and another one of the same level."""
