"""From the trials of workloads of queries to their results; and the plans of their queries: whether
they kept still, and how the sides differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.statistics import stability, statistics
from teiten.analysis.model.explain import ExplainedPlan, PlanStability, QueryPlans, SidePlans
from teiten.analysis.model.findings import Measured, TrialView
from teiten.kinds.contract_analyse import KindAnalysis, NumbersOf, Unlike, unlike_rows, unlike_texts
from teiten.kinds.queries.model import QUERY, queries_of
from teiten.kinds.queries.plan_numbers import numbers_of_plans, unpacked
from teiten.kinds.queries.results import QueriesFound
from teiten.kinds.queries.workload_results import query_results
from teiten.model.plan import Plan
from teiten.model.sql import commands
from teiten.model.study import Workload
from teiten.model.trial import Event, Outcome


class QueriesAnalysis(KindAnalysis):
    def identity(self, workload: Workload) -> dict[str, Any]:
        variables = queries_of(workload).variables
        drawn = {} if variables is None else {"variables": variables.digest}
        return {**super().identity(workload), **drawn}

    def results(self, measured: Measured) -> QueriesFound:
        plans = query_plans(measured.plan, measured.views)
        return QueriesFound(plans, query_results(measured, plans))

    def numbers(self, plan: Plan, events: Sequence[Event]) -> NumbersOf:
        return numbers_of_plans(plan, events)

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        yield from unlike_texts(a, b, lambda text: " ".join(commands(text)))
        here, there = queries_of(a), queries_of(b)
        yield unlike_rows(here.variables, there.variables)
        yield Unlike("timeout", here.timeout, there.timeout)


ANALYSIS = QueriesAnalysis()


Key = tuple[str, tuple[tuple[str, str], ...]]
"""Workload, and the levels of all factors but the contrasted one."""


def query_plans(plan: Plan, views: Iterable[TrialView]) -> tuple[QueryPlans, ...]:
    """The plans of every query of ``views``, in the order of the study's levels."""
    by_query: dict[Key, dict[str, list[TrialView]]] = {}
    for view in sorted(views, key=lambda view: view.block):
        if view.outcome is Outcome.COUNTED:
            levels = dict(view.levels)
            side = levels.pop(plan.study.contrast, "")
            key = (view.workload, tuple(levels.items()))
            by_query.setdefault(key, {}).setdefault(side, []).append(view)
    ordered = sorted(by_query, key=lambda key: plan.study.ranks(key[1]))
    return tuple(_of_query(plan, key, by_query[key]) for key in ordered)


def _of_query(plan: Plan, key: Key, views: dict[str, list[TrialView]]) -> QueryPlans:
    workload, context = key
    sides = tuple(
        plans
        for level in plan.study.contrasted_levels
        for plans in _side(level, views.get(level, ()))
    )
    return QueryPlans(
        workload=workload,
        context=context,
        text=queries_of(plan.study.workload(workload)).query(dict(context).get(QUERY, "")).text,
        sides=sides,
        difference=difference(sides[0].typical.plan, sides[-1].typical.plan)
        if len(sides) > 1
        else None,
    )


def _side(level: str, views: Sequence[TrialView]) -> Iterator[SidePlans]:
    """Executed plans; only where there is none, estimated ones."""
    executed = list(_plans(views, executed=True))
    plans = executed or list(_plans(views, executed=False))
    if plans:
        kept = stability(plans)
        yield SidePlans(level, kept, statistics(_typical(plans, kept)), bool(executed))


def _plans(views: Sequence[TrialView], *, executed: bool) -> Iterator[ExplainedPlan]:
    for view in views:
        if view.facts.get("plan") and view.facts.get("plan_executed") is executed:
            plan = unpacked(str(view.facts["plan"]))
            if plan is not None:
                yield plan


def _typical(plans: Sequence[ExplainedPlan], kept: PlanStability) -> ExplainedPlan:
    """Find the execution of the most frequent structure that is nearest to its median."""
    most = kept.variants[0]
    middle = most.execution or 0.0
    return min(
        (plans[index] for index in most.occurrences),
        key=lambda plan: abs((plan.execution or 0.0) - middle),
    )
