"""Predicates about procedures: what findings say of methods, and of single steps of them.

A finding holds for every combination of the levels that its claim does not name, and on every
server by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Ground, Key, Predicate, Reader, UnmetError
from teiten.claims.forms import FORM, Word
from teiten.claims.of_levels import (
    RISES,
    EffectOfLevels,
    OfLevels,
    OrderOfLevels,
    ValueAtLevel,
    printed_row,
)
from teiten.claims.sides import ANY_BLOCK, ClaimPlace, places_at, places_of
from teiten.kinds.procedure.metrics import PROCEDURE_TIME
from teiten.kinds.procedure.model import METHOD
from teiten.kinds.procedure.results import steps_of
from teiten.model.plan import Plan
from teiten.model.trial import Event
from teiten.study.tables import Words

STEP = "step_seconds"
"""The time of one step, by its name: ``step_seconds:vacuum``."""


def _at(check: Check, words: ClaimWords) -> str:
    """The levels of what else is varied."""
    levels = check.classes[-1] if check.classes else ()
    listed = words("list.separator").join(words.side(level) for level in levels)
    return words("claim.method-at", levels=listed) if listed else ""


def _told(check: Check, words: ClaimWords, key: str, **values: object) -> str:
    what = words(key, at=_at(check, words), **values)
    if check.metric in ("", PROCEDURE_TIME.name) or check.metric.startswith(STEP):
        return what
    return words("claim.method-metric", metric=words(f"metric.{check.metric}"), what=what)


def _ratio_said(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    return _told(check, words, "claim.method-ratio", old=old, new=new)


def _value_said(check: Check, words: ClaimWords) -> str:
    return _told(check, words, "claim.method-value", side=words.side(check.sides[0]))


def _step_said(check: Check, words: ClaimWords) -> str:
    method, shorter, step = check.sides
    return _told(
        check, words, "claim.method-step", method=words.side(method), step=step, other=shorter
    )


METHOD_RATIO = CheckKind("method-ratio", _ratio_said, of_sides=True)
"""New and old."""
METHOD_VALUE = CheckKind("method-value", _value_said)
"""The number itself."""
STEP_RATIO = CheckKind("method-step", _step_said)
"""A step and another one of the same method."""


class OfMethods(OfLevels):
    """About a number of methods at every combination of the levels that its claim leaves open."""

    def reader(self) -> Reader:
        return _step_seconds

    def places(
        self, claim: Claim, evidence: EvidenceTable, named: Sequence[str]
    ) -> Iterator[ClaimPlace]:
        known = evidence.levels(claim.workload).get(METHOD, ())
        for method in named:
            if method not in known:
                raise UnmetError("method", method=method)
        if named:
            return places_at(claim, evidence, METHOD, named, free=None)
        return places_of(claim, evidence, free=None)

    def classes(self, place: ClaimPlace | None) -> tuple[tuple[str, ...], ...]:
        return (() if place is None else place.levels,)

    def server(self, place: ClaimPlace) -> str:
        return ""


def _step_seconds(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """The time of each step of the claims' workloads."""
    del plan, events
    workloads = {claim.workload for claim in claims}
    return {
        (view.number, view.attempt): {
            f"{STEP}:{step.name}": step.seconds for step in steps_of(view.facts)
        }
        for view in views
        if view.workload in workloads
    }


@dataclass(frozen=True, config=FORM)
class MethodEffect(OfMethods, EffectOfLevels):
    """The ratio new/old of the claim's contrast lies within bounds."""

    kind: Literal["method-effect"] = "method-effect"
    ratio: ClassVar[CheckKind] = METHOD_RATIO


@dataclass(frozen=True, config=FORM)
class MethodOrder(OfMethods, OrderOfLevels):
    """The number rises from each of the named methods to the next."""

    kind: Literal["method-order"] = "method-order"
    ratio: ClassVar[CheckKind] = METHOD_RATIO


@dataclass(frozen=True, config=FORM, kw_only=True)
class MethodValue(OfMethods, ValueAtLevel):
    """The number of a method lies within bounds."""

    method: Word
    kind: Literal["method-value"] = "method-value"
    value: ClassVar[CheckKind] = METHOD_VALUE

    @property
    def named(self) -> Sequence[str]:
        return (self.method,)


@dataclass(frozen=True, config=FORM)
class LargestStep(OfMethods):
    """One step of a method takes longer than each of the others."""

    method: Word
    step: Word
    others: Annotated[Words, Field(min_length=1)]
    quantity: str = ""
    """The row of the published table that has them, the step in its first column."""
    kind: Literal["largest-step"] = "largest-step"

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for place in self.places(claim, ground.evidence, (self.method,)):
            (side,) = place.sides
            largest, *further = (
                side.blocks(ground.evidence, f"{STEP}:{step}") for step in (self.step, *self.others)
            )
            yield from self._asked(claim, place, largest, further)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        row = [{ANY_BLOCK: number} for _, number in printed_row(claim, self.quantity)]
        if len(row) == len(self.others) + 1:
            yield from self._asked(claim, None, row[0], row[1:])

    def _asked(
        self, claim: Claim, place: ClaimPlace | None, largest: Blocks, further: Sequence[Blocks]
    ) -> Iterator[ClaimQuestion]:
        for step, seconds in zip(self.others, further, strict=True):
            compared = (STEP_RATIO, (self.method, step, self.step), ())
            yield self.question(claim, place, compared, log_changes(seconds, largest), RISES)


PREDICATES: tuple[type[Predicate], ...] = (MethodEffect, MethodOrder, MethodValue, LargestStep)
MEASURES: tuple[str, ...] = (STEP,)
"""Numbers that are taken from what a trial measured: ``MEASURE:OF``."""
