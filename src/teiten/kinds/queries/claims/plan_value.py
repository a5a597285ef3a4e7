"""A number taken from plans lies within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.claims.forms import FORM
from teiten.kinds.queries.claims.bounded import QueryParts, bounded, logs_of, named
from teiten.kinds.queries.claims.measures import plan_measure
from teiten.kinds.queries.claims.predicate import OfSides
from teiten.kinds.queries.claims.sides import ClaimSides
from teiten.kinds.queries.claims.told import listed, of_metric


def _said(check: Check, words: ClaimWords) -> str:
    return of_metric(words, check.metric, listed(words, check.classes[0]))


VALUE = CheckKind("value", _said)
"""The metric itself, no ratio."""


@dataclass(frozen=True, config=FORM)
class PlanValue(OfSides):
    """The claim's metric, a number taken from plans, lies within bounds."""

    parts: QueryParts
    kind: Literal["plan-value"] = "plan-value"

    @property
    def queries_named(self) -> tuple[str, ...]:
        return named(self.parts)

    def refuses(self, metric: str) -> str:
        return "" if plan_measure(metric) else "is about a metric taken from plans"

    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        values = logs_of(found.sides[0].by_query)
        for part in self.parts:
            yield from bounded(part, values, VALUE, found, metric)
