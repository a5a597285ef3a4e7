"""The form of a claims file and of the index of published tables, checked at the boundary.

The predicates that there are, found by their files and by the kinds of workloads.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from inspect import isabstract
from typing import Annotated, Any, Literal, Self, Union

from pydantic import (
    ConfigDict,
    Field,
    PlainValidator,
    create_model,
    model_validator,
)

from teiten.analysis.model import claims as model
from teiten.analysis.model.predicate import Predicate
from teiten.claims import predicates
from teiten.factors.registry import factor_name
from teiten.kinds.metrics import by_name, measures
from teiten.kinds.registry import Stage, kind, names, offers
from teiten.model.storage import STORAGE
from teiten.model.study import SERVER
from teiten.study.tables import Name, Text, TomlTable, Words
from teiten.study.values import one_of


def _metric(value: object) -> str:
    """A trial's metric, or a number taken from its plan."""
    taken = measures()
    name, _, of = str(value).partition(":")
    if (name in taken or name == STORAGE) and of:
        return str(value)
    return one_of(value, [*by_name(), *(f"{measure}:…" for measure in taken)])


MetricName = Annotated[str, PlainValidator(_metric)]
NOT_OF_STUDIES = ("build", "system")
"""Names of what findings compare besides the factors of a study."""


def _factor(value: object) -> str:
    return str(value) if value in NOT_OF_STUDIES else factor_name(value)


FactorOfClaim = Annotated[str, PlainValidator(_factor)]
FactorLevels = Annotated[dict[FactorOfClaim, str], Field(default_factory=dict)]


class ContrastTable(TomlTable):
    factor: FactorOfClaim
    old: str
    new: str
    old_at: FactorLevels
    new_at: FactorLevels


class NeedsTable(TomlTable):
    servers: Words = ()
    factor: FactorOfClaim | None = None
    cores: Annotated[int, Field(ge=1)] = 1
    systems: Words = ()
    before: Annotated[int, Field(ge=10)] | None = None


class PrintedTable(TomlTable):
    label: Text
    value: Annotated[str, Field(min_length=1)]
    recomputed: str = ""


class PublishedReference(TomlTable):
    file: Name
    curves: Annotated[list[str], Field(min_length=1)]


Promise = Annotated[str, Field(pattern=r"^(\d\d)?$")]
"""A major version; empty for what no release notes say."""


class ClaimTable(TomlTable):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: Name
    section: Annotated[str, Field(min_length=1)]
    table: str = ""
    statement: Text
    workload: Name
    metric: MetricName
    contrast: ContrastTable | None = None
    needs: NeedsTable = NeedsTable()
    predicate: Predicate
    """By its kind one of the classes that there are (``claims_file``)."""
    at: FactorLevels
    printed: Annotated[tuple[PrintedTable, ...], Field(strict=False)] = ()
    published: PublishedReference | None = None
    remark: Text | None = None
    promise: Promise = ""
    unmeasured: bool = False
    """The study has no such workload: the finding is listed, and applies to no campaign."""

    @model_validator(mode="after")
    def _contrasted(self) -> Self:
        compares = self.predicate.compares
        if compares != (self.contrast is not None):
            wording = "needs a" if compares else "has no"
            raise ValueError(f"a predicate {self.predicate.kind!r} {wording} contrast")
        if compares and self.published is not None and len(self.published.curves) != 2:
            raise ValueError("the published curves of a contrast are two, old and new")
        refused = self.predicate.refuses(self.metric)
        if refused:
            raise ValueError(f"a predicate {self.predicate.kind!r} {refused}")
        return self

    def printed_values(self) -> tuple[model.PrintedValue, ...]:
        return tuple(
            model.PrintedValue(printed.label, printed.value, printed.recomputed)
            for printed in self.printed
        )

    def claim_needs(self) -> model.ClaimNeeds:
        """With those that follow from the contrast."""
        servers, factor, systems = self.needs.servers, self.needs.factor, self.needs.systems
        contrast = self.contrast
        if contrast is not None and contrast.factor == SERVER:
            servers = (contrast.old, contrast.new)
        elif contrast is not None and contrast.factor == "system":
            systems = (contrast.old, contrast.new)
        elif contrast is not None and contrast.factor != "build":
            factor = contrast.factor
        return model.ClaimNeeds(servers, factor, self.needs.cores, systems, self.needs.before)

    def claim_contrast(self) -> model.ClaimContrast | None:
        table = self.contrast
        if table is None:
            return None
        further = (tuple(levels.items()) for levels in (table.old_at, table.new_at))
        return model.ClaimContrast(table.factor, table.old, table.new, *further)


class ClaimsFile(TomlTable):
    """The claims of one report."""

    study: Name
    report: Annotated[str, Field(min_length=1)]
    claims: Annotated[list[ClaimTable], Field(min_length=1)]


def claims_file() -> type[ClaimsFile]:
    """The form of a claims file, with the predicates that there are."""
    every: Any = Union[known()]  # noqa: UP007
    predicate: Any = Annotated[every, Field(discriminator="kind")]
    claim: Any = create_model("ClaimTable", __base__=ClaimTable, predicate=(predicate, ...))
    claims: Any = Annotated[list[claim], Field(min_length=1)]
    return create_model("ClaimsFile", __base__=ClaimsFile, claims=(claims, ...))


class TableSource(TomlTable):
    """Where a published table stands, and its columns by the names that claims use."""

    report: str
    section: str
    table: str
    licence: str
    axis: Literal["clients", "cores", "workers", "size_mb", "query", "quantity"]
    cores: Annotated[int, Field(ge=0)]
    curves: dict[str, str]

    def source(self) -> model.ClaimSource:
        return model.ClaimSource(self.report, self.section, self.table)


def known() -> tuple[type[Predicate], ...]:
    """Those of every study first, then those of each kind of workload."""
    shared = (
        predicate
        for file in pkgutil.iter_modules(predicates.__path__)
        for predicate in _of_file(file.name)
    )
    of_kinds = (
        predicate
        for name in names()
        if offers(name, Stage.CLAIMS)
        for predicate in kind(name, Stage.CLAIMS).PREDICATES
    )
    return (*shared, *of_kinds)


def _of_file(name: str) -> Iterator[type[Predicate]]:
    module = importlib.import_module(f"{predicates.__name__}.{name}")
    for value in vars(module).values():
        if not isinstance(value, type) or value.__module__ != module.__name__:
            continue
        if issubclass(value, Predicate) and not isabstract(value):
            yield value
