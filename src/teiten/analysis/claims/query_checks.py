"""The checks of a claim about queries, on a campaign and in print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from teiten.analysis.claims.checks import Estimator, check_of, counted, estimator_of, exact
from teiten.analysis.claims.curves import published
from teiten.analysis.claims.queries import (
    Sides,
    measured_sides,
    published_sides,
    unknown_queries,
)
from teiten.analysis.claims.query_questions import ask
from teiten.analysis.claims.questions import Question, UnmetError
from teiten.analysis.claims.workers import (
    curve_questions,
    plans_having,
    printed_workers,
    shape,
    workers_by_rule,
)
from teiten.analysis.verdict.pairs import Observation
from teiten.kinds.queries.metrics import OVER_TIMEOUT
from teiten.model.claims import Check, Claim, PublishedCurves, PublishedQueries
from teiten.model.plan import Plan
from teiten.model.query_claims import (
    LAUNCHED,
    PERMITTED,
    PlanHas,
    PlanValue,
    QueryEffect,
    QueryOrder,
    QueryPredicate,
    WorkerCurve,
    WorkersByRule,
    plan_measure,
)


def query_checks(
    claim: Claim,
    predicate: QueryPredicate,
    plan: Plan,
    observations: Sequence[Observation],
    cores: int,
) -> tuple[Check, ...]:
    """Every check of a claim. Raises UnmetError where the campaign does not have what it takes."""
    if unknown_queries(claim, plan):
        raise UnmetError("script", workload=claim.workload)
    match predicate:
        case WorkersByRule():
            return tuple(_workers(claim, predicate, plan, observations))
        case PlanHas():
            found = measured_sides(claim, plan, observations, predicate.metric)
            return tuple(check for one in found for check in plans_having(predicate, one))
        case WorkerCurve():
            asked = tuple(curve_questions(claim, predicate, plan, observations, cores))
        case _:
            asked = tuple(_questions(claim, predicate, plan, observations))
    measure = plan.study.measure
    estimator = _of_metric(estimator_of(measure), claim.metric)
    return tuple(check_of(one, measure.alpha / len(asked), estimator) for one in asked)


def printed_checks(claim: Claim, predicate: QueryPredicate) -> list[Check]:
    """The checks on the published table; none where it does not hold what they ask."""
    table = claim.published
    match predicate, table:
        case WorkersByRule(), PublishedQueries():
            return list(printed_workers(predicate, published_sides(table)))
        case WorkerCurve(), PublishedCurves():
            curve = replace(published(table)[0], side="")
            steps = shape(predicate, curve, predicate.printed_cap, table.cores, "")
            return [check_of(one, 1.0, exact) for one in steps]
        case ((QueryEffect() | QueryOrder() | PlanValue()), PublishedQueries()):
            asked = ask(predicate, published_sides(table), claim.metric)
            return [check_of(one, 1.0, exact) for one in asked]
        case _:
            return []


def exceeded_limit(claim: Claim, observations: Sequence[Observation]) -> bool:
    """Whether a query of the claim's workload exceeded its time limit, and so has no number."""
    return any(
        one.workload == claim.workload and OVER_TIMEOUT.name in one.metrics for one in observations
    )


def _questions(
    claim: Claim,
    predicate: QueryEffect | QueryOrder | PlanValue,
    plan: Plan,
    observations: Sequence[Observation],
) -> Iterator[Question]:
    for one in measured_sides(claim, plan, observations, claim.metric):
        _with_plans(claim, one)
        yield from ask(predicate, one, claim.metric)


def _with_plans(claim: Claim, found: Sides) -> None:
    """Raises UnmetError where trials were counted, but tell nothing of a metric of plans."""
    values = [blocks for side in found.sides for blocks in side.by_query.values()]
    if plan_measure(claim.metric) is not None and not any(values):
        raise UnmetError("no-plans")


def _workers(
    claim: Claim, predicate: WorkersByRule, plan: Plan, observations: Sequence[Observation]
) -> Iterator[Check]:
    found = (
        measured_sides(claim, plan, observations, metric)
        for metric in (LAUNCHED, predicate.metric, PERMITTED)
    )
    for launched, by_rule, permitted in zip(*found, strict=True):
        yield from workers_by_rule(predicate, launched, by_rule, permitted)


def _of_metric(estimator: Estimator, metric: str) -> Estimator:
    measure = plan_measure(metric)
    return counted(estimator) if measure is not None and measure[0].counted else estimator
