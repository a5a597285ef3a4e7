"""Numbers of the plans of trials that claims speak of, each by its name in the evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from teiten.analysis.explain.read import read_plan
from teiten.analysis.explain.statistics import statistics
from teiten.analysis.explain.table_use import TABLE, share_of_leader, table_use
from teiten.analysis.explain.worker_rules import (
    Relations,
    gather_workers,
    limits_of,
    recorded_relations,
    workers_by_partitions,
    workers_by_size,
)
from teiten.analysis.model.explain import (
    ExplainedPlan,
    GatherWorkers,
    PlanStatistics,
    TableUse,
    WorkerLimits,
)
from teiten.analysis.model.findings import TrialView
from teiten.kinds.contract_analyse import NumbersOf
from teiten.kinds.queries.model import PlanMeasure, plan_measure
from teiten.model.plan import Plan
from teiten.model.relations import PLANNER
from teiten.model.trial import Event, unpack

LEAST_SHARE = 1e-4
"""A smaller share, or none at all, counts as this much: its logarithm is finite."""
INDEX = "i"
"""pg_class.relkind"""
LAUNCHED = "workers_launched"
"""The number of workers that a trial launched."""
SERIAL = "plan_serial"
"""1 of a plan that asks for no workers; others have no value."""
PERMITTED = "workers_permitted"
"""The number of workers that a trial's parameters permit."""
BY_SIZE, BY_PARTITIONS = "workers_by_size", "workers_by_partitions"
"""Workers by a rule of the planner: for a table, ``workers_by_size:lineorder``; without one, for
what the plan scans first in parallel."""
HAS = "plan_has"
"""1 or 0: whether the plan has one of some nodes, ``plan_has:Parallel Seq Scan|Parallel Append``"""
_OF_PLANS = (*PlanMeasure, LAUNCHED, SERIAL, PERMITTED, BY_SIZE, BY_PARTITIONS, HAS)


Circumstances = tuple[Relations, WorkerLimits | None]
"""The data and the limits of the server of a trial, as far as they are known."""


def circumstances_of(plan: Plan, events: Sequence[Event]) -> Callable[[TrialView], Circumstances]:
    """Make what finds the circumstances of trials."""
    relations = recorded_relations(events)
    templates = {trial.number: trial.template.fingerprint for trial in plan.trials}
    return lambda view: (
        relations.get(templates[view.number], {}),
        limits_of(view.facts.get(PLANNER)),
    )


def numbers_of_plans(plan: Plan, events: Sequence[Event]) -> NumbersOf:
    """Make what reads the numbers of trials whose plan was executed."""
    known = circumstances_of(plan, events)

    def numbers(view: TrialView, wanted: Collection[str]) -> dict[str, float]:
        names = [name for name in wanted if name.partition(":")[0] in _OF_PLANS]
        text = view.facts.get("plan")
        if not names or not text or view.facts.get("plan_executed") is not True:
            return {}
        explained = unpacked(str(text))
        if explained is None:
            return {}
        executed = Executed(explained, *known(view))
        figures = ((name, executed.number(name)) for name in names)
        return {name: float(value) for name, value in figures if value is not None}

    return numbers


@dataclass
class Executed:
    """An executed plan with the planner's circumstances."""

    plan: ExplainedPlan
    relations: Relations
    limits: WorkerLimits | None

    def number(self, name: str) -> float | None:
        """A number by its name; None where the plan, or what was recorded, does not tell."""
        measure = plan_measure(name)
        if measure is not None:
            return self._measured(*measure)
        quantity, _, of = name.partition(":")
        return self._has(of.split("|")) if quantity == HAS else self._workers(quantity, of)

    @cached_property
    def _statistics(self) -> PlanStatistics:
        return statistics(self.plan)

    @cached_property
    def _gathers(self) -> tuple[GatherWorkers, ...]:
        return gather_workers(self.plan, self.relations, self.limits)

    @property
    def _launched(self) -> int:
        """Workers of the Gather that planned the most; 0 of a serial plan."""
        return self._gathers[0].launched or 0 if self._gathers else 0

    def _measured(self, measure: PlanMeasure, of: str) -> float | None:
        match measure:
            case PlanMeasure.BLOCKS:
                return self._use(of).blocks
            case PlanMeasure.ALONE:
                shared = self._use(of).shared
                scans = sum(scan.scans for scan in shared)
                alone = sum(scan.scans for scan in shared if scan.workers <= 1)
                return max(alone / scans, LEAST_SHARE) if scans else None
            case PlanMeasure.LEADER:
                share = share_of_leader(self._statistics, of, self.relations)
                return None if share is None else max(share, LEAST_SHARE)
            case PlanMeasure.SECONDS:
                kind = next((kind for kind in self._statistics.kinds if kind.kind == of), None)
                return None if kind is None else kind.seconds
            case PlanMeasure.SHARE:
                shares = [kind.share for kind in self._statistics.kinds if kind.kind == of]
                if any(share is None for share in shares):
                    return None
                return max(sum(share or 0.0 for share in shares), LEAST_SHARE)

    def _use(self, table: str) -> TableUse:
        return table_use(self._statistics, table, self.relations, (), "")

    def _has(self, nodes: Collection[str]) -> bool:
        """Whether it has a node, as EXPLAIN in text names them, on a share of whose rows each
        process works."""
        return any(
            node.parallel_aware and f"Parallel {node.kind}" in nodes for node in self.plan.nodes
        )

    def _workers(self, quantity: str, relation: str) -> int | None:
        """A number of workers; no rule is known without the limits of parameters."""
        if quantity == LAUNCHED:
            return self._launched
        if quantity == SERIAL:
            return None if self._gathers else 1
        if self.limits is None:
            return None
        if quantity == PERMITTED:
            return min(self.limits.per_gather, self.limits.free)
        return self._by_rule(quantity, relation)

    def _by_rule(self, rule: str, relation: str) -> int | None:
        if not relation:  # of what the plan scans first in parallel
            source = self._gathers[0].source if self._gathers else None
            if source is None:
                return None
            # Of an index's part the size gives only the most; fewer are no contradiction.
            return min(source.workers, self._launched) if source.at_most else source.workers
        if rule == BY_SIZE:
            return self._by_size(relation)
        tables = [table for table in self.relations.values() if table.kind == TABLE]
        count = sum(table.parent == relation for table in tables)
        return workers_by_partitions(count) if count else None

    def _by_size(self, name: str) -> int | None:
        """Workers by the rule for the size of a table or an index."""
        relation = self.relations.get(name)
        if relation is None or not relation.pages or self.limits is None:
            return None
        of_index = relation.kind == INDEX
        return workers_by_size(
            relation.pages, self.limits.index_pages if of_index else self.limits.table_pages
        )


def unpacked(text: str) -> ExplainedPlan | None:
    """A plan as the ledger holds it; None where it cannot be read."""
    try:
        return read_plan(unpack(text))
    except ValueError:
        return None
