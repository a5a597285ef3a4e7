"""Predicates about single queries: what published findings say of times, workers and plans.

``queries`` are levels of the factor query; empty for every query of the workload. Bounds are
ratios, as in ``model.claims``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Queries = tuple[str, ...]

FIRST, LAST = "first", "last"
"""In a claim: the first or the last level that its workload has of a factor, for levels that a
machine or a user decides. Where the factor is not varied, the study's own setting is meant."""
WORKLOAD = "workload"
"""As the factor of a claim's contrast: the same queries in two workloads of a study."""


class PlanMeasure(StrEnum):
    """Numbers taken from the plan of a trial; a metric's name is ``MEASURE:OF``."""

    BLOCKS = "plan_blocks"
    """Blocks of a table, its partitions included, found in shared buffers or read."""
    SECONDS = "plan_seconds"
    """Exclusive seconds of all nodes of a type, in all processes."""
    SHARE = "plan_share"
    """The same as a share of the plan's exclusive seconds."""
    ALONE = "plan_alone"
    """Of the scans of a table's partitions that read a row: the share that one process made."""

    @property
    def counted(self) -> bool:
        """Whether a number without any scatter is a result: it is counted, not timed."""
        return self in (PlanMeasure.BLOCKS, PlanMeasure.ALONE)


def plan_measure(metric: str) -> tuple[PlanMeasure, str] | None:
    """The measure and what it is of; None where the metric is not taken from a plan."""
    name, _, of = metric.partition(":")
    found = next((one for one in PlanMeasure if one.value == name), None)
    return None if found is None or not of else (found, of)


@dataclass(frozen=True)
class QueryBounds:
    """Where a number must lie for these queries; None is open."""

    low: float | None
    high: float | None
    queries: Queries = ()
    mean: bool = False
    """Their geometric mean; else each of them."""


@dataclass(frozen=True)
class QueryEffect:
    """The ratio new/old of the claim's contrast lies within bounds."""

    parts: tuple[QueryBounds, ...]


@dataclass(frozen=True)
class QueryOrder:
    """The ratio new/old rises from each class of queries to the next, as their geometric means."""

    classes: tuple[Queries, ...]


@dataclass(frozen=True)
class WorkerCurve:
    """The time by the number of workers permitted, where a size bounds how many are launched.

    Up to that bound each step is faster; or, beyond it, the time stays within a share.
    """

    factor: str
    """The parameter that permits workers."""
    printed_cap: int
    """The most workers that were launched in print."""
    within: float | None = None
    """The share; None for the steps up to the bound."""


class WorkerRule(StrEnum):
    """How the planner chooses the number of workers (src/backend/optimizer/path/allpaths.c)."""

    SIZE = "size"
    """One more for each tripling of the table's or the index's size."""
    PARTITIONS = "partitions"
    """The number of binary digits of the number of partitions."""


@dataclass(frozen=True)
class WorkersByRule:
    """As many workers are launched as a rule says, or fewer."""

    rule: WorkerRule
    queries: Queries = ()
    relation: str = ""
    """The table of the rule; empty for what the plan scans first in parallel."""
    fewer: bool = False
    printed_from: int = 0
    """In print: the table's size in blocks, or the number of partitions; 0 where it is not said."""

    @property
    def metric(self) -> str:
        """The name under which a trial's number by the rule is observed."""
        return f"workers_by_{self.rule.value}:{self.relation}"


LAUNCHED = "workers_launched"
"""The name under which a trial's number of launched workers is observed."""
PERMITTED = "workers_permitted"
"""The same of the number that its parameters permit."""


@dataclass(frozen=True)
class PlanValue:
    """The claim's metric, a number taken from plans, lies within bounds."""

    parts: tuple[QueryBounds, ...]


@dataclass(frozen=True)
class PlanHas:
    """The plans have, or have not, a node that works in parallel on a share of its rows."""

    nodes: tuple[str, ...]
    """Types as EXPLAIN in text names them: ``Parallel Index Scan``. One of them is enough."""
    queries: Queries = ()
    absent: bool = False

    @property
    def metric(self) -> str:
        """The name under which it is observed: 1 or 0."""
        return f"plan_has:{'|'.join(self.nodes)}"


QueryPredicate = QueryEffect | QueryOrder | WorkerCurve | WorkersByRule | PlanValue | PlanHas
CONTRASTED = (QueryEffect, QueryOrder)
"""Those that compare two levels of a factor."""
