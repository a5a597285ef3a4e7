"""The form of a claims file and of the index of published tables, checked at the boundary."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, PlainValidator, model_validator

from teiten.factors.registry import factor_name
from teiten.model import claims as model
from teiten.model.metrics import BY_NAME
from teiten.model.query_claims import WORKLOAD, PlanMeasure, plan_measure
from teiten.study.query_claims_schema import QueryPredicateTable, RatioTable, Tolerance
from teiten.study.schema import Name, Table, Text, Words
from teiten.study.values import one_of

Multiple = Annotated[float, Field(ge=0)]


def _metric(value: object) -> str:
    """A trial's metric, or a number taken from its plan."""
    if isinstance(value, str) and plan_measure(value) is not None:
        return value
    return one_of(value, [*BY_NAME, *(f"{one.value}:…" for one in PlanMeasure)])


MetricName = Annotated[str, PlainValidator(_metric)]
NOT_OF_STUDIES = ("build", "system", WORKLOAD)
"""What findings compare beside the factors of a study."""


def _factor(value: object) -> str:
    return str(value) if value in NOT_OF_STUDIES else factor_name(value)


FactorOfClaim = Annotated[str, PlainValidator(_factor)]
FactorLevels = Annotated[dict[FactorOfClaim, str], Field(default_factory=dict)]


class SpanTable(Table):
    least: Multiple | None = None
    most: Multiple | None = None
    clients: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.clients is not None and (self.least is not None or self.most is not None):
            raise ValueError("names either clients, or least and most")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError("least must not be above most")
        return self

    def span(self) -> model.Span:
        return model.Span(self.least, self.most, self.clients)


class BoundsTable(SpanTable, RatioTable):
    each: bool = False

    def bounds(self) -> model.Bounds:
        return model.Bounds(self.low, self.high, self.span(), self.each)


class EffectTable(Table):
    kind: Literal["effect"]
    parts: Annotated[list[BoundsTable], Field(min_length=1)]

    def predicate(self) -> model.Predicate:
        return model.Effect(tuple(part.bounds() for part in self.parts))


class NoDifferenceTable(Table):
    kind: Literal["no-difference"]

    def predicate(self) -> model.Predicate:
        return model.NoDifference()


class PlateauTable(Table):
    kind: Literal["plateau"]
    within: Tolerance | None = None

    def predicate(self) -> model.Predicate:
        return model.Plateau(self.within)


class LinearTable(Table):
    kind: Literal["linear"]
    within: Tolerance

    def predicate(self) -> model.Predicate:
        return model.Linear(self.within)


class RisingTable(Table):
    kind: Literal["rising"]
    to: Annotated[float, Field(gt=0)]
    slower_beyond: bool = False

    def predicate(self) -> model.Predicate:
        return model.Rising(self.to, self.slower_beyond)


class FlatTable(SpanTable):
    kind: Literal["flat"]
    within: Tolerance
    rises_beyond: bool = False

    def predicate(self) -> model.Predicate:
        return model.Flat(self.span(), self.within, self.rises_beyond)


class ProportionalTable(Table):
    kind: Literal["proportional"]
    within: Tolerance

    def predicate(self) -> model.Predicate:
        return model.Proportional(self.within)


class FunctionShareTable(Table):
    kind: Literal["function-share"]
    function: Annotated[str, Field(min_length=1)]
    parts: Annotated[list[BoundsTable], Field(min_length=1)]

    def predicate(self) -> model.Predicate:
        return model.FunctionShare(self.function, tuple(part.bounds() for part in self.parts))


PredicateTable = Annotated[
    EffectTable
    | NoDifferenceTable
    | PlateauTable
    | LinearTable
    | RisingTable
    | FlatTable
    | ProportionalTable
    | FunctionShareTable
    | QueryPredicateTable,
    Field(discriminator="kind"),
]
COMPARING = frozenset(("effect", "no-difference", "function-share", "query-effect", "query-order"))
"""Kinds of predicates that compare two levels of a factor."""


class ContrastTable(Table):
    factor: FactorOfClaim
    old: str
    new: str
    old_at: FactorLevels
    new_at: FactorLevels


class NeedsTable(Table):
    servers: Words = ()
    factor: FactorOfClaim | None = None
    cores: Annotated[int, Field(ge=1)] = 1
    systems: Words = ()


class PrintedTable(Table):
    label: Text
    value: Annotated[str, Field(min_length=1)]
    recomputed: str = ""


class PublishedReference(Table):
    file: Name
    curves: Annotated[list[str], Field(min_length=1)]


class ClaimTable(Table):
    id: Name
    section: Annotated[str, Field(min_length=1)]
    table: str = ""
    statement: Text
    workload: Name
    metric: MetricName
    contrast: ContrastTable | None = None
    needs: NeedsTable = NeedsTable()
    predicate: PredicateTable
    at: FactorLevels
    printed: Annotated[tuple[PrintedTable, ...], Field(strict=False)] = ()
    published: PublishedReference | None = None
    remark: Text | None = None
    unmeasured: bool = False
    """The study has no such workload: the finding is listed, and applies to no campaign."""

    @model_validator(mode="after")
    def _contrasted(self) -> Self:
        compares = self.predicate.kind in COMPARING
        if compares != (self.contrast is not None):
            wording = "needs a" if compares else "has no"
            raise ValueError(f"a predicate {self.predicate.kind!r} {wording} contrast")
        if compares and self.published is not None and len(self.published.curves) != 2:
            raise ValueError("the published curves of a contrast are two, old and new")
        if self.predicate.kind == "plan-value" and plan_measure(self.metric) is None:
            raise ValueError("a predicate 'plan-value' is about a metric taken from plans")
        return self

    def printed_values(self) -> tuple[model.PrintedValue, ...]:
        return tuple(
            model.PrintedValue(one.label, one.value, one.recomputed) for one in self.printed
        )

    def claim_needs(self) -> model.ClaimNeeds:
        """With those that follow from the contrast."""
        servers, factor, systems = self.needs.servers, self.needs.factor, self.needs.systems
        contrast = self.contrast
        if contrast is not None and contrast.factor == "server":
            servers = (contrast.old, contrast.new)
        elif contrast is not None and contrast.factor == "system":
            systems = (contrast.old, contrast.new)
        elif contrast is not None and contrast.factor not in ("build", WORKLOAD):
            factor = contrast.factor
        return model.ClaimNeeds(servers, factor, self.needs.cores, systems)

    def claim_contrast(self) -> model.ClaimContrast | None:
        one = self.contrast
        if one is None:
            return None
        return model.ClaimContrast(
            one.factor, one.old, one.new, tuple(one.old_at.items()), tuple(one.new_at.items())
        )


class ClaimsFile(Table):
    """The claims of one report."""

    study: Name
    report: Annotated[str, Field(min_length=1)]
    claims: Annotated[list[ClaimTable], Field(min_length=1)]


class TableSource(Table):
    """Where a published table stands, and its columns by the names that claims use."""

    report: str
    section: str
    table: str
    licence: str
    axis: Literal["clients", "cores", "workers", "size_mb", "query"]
    cores: Annotated[int, Field(ge=0)]
    curves: dict[str, str]

    def source(self) -> model.ClaimSource:
        return model.ClaimSource(self.report, self.section, self.table)
