"""Findings on plans: they have a node or have it not, and a number of theirs lies within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.forms import FORM, Yes
from teiten.kinds.queries.claims.sides import (
    ClaimSides,
    OfParts,
    OfQueries,
    QueryParts,
    all_or_none,
    asked_queries,
    listed,
    logs_of,
    measured_sides,
    of_metric,
)
from teiten.kinds.queries.model import plan_measure
from teiten.kinds.queries.plan_numbers import HAS as HAS_NODE
from teiten.study.tables import Words


def _said(check: Check, words: ClaimWords) -> str:
    having, count = (words.number(plans) for plans in check.at)
    nodes = words("list.or").join(check.sides)
    queries = listed(words, check.classes[0])
    return words("claim.has", queries=queries, nodes=nodes, found=having, count=count)


HAS = CheckKind("has", _said, bound=lambda _check: "claim.bound-has")
"""The share of the plans that have a node."""


@dataclass(frozen=True, config=FORM)
class PlanHas(OfQueries):
    """The plans have, or have not, a node that works in parallel on a share of its rows."""

    nodes: Annotated[Words, Field(min_length=1)]
    """Types as EXPLAIN in text names them: ``Parallel Index Scan``. One of them is enough."""
    queries: Words = ()
    absent: Yes = False
    kind: Literal["plan-has"] = "plan-has"

    @property
    def metric(self) -> str:
        """The name under which it is observed: 1 or 0."""
        return f"{HAS_NODE}:{'|'.join(self.nodes)}"

    @property
    def queries_named(self) -> tuple[str, ...]:
        return self.queries

    def quantities(self, claim: Claim) -> tuple[str]:
        return (self.metric,)

    def questions(self, claim: Claim, ground: Ground) -> Iterator[Check]:
        for sides in measured_sides(claim, ground.evidence, self.metric):
            yield from self._of_server(sides)

    def _of_server(self, of_claim: ClaimSides) -> Iterator[Check]:
        """A check for each query on one server. Raises UnmetError without recorded plans."""
        for query in asked_queries(self.queries, of_claim.queries):
            plans = of_claim.sides[0].by_query[query].values()
            if not plans:
                raise UnmetError("no-plans")
            agree = [bool(plan) != self.absent for plan in plans]
            share = sum(agree) / len(agree)
            yield Check(
                HAS,
                sides=self.nodes,
                at=(float(sum(map(bool, plans))), float(len(plans))),
                ratio=share,
                low=share,
                high=share,
                least=1.0,
                most=None,
                pairs=len(agree),
                standing=all_or_none(agree),
                classes=((query,),),
                server=of_claim.server,
            )


def _said_of_value(check: Check, words: ClaimWords) -> str:
    return of_metric(words, check.metric, listed(words, check.classes[0]))


VALUE = CheckKind("value", _said_of_value)
"""The metric itself, no ratio."""


@dataclass(frozen=True, config=FORM)
class PlanValue(OfParts):
    """The claim's metric, a number taken from plans, lies within bounds."""

    parts: QueryParts
    kind: Literal["plan-value"] = "plan-value"

    def refuses(self, metric: str) -> str:
        return "" if plan_measure(metric) else "is about a metric taken from plans"

    def asked(self, of_claim: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        yield from self.bounded(logs_of(of_claim.sides[0].by_query), VALUE, of_claim, metric)
