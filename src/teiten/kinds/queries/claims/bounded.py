"""Numbers of queries that must lie within bounds: where must which mean of logarithms lie?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import CheckKind, ClaimQuestion
from teiten.analysis.model.evidence import Blocks, block_means, log_changes, logarithm
from teiten.analysis.model.predicate import UnmetError
from teiten.claims.forms import FORM, RatioBounds, Yes
from teiten.kinds.queries.claims.evidence import plan_measure
from teiten.kinds.queries.claims.predicate import ClaimSides, OfSides, QueryValues
from teiten.study.tables import Words


@dataclass(frozen=True, config=FORM)
class QueryBounds(RatioBounds):
    """Where a number must lie for these queries; empty for every query of the workload."""

    queries: Words = ()
    mean: Yes = False
    """Their geometric mean; else each of them."""


QueryParts = Annotated[tuple[QueryBounds, ...], Field(strict=False, min_length=1)]


class OfParts(OfSides):
    """About numbers within the bounds of its parts."""

    parts: QueryParts

    @property
    def queries_named(self) -> tuple[str, ...]:
        every = tuple(query for part in self.parts for query in part.queries)
        return every if all(part.queries for part in self.parts) else ()

    def bounded(
        self, values: Mapping[str, Blocks], kind: CheckKind, found: ClaimSides, metric: str
    ) -> Iterator[ClaimQuestion]:
        for part in self.parts:
            yield from bounded(part, values, kind, found, metric)


def changes(old: QueryValues, new: QueryValues) -> dict[str, dict[int, float]]:
    """ln(new/old) by query and block; NaN where a value has no logarithm."""
    return {
        query: log_changes(before, new.by_query.get(query, {}))
        for query, before in old.by_query.items()
    }


def asked_queries(queries: tuple[str, ...], known: Sequence[str]) -> tuple[str, ...]:
    """Those of a predicate, or all. Raises UnmetError where the campaign lacks some."""
    missing = [query for query in queries if query not in known]
    if missing or not known:
        raise UnmetError("queries", queries=", ".join(missing))
    return queries or tuple(known)


def logs_of(values: Mapping[str, Blocks]) -> dict[str, dict[int, float]]:
    """ln by query and block; NaN where a value has none."""
    return {
        query: {block: logarithm(value) for block, value in blocks.items()}
        for query, blocks in values.items()
    }


def bounded(
    part: QueryBounds, values: Mapping[str, Blocks], kind: CheckKind, found: ClaimSides, metric: str
) -> Iterator[ClaimQuestion]:
    queries = asked_queries(part.queries, found.queries)
    for group in [queries] if part.mean else [(query,) for query in queries]:
        yield ClaimQuestion(
            kind,
            tuple(side.side for side in found.sides),
            (),
            means_of(values, group),
            *part.log_bounds,
            classes=(group,),
            server=found.server,
            metric=metric if plan_measure(metric) else "",
            averaged=len(group),
        )


def means_of(values: Mapping[str, Blocks], queries: tuple[str, ...]) -> dict[int, float]:
    """The mean over queries, of each block that has them all."""
    return block_means([values.get(query, {}) for query in queries])
