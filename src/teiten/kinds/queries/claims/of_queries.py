"""Findings on the times of queries: new against old, what it gains, and which query is quicker."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.comparison import Systems
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.forms import FORM, Word
from teiten.kinds.queries.claims.between import effects_between, gains_between
from teiten.kinds.queries.claims.bounded import (
    QueryParts,
    asked_queries,
    bounded,
    changes,
    means_of,
    named,
)
from teiten.kinds.queries.claims.evidence import listed, of_metric
from teiten.kinds.queries.claims.predicate import ClaimSides, OfQueries, OfSides
from teiten.study.tables import Words


def _said(check: Check, words: ClaimWords) -> str:
    key = "claim.queries" if check.metric else "claim.speed-up"
    old, *_, new = (words.side(side) for side in check.sides)
    what = words(key, queries=listed(words, check.classes[0]), old=old, new=new)
    return of_metric(words, check.metric, what)


QUERIES = CheckKind("queries", _said, speed_up=True, of_sides=True)
"""New and old, of a query or of the mean over several."""


@dataclass(frozen=True, config=FORM)
class QueryEffect(OfSides):
    """The ratio new/old of the claim's contrast lies within bounds."""

    parts: QueryParts
    kind: Literal["query-effect"] = "query-effect"
    compares: ClassVar[bool] = True

    @property
    def queries_named(self) -> tuple[str, ...]:
        return named(self.parts)

    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        ratios = changes(*found.sides)
        for part in self.parts:
            yield from bounded(part, ratios, QUERIES, found, metric)

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        return effects_between(claim, self.parts, QUERIES, systems)


def _said_of_gain(check: Check, words: ClaimWords) -> str:
    old, new = (words.side(side) for side in check.sides)
    return words("claim.gains", queries=listed(words, check.classes[0]), old=old, new=new)


GAINS = CheckKind("gains", _said_of_gain)
"""The gain on the new system by the gain on the old one."""


@dataclass(frozen=True, config=FORM)
class QueryGain(OfQueries):
    """By how many times queries are faster at a factor's last level than at its first: the new
    system's number by the old one's lies within bounds."""

    factor: Word
    parts: QueryParts
    kind: Literal["query-gain"] = "query-gain"
    compares: ClassVar[bool] = True

    @property
    def queries_named(self) -> tuple[str, ...]:
        return named(self.parts)

    def questions(self, claim: Claim, ground: Ground) -> tuple[Check, ...]:
        """Raises UnmetError: it is about two campaigns."""
        raise UnmetError("compared")

    def between(self, claim: Claim, systems: Systems) -> tuple[Check, ...]:
        return gains_between(claim, self.parts, GAINS, systems, self.factor)


def _said_of_order(check: Check, words: ClaimWords) -> str:
    first, second = (listed(words, one) for one in check.classes)
    return words("claim.order", first=first, second=second)


ORDER = CheckKind("order", _said_of_order)
"""The ratio of new and old of the second class of queries, and that of the first."""
Class = Annotated[Words, Field(min_length=1)]


@dataclass(frozen=True, config=FORM)
class QueryOrder(OfSides):
    """The ratio new/old rises from each class of queries to the next, as their geometric means."""

    classes: Annotated[tuple[Class, ...], Field(strict=False, min_length=2)]
    kind: Literal["query-order"] = "query-order"
    compares: ClassVar[bool] = True

    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        old, new = found.sides
        ratios = changes(old, new)
        means = {one: means_of(ratios, asked_queries(one, found.queries)) for one in self.classes}
        for first, second in itertools.pairwise(self.classes):
            lower, higher = means[first], means[second]
            blocks = sorted(lower.keys() & higher.keys())
            yield ClaimQuestion(
                ORDER,
                (old.side, new.side),
                (),
                {block: higher[block] - lower[block] for block in blocks},
                0.0,
                math.inf,
                classes=(first, second),
                server=found.server,
            )
