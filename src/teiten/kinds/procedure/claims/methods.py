"""Predicates about procedures: what findings say of methods, and of single steps of them.

A finding holds for every combination of the levels that its claim does not name, and on every
server by itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from teiten.analysis.model.evidence import Blocks, EvidenceTable, log_changes, logarithm
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Ground, Key, Predicate, Reader, UnmetError
from teiten.claims.forms import FORM, Ratio, Word
from teiten.claims.questions import log_bound
from teiten.claims.sides import ANY_BLOCK, ClaimSide, places_of
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
    method, other, step = check.sides
    return _told(
        check, words, "claim.method-step", method=words.side(method), step=step, other=other
    )


METHOD_RATIO = CheckKind("method-ratio", _ratio_said, of_sides=True)
"""New and old."""
METHOD_VALUE = CheckKind("method-value", _value_said)
"""The number itself."""
STEP_RATIO = CheckKind("method-step", _step_said)
"""A step and another one of the same method."""


class OfMethods(Predicate):
    """About numbers of methods, block by block."""

    def reader(self) -> Reader | None:
        return _step_seconds


def _step_seconds(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> Mapping[Key, Mapping[str, float]]:
    """The time of each step of the claims' workloads."""
    del plan, events
    workloads = {claim.workload for claim in claims}
    return {
        (view.number, view.attempt): {
            f"{STEP}:{one.name}": one.seconds for one in steps_of(view.facts)
        }
        for view in views
        if view.workload in workloads
    }


def _printed(claim: Claim, row: str) -> tuple[float, ...]:
    """The numbers of a row of the published table, one for each of the claim's columns; empty
    where it does not have them all."""
    table = claim.published
    if not row or not isinstance(table, PublishedQueries):
        return ()
    found = [dict(column.values).get(row) for column in table.columns]
    return tuple(one for one in found if one) if all(found) else ()


def _places(
    claim: Claim, evidence: EvidenceTable, methods: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], dict[str, ClaimSide]]]:
    """The levels that a claim leaves open, and its side for each of some methods there."""
    known = evidence.levels(claim.workload).get(METHOD, ())
    for method in methods:
        if method not in known:
            raise UnmetError("method", method=method)
    for place in places_of(replace(claim, contrast=None), evidence, along=(METHOD,), free=None):
        side = place.sides[0]
        yield place.levels, {method: side.further(METHOD, method) for method in methods}


@dataclass(frozen=True, config=FORM)
class MethodEffect(OfMethods):
    """The ratio new/old of the claim's contrast lies within bounds."""

    low: Ratio | None = None
    high: Ratio | None = None
    quantity: str = ""
    """The row of the published table that has it."""
    kind: Literal["method-effect"] = "method-effect"
    compares: ClassVar[bool] = True

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("needs low, high or both: a claim must be able to fail")
        return self

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        evidence = ground.evidence
        for place in places_of(claim, evidence, free=None):
            old, new = place.sides
            changes = log_changes(*(one.blocks(evidence, claim.metric) for one in (old, new)))
            sides = (old.label, new.label)
            yield self._question(claim, sides, changes, place.levels)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        found = _printed(claim, self.quantity)
        contrast = claim.contrast
        if len(found) == 2 and contrast is not None:
            sides = (contrast.old, contrast.new)
            yield self._question(claim, sides, {ANY_BLOCK: math.log(found[1] / found[0])}, ())

    def _question(
        self,
        claim: Claim,
        sides: tuple[str, str],
        changes: Blocks,
        levels: tuple[str, ...],
    ) -> ClaimQuestion:
        low, high = log_bound(self.low, -math.inf), log_bound(self.high, math.inf)
        return ClaimQuestion(
            METHOD_RATIO, sides, (), changes, low, high, classes=(levels,), metric=claim.metric
        )


@dataclass(frozen=True, config=FORM)
class MethodOrder(OfMethods):
    """From the method with the least number to the one with the greatest, each above the one
    before it."""

    order: Annotated[Words, Field(min_length=2)]
    quantity: str = ""
    """The row of the published table whose columns have this order."""
    kind: Literal["method-order"] = "method-order"

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        evidence = ground.evidence
        for levels, sides in _places(claim, evidence, self.order):
            values = {name: side.blocks(evidence, claim.metric) for name, side in sides.items()}
            for lower, higher in itertools.pairwise(self.order):
                changes = log_changes(values[lower], values[higher])
                yield _rising(claim, (lower, higher), changes, levels)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        found = _printed(claim, self.quantity)
        if len(found) == len(self.order):
            pairs = zip(itertools.pairwise(self.order), itertools.pairwise(found), strict=True)
            for sides, (lower, higher) in pairs:
                yield _rising(claim, sides, {ANY_BLOCK: math.log(higher / lower)}, ())


def _rising(
    claim: Claim, sides: tuple[str, str], changes: Blocks, levels: tuple[str, ...]
) -> ClaimQuestion:
    return ClaimQuestion(
        METHOD_RATIO, sides, (), changes, 0.0, math.inf, classes=(levels,), metric=claim.metric
    )


@dataclass(frozen=True, config=FORM)
class MethodValue(OfMethods):
    """The number of a method is not above a bound."""

    method: Word
    high: Ratio
    kind: Literal["method-value"] = "method-value"

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        evidence = ground.evidence
        for levels, sides in _places(claim, evidence, (self.method,)):
            values = sides[self.method].blocks(evidence, claim.metric)
            yield ClaimQuestion(
                METHOD_VALUE,
                (self.method,),
                (),
                {block: logarithm(value) for block, value in values.items()},
                -math.inf,
                math.log(self.high),
                classes=(levels,),
                metric=claim.metric,
            )


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
        evidence = ground.evidence
        for levels, sides in _places(claim, evidence, (self.method,)):
            side = sides[self.method]
            largest = side.blocks(evidence, f"{STEP}:{self.step}")
            for other in self.others:
                changes = log_changes(side.blocks(evidence, f"{STEP}:{other}"), largest)
                yield self._question(claim, other, changes, levels)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        found = _printed(claim, self.quantity)
        if len(found) == len(self.others) + 1:
            for other, seconds in zip(self.others, found[1:], strict=True):
                yield self._question(claim, other, {ANY_BLOCK: math.log(found[0] / seconds)}, ())

    def _question(
        self, claim: Claim, other: str, changes: Blocks, levels: tuple[str, ...]
    ) -> ClaimQuestion:
        return ClaimQuestion(
            STEP_RATIO,
            (self.method, other, self.step),
            (),
            changes,
            0.0,
            math.inf,
            classes=(levels,),
            metric=claim.metric,
        )
