"""The ratio of new and old lies within bounds, for single queries or their mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.comparison import Systems
from teiten.claims.forms import FORM
from teiten.kinds.queries.claims.between import effects_between
from teiten.kinds.queries.claims.bounded import QueryParts, bounded, changes, named
from teiten.kinds.queries.claims.predicate import OfSides
from teiten.kinds.queries.claims.sides import ClaimSides
from teiten.kinds.queries.claims.told import listed, of_metric


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
