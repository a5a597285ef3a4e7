"""The form of predicates about single queries in a claims file (``model.query_claims``)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, model_validator

from teiten.model import query_claims as model
from teiten.study.schema import Table, Words
from teiten.study.values import one_of

Ratio = Annotated[float, Field(gt=0)]
Tolerance = Annotated[float, Field(gt=0, lt=1)]
RULES = [one.value for one in model.WorkerRule]
Rule = Annotated[
    model.WorkerRule, PlainValidator(lambda value: model.WorkerRule(one_of(value, RULES)))
]


class RatioTable(Table):
    """Where a ratio must lie."""

    low: Ratio | None = None
    high: Ratio | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("needs low, high or both: a claim must be able to fail")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low must be below high")
        return self


class QueryBoundsTable(RatioTable):
    queries: Words = ()
    mean: bool = False

    def bounds(self) -> model.QueryBounds:
        return model.QueryBounds(self.low, self.high, self.queries, self.mean)


class QueryEffectTable(Table):
    kind: Literal["query-effect"]
    parts: Annotated[list[QueryBoundsTable], Field(min_length=1)]

    def predicate(self) -> model.QueryPredicate:
        return model.QueryEffect(tuple(part.bounds() for part in self.parts))


class QueryOrderTable(Table):
    kind: Literal["query-order"]
    classes: Annotated[list[Annotated[Words, Field(min_length=1)]], Field(min_length=2)]

    def predicate(self) -> model.QueryPredicate:
        return model.QueryOrder(tuple(self.classes))


class WorkerCurveTable(Table):
    kind: Literal["worker-curve"]
    factor: str
    printed_cap: Annotated[int, Field(ge=1)]
    within: Tolerance | None = None

    def predicate(self) -> model.QueryPredicate:
        return model.WorkerCurve(self.factor, self.printed_cap, self.within)


class WorkersByRuleTable(Table):
    kind: Literal["workers-by-rule"]
    rule: Rule
    queries: Words = ()
    relation: str = ""
    fewer: bool = False
    printed_from: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _of_a_table(self) -> Self:
        if not self.relation and (self.fewer or self.rule is model.WorkerRule.PARTITIONS):
            raise ValueError("needs the relation whose size or partitions count")
        return self

    def predicate(self) -> model.QueryPredicate:
        return model.WorkersByRule(
            self.rule, self.queries, self.relation, self.fewer, self.printed_from
        )


class PlanValueTable(Table):
    kind: Literal["plan-value"]
    parts: Annotated[list[QueryBoundsTable], Field(min_length=1)]

    def predicate(self) -> model.QueryPredicate:
        return model.PlanValue(tuple(part.bounds() for part in self.parts))


class PlanHasTable(Table):
    kind: Literal["plan-has"]
    nodes: Annotated[Words, Field(min_length=1)]
    queries: Words = ()
    absent: bool = False

    def predicate(self) -> model.QueryPredicate:
        return model.PlanHas(self.nodes, self.queries, self.absent)


QueryPredicateTable = (
    QueryEffectTable
    | QueryOrderTable
    | WorkerCurveTable
    | WorkersByRuleTable
    | PlanValueTable
    | PlanHasTable
)
