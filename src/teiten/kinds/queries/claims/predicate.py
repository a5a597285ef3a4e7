"""Predicates about single queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from teiten.analysis.claims.checks import (
    ClaimQuestion,
    Estimator,
    check_of,
    counted,
    estimator_of,
    exact,
)
from teiten.analysis.model.claims import Check, Claim, PublishedQueries
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
        """What it speaks of beside the claim's metric: name and value."""
        return ()

    def reader(self) -> Reader | None:
        return plan_numbers


class OfSides(OfQueries):
    """About a number of each query, on every server by itself."""

    @abstractmethod
    def asked(self, found: ClaimSides, metric: str) -> Iterator[ClaimQuestion]:
        """What it asks of a claim's sides. Raises UnmetError for queries that they have not."""

    def checks(self, claim: Claim, ground: Ground) -> tuple[Check, ...]:
        return answered(claim, ground, tuple(self._asked(claim, ground)))

    def in_print(self, claim: Claim) -> Sequence[Check]:
        table = claim.published
        if not isinstance(table, PublishedQueries):
            return ()
        asked = self.asked(published_sides(table), claim.metric)
        return [check_of(one, 1.0, exact) for one in asked]

    def _asked(self, claim: Claim, ground: Ground) -> Iterator[ClaimQuestion]:
        for one in measured_sides(claim, ground.evidence, claim.metric):
            _with_plans(claim, one)
            yield from self.asked(one, claim.metric)


def answered(claim: Claim, ground: Ground, asked: Sequence[ClaimQuestion]) -> tuple[Check, ...]:
    """Each question by the interval of the campaign's design."""
    measure = ground.plan.study.measure
    estimator = _of_metric(estimator_of(measure), claim.metric)
    return tuple(check_of(one, measure.alpha, estimator, among=len(asked)) for one in asked)


def _with_plans(claim: Claim, found: ClaimSides) -> None:
    """Raises UnmetError where trials were counted, but tell nothing of a metric of plans."""
    values = [blocks for side in found.sides for blocks in side.by_query.values()]
    if plan_measure(claim.metric) is not None and not any(values):
        raise UnmetError("no-plans")


def _of_metric(estimator: Estimator, metric: str) -> Estimator:
    measure = plan_measure(metric)
    return counted(estimator) if measure is not None and measure[0].counted else estimator
