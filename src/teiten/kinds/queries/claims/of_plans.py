"""Findings on plans: they have a node or have it not, and a number of theirs lies within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, Claim, ClaimQuestion, ClaimWords
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.claims.forms import FORM, Yes
from teiten.kinds.queries.claims.bounded import OfParts, QueryParts, asked_queries, logs_of
from teiten.kinds.queries.claims.evidence import (
    Executed,
    all_or_none,
    listed,
    of_metric,
    plan_measure,
)
from teiten.kinds.queries.claims.predicate import ClaimSides, OfQueries, measured_sides
from teiten.study.tables import Words


def _said(check: Check, words: ClaimWords) -> str:
    found, count = (words.number(one) for one in check.at)
    nodes = words("list.or").join(check.sides)
    queries = listed(words, check.classes[0])
    return words("claim.has", queries=queries, nodes=nodes, found=found, count=count)


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
        return f"plan_has:{'|'.join(self.nodes)}"

    @property
    def queries_named(self) -> tuple[str, ...]:
        return self.queries

    def of_plan(self, executed: Executed) -> Iterator[tuple[str, float]]:
        has = any(
            node.parallel_aware and f"Parallel {node.kind}" in self.nodes
            for node in executed.plan.nodes
        )
        yield self.metric, float(has)

    def questions(self, claim: Claim, ground: Ground) -> Iterator[Check]:
        for sides in measured_sides(claim, ground.evidence, self.metric):
            yield from self._of_server(sides)

    def _of_server(self, found: ClaimSides) -> Iterator[Check]:
        """A check for each query on one server. Raises UnmetError without recorded plans."""
        for query in asked_queries(self.queries, found.queries):
            plans = found.sides[0].by_query[query].values()
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
                server=found.server,
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

    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        yield from self.bounded(logs_of(found.sides[0].by_query), VALUE, found, metric)
