"""The plans of a campaign's queries: whether they kept still, and how the sides differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from teiten.analysis.explain.difference import difference
from teiten.analysis.explain.read import read_plan
from teiten.analysis.explain.statistics import statistics
from teiten.analysis.explain.structure import stability
from teiten.analysis.model.explain import ExplainedPlan, PlanStability, QueryPlans, SidePlans
from teiten.analysis.model.findings import TrialView
from teiten.kinds.queries.model import queries_of
from teiten.model.plan import Plan
from teiten.model.trial import Outcome, unpack

Key = tuple[str, tuple[tuple[str, str], ...]]
"""Workload, and the levels of all factors but the contrasted one."""


def query_plans(plan: Plan, views: Iterable[TrialView]) -> tuple[QueryPlans, ...]:
    """The plans of every query of ``views``, in the order of the study's levels."""
    found: dict[Key, dict[str, list[TrialView]]] = {}
    for view in sorted(views, key=lambda one: one.block):
        if view.outcome is Outcome.COUNTED:
            levels = dict(view.levels)
            side = levels.pop(plan.study.contrast, "")
            key = (view.workload, tuple(levels.items()))
            found.setdefault(key, {}).setdefault(side, []).append(view)
    ordered = sorted(found, key=lambda key: plan.study.ranks(key[1]))
    return tuple(_of_query(plan, key, found[key]) for key in ordered)


def _of_query(plan: Plan, key: Key, views: dict[str, list[TrialView]]) -> QueryPlans:
    workload, context = key
    sides = tuple(
        one for level in plan.study.contrasted_levels for one in _side(level, views.get(level, ()))
    )
    return QueryPlans(
        workload=workload,
        context=context,
        text=queries_of(plan.study.workload(workload)).query(dict(context).get("query", "")).text,
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


def unpacked(text: str) -> ExplainedPlan | None:
    """A plan as the ledger holds it; None where it cannot be read."""
    try:
        return read_plan(unpack(text))
    except ValueError:
        return None


def _typical(plans: Sequence[ExplainedPlan], kept: PlanStability) -> ExplainedPlan:
    """Find the execution of the most frequent structure that is nearest to its median."""
    most = kept.variants[0]
    middle = most.execution or 0.0
    return min(
        (plans[index] for index in most.occurrences),
        key=lambda plan: abs((plan.execution or 0.0) - middle),
    )
