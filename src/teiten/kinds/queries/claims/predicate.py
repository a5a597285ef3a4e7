"""Predicates about single queries.

The basis of claims about queries: a number by query, for each side, block by block.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from teiten.analysis.explain.worker_rules import limits_of, recorded_relations
from teiten.analysis.model.claims import FIRST, LAST, Claim, ClaimQuestion, PublishedQueries
from teiten.analysis.model.evidence import Blocks, EvidenceTable
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.predicate import Ground, Key, Predicate, Reader, UnmetError
from teiten.claims.sides import ANY_BLOCK, ClaimSide, places_of
from teiten.kinds.queries.claims.evidence import Executed, plan_measure
from teiten.kinds.queries.explained import unpacked
from teiten.model.plan import Plan
from teiten.model.relations import PLANNER
from teiten.model.trial import Event, Outcome


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


def plan_numbers(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> dict[Key, dict[str, float]]:
    """The numbers of each counted trial whose plan a claim speaks of. Only the plans of the queries
    are read that a claim names: a plan with many partitions takes long."""
    relations = recorded_relations(events)
    templates = {trial.number: trial.template.fingerprint for trial in plan.trials}
    by_trial = {}
    for view in views:
        asked = [claim for claim in claims if _speaks_of(claim, view)]
        text = view.facts.get("plan")
        counts = view.outcome is Outcome.COUNTED and view.facts.get("plan_executed") is True
        if not asked or not text or not counts:
            continue
        explained = unpacked(str(text))
        if explained is not None:
            known = relations.get(templates[view.number], {})
            executed = Executed(explained, known, limits_of(view.facts.get(PLANNER)))
            by_trial[view.number, view.attempt] = dict(
                pair for claim in asked for pair in _numbers(executed, claim)
            )
    return by_trial


def _speaks_of(claim: Claim, view: TrialView) -> bool:
    levels = dict(view.levels)
    queries = claim.predicate.queries_named if isinstance(claim.predicate, OfQueries) else ()
    return (
        view.workload == claim.workload
        and all(
            level in (FIRST, LAST) or levels.get(name, level) == level for name, level in claim.at
        )
        and (not queries or levels.get("query") in queries)
    )


def _numbers(executed: Executed, claim: Claim) -> Iterator[tuple[str, float]]:
    value = executed.number(claim.metric)
    if value is not None:
        yield claim.metric, value
    if isinstance(claim.predicate, OfQueries):
        yield from claim.predicate.of_plan(executed)


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
