"""Predicates about single queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator

from teiten.analysis.model.claims import Claim, ClaimQuestion, PublishedQueries
from teiten.analysis.model.predicate import Ground, Predicate, Reader, UnmetError
from teiten.kinds.queries.claims.evidence import Executed, plan_numbers
from teiten.kinds.queries.claims.measures import plan_measure
from teiten.kinds.queries.claims.sides import (
    ClaimSides,
    measured_sides,
    published_sides,
)


class OfQueries(Predicate):
    """About queries, block by block; empty ``queries`` are every one of the workload."""

    @property
    def queries_named(self) -> tuple[str, ...]:
        """The queries whose plans it speaks of; empty for all."""
        return ()

    def of_plan(self, executed: Executed) -> Iterable[tuple[str, float]]:
        """List what it speaks of in a plan beside the claim's metric: name and value."""
        return ()

    def is_counted(self, claim: Claim) -> bool:
        measure = plan_measure(claim.metric)
        return measure is not None and measure[0].counted

    def reader(self) -> Reader | None:
        return plan_numbers


class OfSides(OfQueries):
    """About a number of each query, on every server by itself."""

    @abstractmethod
    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        """List the questions about a claim's sides. Raises UnmetError for queries they lack."""

    def questions(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for sides in measured_sides(claim, ground.evidence, claim.metric):
            _with_plans(claim, sides)
            yield from self.asked(sides, claim.metric)

    def printed_questions(self, claim: Claim) -> Iterator[ClaimQuestion]:
        table = claim.published
        if isinstance(table, PublishedQueries):
            yield from self.asked(published_sides(table), claim.metric)


def _with_plans(claim: Claim, found: ClaimSides) -> None:
    """Raises UnmetError where trials were counted, but tell nothing of a metric of plans."""
    values = [blocks for side in found.sides for blocks in side.by_query.values()]
    if plan_measure(claim.metric) is not None and not any(values):
        raise UnmetError("no-plans")
