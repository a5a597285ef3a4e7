"""Numbers of single plans that claims speak of, by trial.

Only the plans of the queries are read that a claim names: a plan with many partitions takes long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from teiten.analysis.explain.planner_facts import Relations, limits_of, recorded_relations
from teiten.analysis.explain.queries import unpacked
from teiten.analysis.explain.statistics import statistics
from teiten.analysis.explain.table_use import TABLE, table_use
from teiten.analysis.explain.worker_rules import (
    gather_workers,
    workers_by_partitions,
    workers_by_size,
)
from teiten.analysis.model.explain import ExplainedPlan, PlanStatistics
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.query_results import GatherWorkers, TableUse, WorkerLimits
from teiten.model.claims import Claim
from teiten.model.plan import Plan
from teiten.model.query_claims import (
    FIRST,
    LAST,
    LAUNCHED,
    PERMITTED,
    PlanHas,
    PlanMeasure,
    PlanValue,
    Queries,
    QueryEffect,
    WorkerCurve,
    WorkerRule,
    WorkersByRule,
    plan_measure,
)
from teiten.model.relations import PLANNER
from teiten.model.trial import Event, Outcome

LEAST_SHARE = 1e-4
"""A smaller share, or none at all, counts as this much: its logarithm is finite."""
INDEX = "i"
"""pg_class.relkind"""
Key = tuple[int, int]
"""A trial's number and attempt."""


def plan_numbers(
    claims: Sequence[Claim], plan: Plan, views: Iterable[TrialView], events: Iterable[Event]
) -> dict[Key, dict[str, float]]:
    """The numbers of each counted trial whose plan a claim speaks of."""
    wanted = [one for one in claims if is_about_plans(one)]
    if not wanted:
        return {}
    relations = recorded_relations(events)
    templates = {trial.number: trial.template.fingerprint for trial in plan.trials}
    found = {}
    for view in views:
        asked = [one for one in wanted if _speaks_of(one, view)]
        text = view.facts.get("plan")
        counts = view.outcome is Outcome.COUNTED and view.facts.get("plan_executed") is True
        if not asked or not text or not counts:
            continue
        explained = unpacked(str(text))
        if explained is not None:
            known = relations.get(templates[view.number], {})
            one = _Executed(explained, known, limits_of(view.facts.get(PLANNER)))
            found[view.number, view.attempt] = dict(
                pair for claim in asked for pair in one.numbers(claim)
            )
    return found


def is_about_plans(claim: Claim) -> bool:
    """Whether a claim needs more of a trial than its metrics."""
    about = isinstance(claim.predicate, WorkerCurve | WorkersByRule | PlanHas)
    return about or plan_measure(claim.metric) is not None


def _speaks_of(claim: Claim, view: TrialView) -> bool:
    levels = dict(view.levels)
    queries = _queries(claim)
    return (
        view.workload == claim.workload
        and all(
            level in (FIRST, LAST) or levels.get(name, level) == level for name, level in claim.at
        )
        and (not queries or levels.get("query") in queries)
    )


def _queries(claim: Claim) -> Queries:
    match claim.predicate:
        case WorkersByRule() | PlanHas():
            return claim.predicate.queries
        case QueryEffect(parts) | PlanValue(parts):
            every = [query for part in parts for query in part.queries]
            return tuple(every) if all(part.queries for part in parts) else ()
        case _:
            return ()


@dataclass
class _Executed:
    """An executed plan with the planner's circumstances."""

    plan: ExplainedPlan
    relations: Relations
    limits: WorkerLimits | None

    def numbers(self, claim: Claim) -> Iterator[tuple[str, float]]:
        """Metric and value; nothing where the plan, or what was recorded, does not tell."""
        measure = plan_measure(claim.metric)
        value = None if measure is None else self._measured(*measure)
        if value is not None:
            yield claim.metric, value
        match claim.predicate:
            case WorkersByRule():
                yield LAUNCHED, self._launched
                by_rule = self._by_rule(claim.predicate)
                if by_rule is not None:
                    yield claim.predicate.metric, float(by_rule[0])
                    yield PERMITTED, float(by_rule[1])
            case WorkerCurve():
                yield LAUNCHED, self._launched
            case PlanHas(nodes):
                found = any(
                    one.parallel_aware and f"Parallel {one.kind}" in nodes
                    for one in self.plan.nodes
                )
                yield claim.predicate.metric, float(found)
            case _:
                pass

    @cached_property
    def _statistics(self) -> PlanStatistics:
        return statistics(self.plan)

    @cached_property
    def _gathers(self) -> tuple[GatherWorkers, ...]:
        return gather_workers(self.plan, self.relations, self.limits)

    @property
    def _launched(self) -> float:
        """Workers of the Gather that planned the most; 0 of a serial plan."""
        return float(self._gathers[0].launched or 0) if self._gathers else 0.0

    def _measured(self, measure: PlanMeasure, of: str) -> float | None:
        match measure:
            case PlanMeasure.BLOCKS:
                return self._use(of).blocks
            case PlanMeasure.ALONE:
                shared = self._use(of).shared
                scans = sum(one.scans for one in shared)
                alone = sum(one.scans for one in shared if one.workers <= 1)
                return max(alone / scans, LEAST_SHARE) if scans else None
            case PlanMeasure.SECONDS:
                kind = next((one for one in self._statistics.kinds if one.kind == of), None)
                return None if kind is None else kind.seconds
            case PlanMeasure.SHARE:
                shares = [one.share for one in self._statistics.kinds if one.kind == of]
                if any(share is None for share in shares):
                    return None
                return max(sum(share or 0.0 for share in shares), LEAST_SHARE)

    def _use(self, table: str) -> TableUse:
        return table_use(self._statistics, table, self.relations, (), "")

    def _by_rule(self, predicate: WorkersByRule) -> tuple[int, int] | None:
        """The workers by the rule, and those that the parameters permit; None where sizes or
        limits were not recorded, or no rule is known for the plan."""
        limits = self.limits
        if limits is None:
            return None
        workers = self._of_relation(predicate, limits) if predicate.relation else self._of_source
        return None if workers is None else (workers, min(limits.per_gather, limits.free))

    @property
    def _of_source(self) -> int | None:
        source = self._gathers[0].source if self._gathers else None
        if source is None:
            return None
        # Of an index's part the size gives only the most; fewer are no contradiction.
        return min(source.workers, round(self._launched)) if source.at_most else source.workers

    def _of_relation(self, predicate: WorkersByRule, limits: WorkerLimits) -> int | None:
        if predicate.rule is WorkerRule.PARTITIONS:
            tables = (one for one in self.relations.values() if one.kind == TABLE)
            count = sum(one.parent == predicate.relation for one in tables)
            return workers_by_partitions(count) if count else None
        relation = self.relations.get(predicate.relation)
        if relation is None or not relation.pages:
            return None
        least = limits.index_pages if relation.kind == INDEX else limits.table_pages
        return workers_by_size(relation.pages, least)
