"""The basis of claims about single queries: a number by query, for each side, block by block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as form

from teiten.analysis.model.claims import (
    CheckKind,
    Claim,
    ClaimQuestion,
    ClaimStanding,
    ClaimWords,
    PublishedQueries,
)
from teiten.analysis.model.evidence import (
    Blocks,
    EvidenceTable,
    block_means,
    log_changes,
    logarithm,
)
from teiten.analysis.model.predicate import Ground, Predicate, UnmetError
from teiten.claims.forms import FORM, RatioBounds, Yes
from teiten.claims.sides import ANY_BLOCK, places_of
from teiten.kinds.queries.model import QUERY, plan_measure
from teiten.study.tables import Words


@form(frozen=True, config=FORM)
class QueryBounds(RatioBounds):
    """Where a number must lie for these queries; empty for every query of the workload."""

    queries: Words = ()
    mean: Yes = False
    """Their geometric mean; else each of them."""


QueryParts = Annotated[tuple[QueryBounds, ...], Field(strict=False, min_length=1)]


OfQuery = Mapping[str, Blocks]
"""A number of each query, by block; a planned query without a counted trial has no blocks."""


@dataclass(frozen=True)
class ClaimSides:
    """A number of the sides of a claim on one server: of old and new, or of one."""

    server: str
    """Its level, where the campaign has several; else empty."""
    labels: tuple[str, ...]
    """The levels of the contrasted factor; empty without a contrast."""
    values: tuple[OfQuery, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self.values[0])


class OfQueries(Predicate):
    """About queries, block by block; empty ``queries`` are every one of the workload."""

    @property
    def queries_named(self) -> tuple[str, ...]:
        """The queries that it speaks of; empty for all."""
        return ()

    @property
    def only_at(self) -> Mapping[str, Collection[str]]:
        return {QUERY: self.queries_named} if self.queries_named else {}

    def is_counted(self, claim: Claim) -> bool:
        measure = plan_measure(claim.metric)
        return measure is not None and measure[0].counted


class OfSides(OfQueries):
    """About a number of each query, on every server by itself."""

    @abstractmethod
    def asked(self, of_claim: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        """List the questions about a claim's sides. Raises UnmetError for queries they lack."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        """Raises UnmetError also where counted trials tell nothing of a metric of plans."""
        for sides in measured_sides(claim, ground.evidence, claim.metric):
            values = [blocks for side in sides.values for blocks in side.values()]
            if plan_measure(claim.metric) is not None and not any(values):
                raise UnmetError("no-plans")
            yield from self.asked(sides, claim.metric)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        table = claim.published
        if isinstance(table, PublishedQueries):
            yield from self.asked(published_sides(table), claim.metric)


class OfParts(OfSides):
    """About numbers within the bounds of its parts."""

    parts: QueryParts

    @property
    def queries_named(self) -> tuple[str, ...]:
        every = tuple(query for part in self.parts for query in part.queries)
        return every if all(part.queries for part in self.parts) else ()

    def bounded(
        self, values: OfQuery, kind: CheckKind, of_claim: ClaimSides, metric: str
    ) -> Iterator[ClaimQuestion]:
        for part in self.parts:
            queries = asked_queries(part.queries, of_claim.queries)
            for group in [queries] if part.mean else [(query,) for query in queries]:
                yield ClaimQuestion(
                    kind,
                    of_claim.labels,
                    (),
                    means_of(values, group),
                    *part.log_bounds,
                    classes=(group,),
                    server=of_claim.server,
                    metric=metric if plan_measure(metric) else "",
                    averaged=len(group),
                )


def published_sides(table: PublishedQueries) -> ClaimSides:
    """A table as one block, without replicates."""
    return ClaimSides(
        "",
        tuple(column.label for column in table.columns),
        tuple(
            {query: {ANY_BLOCK: value} for query, value in column.values}
            for column in table.columns
        ),
    )


def measured_sides(claim: Claim, evidence: EvidenceTable, metric: str) -> Iterator[ClaimSides]:
    """The claim's sides on each server. Raises UnmetError where the campaign has none."""
    queries = planned_queries(claim, evidence)
    for place in places_of(claim, evidence, along=(QUERY,)):
        values = (
            {query: side.further(QUERY, query).blocks(evidence, metric) for query in queries}
            for side in place.sides
        )
        yield ClaimSides(place.server, place.labels, tuple(values))


def planned_queries(claim: Claim, evidence: EvidenceTable) -> tuple[str, ...]:
    """The planned queries of the claim's workload."""
    return evidence.levels(claim.workload).get(QUERY, ())


def changes(old: OfQuery, new: OfQuery) -> dict[str, dict[int, float]]:
    """ln(new/old) by query and block; NaN where a value has no logarithm."""
    return {query: log_changes(before, new.get(query, {})) for query, before in old.items()}


def asked_queries(queries: tuple[str, ...], known: Sequence[str]) -> tuple[str, ...]:
    """Those of a predicate, or all. Raises UnmetError where the campaign lacks some."""
    missing = [query for query in queries if query not in known]
    if missing or not known:
        raise UnmetError("queries", queries=", ".join(missing))
    return queries or tuple(known)


def logs_of(values: OfQuery) -> dict[str, dict[int, float]]:
    """ln by query and block; NaN where a value has none."""
    return {
        query: {block: logarithm(value) for block, value in blocks.items()}
        for query, blocks in values.items()
    }


def means_of(values: OfQuery, queries: tuple[str, ...]) -> dict[int, float]:
    """The mean over queries, of each block that has them all."""
    return block_means([values.get(query, {}) for query in queries])


def listed(words: ClaimWords, queries: Sequence[str]) -> str:
    """One query by its name, several as their mean."""
    text = words("list.separator").join(queries)
    return text if len(queries) == 1 else words("claim.mean-of", queries=text)


def of_metric(words: ClaimWords, metric: str, what: str) -> str:
    """With the words for a number that is taken from plans; else as it is."""
    measure = plan_measure(metric)
    return what if measure is None else words(f"claim.{measure[0].value}", of=measure[1], what=what)


def all_or_none(agree: Sequence[bool]) -> ClaimStanding:
    """Plans that differ among repetitions decide nothing."""
    if all(agree):
        return ClaimStanding.REPRODUCED
    return ClaimStanding.INCONCLUSIVE if any(agree) else ClaimStanding.CONTRADICTED
