"""Published findings about queries on two operating systems, checked on two campaigns.

As for the curves of ``comparison_claims`` nothing is paired: Welch's interval of the blocks' means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.across.unpaired import welch
from teiten.analysis.claims.checks import Estimate, check_of
from teiten.analysis.claims.queries import (
    QUERY,
    Blocks,
    by_query,
    in_cell,
    known_levels,
    unknown_queries,
    wanted_levels,
)
from teiten.analysis.claims.query_questions import asked_queries, logs_of, means_of
from teiten.analysis.claims.questions import Question, UnmetError, log_bound
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.verdict.pairs import Observation
from teiten.analysis.verdict.verdict import NO_VARIANCE, student_quantile
from teiten.model.claims import Check, CheckKind, Claim
from teiten.model.query_claims import QueryEffect, QueryPredicate, plan_measure

Observed = tuple[CampaignAnalysis, Sequence[Observation]]
Logs = Mapping[str, Blocks]
"""Logarithms by query and block."""


@dataclass(frozen=True)
class _Asked:
    """One ratio of two systems, and its bounds."""

    question: Question
    old: tuple[float, ...]
    """The blocks' means of logarithms."""
    new: tuple[float, ...]


def query_checks(
    claim: Claim, predicate: QueryPredicate, here: Mapping[str, Observed]
) -> tuple[Check, ...]:
    """Every check of a claim about two systems, ``here`` by their names.

    Raises UnmetError where the campaigns do not have what it takes.
    """
    if not isinstance(predicate, QueryEffect) or claim.contrast is None:
        raise UnmetError("compared")
    systems = (claim.contrast.old, claim.contrast.new)
    found = [_by_server(claim, here[system]) for system in systems]
    shared = [server for server in found[0] if server in found[1]]
    if not shared:
        raise UnmetError("no-common-server")
    asked = [
        one
        for server in shared
        for one in _ask(claim, predicate, systems, (found[0][server], found[1][server]))
    ]
    measure = here[systems[0]][0].plan.study.measure
    return tuple(_check(one, measure.alpha / len(asked)) for one in asked)


def _by_server(claim: Claim, observed: Observed) -> dict[str, Logs]:
    """The logarithms of the claim's metric on each server of a campaign."""
    campaign, observations = observed
    plan = campaign.plan
    if unknown_queries(claim, plan):
        raise UnmetError("script", workload=claim.workload)
    known = known_levels(plan, claim.workload)
    alone = replace(claim, contrast=None)
    return {
        server: logs_of(
            by_query(
                in_cell(plan, observations, claim.workload, levels),
                known.get(QUERY, ()),
                claim.metric,
            )
        )
        for server, ((_, levels),) in wanted_levels(alone, plan, known)
    }


def _ask(
    claim: Claim, predicate: QueryEffect, systems: tuple[str, str], sides: tuple[Logs, Logs]
) -> Iterator[_Asked]:
    old, new = sides
    shared = [query for query in old if query in new]
    for part in predicate.parts:
        queries = asked_queries(part.queries, shared)
        for group in [queries] if part.mean else [(query,) for query in queries]:
            question = Question(
                CheckKind.QUERIES,
                systems,
                (),
                (),
                log_bound(part.low, -math.inf),
                log_bound(part.high, math.inf),
                classes=(group,),
                metric=claim.metric if plan_measure(claim.metric) else "",
            )
            means = (tuple(means_of(one, group).values()) for one in sides)
            yield _Asked(question, *means)


def _check(one: _Asked, alpha: float) -> Check:
    estimate = unpaired(one.old, one.new, alpha)
    check = check_of(one.question, alpha, lambda _values, _alpha: estimate)
    return replace(check, pairs=min(len(one.old), len(one.new)))


def unpaired(old: Sequence[float], new: Sequence[float], alpha: float) -> Estimate | None:
    if min(len(old), len(new)) < 2 or not all(map(math.isfinite, (*old, *new))):
        return None
    difference, error, freedom = welch(old, new)
    if error < NO_VARIANCE:
        return None
    half = student_quantile(1 - alpha / 2, freedom) * error
    return difference, difference - half, difference + half
