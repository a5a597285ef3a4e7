"""Predicates about single queries: what published findings say of times, workers and plans.

``queries`` are levels of the factor query; empty for every query of the workload.
"""

from __future__ import annotations

from teiten.analysis.model.predicate import Predicate
from teiten.kinds.queries.claims.of_plans import PlanHas, PlanValue, WorkerCurve, WorkersByRule
from teiten.kinds.queries.claims.of_queries import QueryEffect, QueryOrder

PREDICATES: tuple[type[Predicate], ...] = (
    QueryEffect,
    QueryOrder,
    WorkerCurve,
    WorkersByRule,
    PlanValue,
    PlanHas,
)
