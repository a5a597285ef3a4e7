"""The basis of claims about queries: a number by query, for each side, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from teiten.analysis.model.claims import Claim, PublishedQueries
from teiten.analysis.model.evidence import Blocks, EvidenceTable
from teiten.claims.sides import ANY_BLOCK, ClaimSide, places_of

QUERY = "query"


@dataclass(frozen=True)
class QueryValues:
    """A number of one side."""

    side: str
    """The level of the contrasted factor; empty without a contrast."""
    by_query: Mapping[str, Blocks]
    """A planned query without a counted trial has no blocks."""


@dataclass(frozen=True)
class ClaimSides:
    """The sides of a claim on one server: old and new, or one."""

    server: str
    """Its level, where the campaign has several; else empty."""
    sides: tuple[QueryValues, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(self.sides[0].by_query)


def published_sides(table: PublishedQueries) -> ClaimSides:
    """A table as one block, without replicates."""
    return ClaimSides(
        "",
        tuple(
            QueryValues(column.label, {query: {ANY_BLOCK: value} for query, value in column.values})
            for column in table.columns
        ),
    )


def measured_sides(claim: Claim, evidence: EvidenceTable, metric: str) -> Iterator[ClaimSides]:
    """The claim's sides on each server. Raises UnmetError where the campaign has none."""
    queries = queries_of(claim, evidence)
    for place in places_of(claim, evidence, along=(QUERY,)):
        yield ClaimSides(
            place.server,
            tuple(
                QueryValues(side.label, by_query(side, evidence, queries, metric))
                for side in place.sides
            ),
        )


def queries_of(claim: Claim, evidence: EvidenceTable) -> tuple[str, ...]:
    """The planned queries of the claim's workload."""
    return evidence.levels(claim.workload).get(QUERY, ())


def by_query(
    side: ClaimSide, evidence: EvidenceTable, queries: tuple[str, ...], metric: str
) -> dict[str, Blocks]:
    return {query: side.further(QUERY, query).blocks(evidence, metric) for query in queries}
