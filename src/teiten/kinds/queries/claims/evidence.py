"""Numbers taken from the plans of trials, which findings speak of, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from teiten.analysis.explain.statistics import statistics
from teiten.analysis.explain.table_use import TABLE, share_of_leader, table_use
from teiten.analysis.explain.worker_rules import (
    Relations,
    gather_workers,
    workers_by_partitions,
    workers_by_size,
)
from teiten.analysis.model.claims import ClaimStanding, ClaimWords
from teiten.analysis.model.explain import ExplainedPlan, PlanStatistics
from teiten.analysis.model.explain_use import GatherWorkers, TableUse, WorkerLimits
from teiten.claims.sides import measure_in

LEAST_SHARE = 1e-4
"""A smaller share, or none at all, counts as this much: its logarithm is finite."""
INDEX = "i"
"""pg_class.relkind"""


@dataclass
class Executed:
    """An executed plan with the planner's circumstances."""

    plan: ExplainedPlan
    relations: Relations
    limits: WorkerLimits | None

    def number(self, metric: str) -> float | None:
        """The value of a metric; None where the plan, or what was recorded, does not tell."""
        measure = plan_measure(metric)
        return None if measure is None else self._measured(*measure)

    @cached_property
    def _statistics(self) -> PlanStatistics:
        return statistics(self.plan)

    @cached_property
    def _gathers(self) -> tuple[GatherWorkers, ...]:
        return gather_workers(self.plan, self.relations, self.limits)

    @property
    def launched(self) -> float:
        """Workers of the Gather that planned the most; 0 of a serial plan."""
        return float(self._gathers[0].launched or 0) if self._gathers else 0.0

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

    @property
    def serial(self) -> bool:
        """Whether the plan asks for no workers at all."""
        return not self._gathers

    @property
    def permitted(self) -> float | None:
        """Workers that the parameters permit; None where these were not recorded."""
        limits = self.limits
        return None if limits is None else float(min(limits.per_gather, limits.free))

    @property
    def of_source(self) -> int | None:
        """Workers by the rule for what the plan scans first in parallel."""
        source = self._gathers[0].source if self._gathers else None
        if source is None:
            return None
        # Of an index's part the size gives only the most; fewer are no contradiction.
        return min(source.workers, round(self.launched)) if source.at_most else source.workers

    def by_partitions(self, parent: str) -> int | None:
        """Workers by the rule for the partitions of a table."""
        tables = (relation for relation in self.relations.values() if relation.kind == TABLE)
        count = sum(table.parent == parent for table in tables)
        return workers_by_partitions(count) if count else None

    def by_size(self, name: str) -> int | None:
        """Workers by the rule for the size of a table or an index."""
        relation = self.relations.get(name)
        if relation is None or not relation.pages or self.limits is None:
            return None
        of_index = relation.kind == INDEX
        return workers_by_size(
            relation.pages, self.limits.index_pages if of_index else self.limits.table_pages
        )


class PlanMeasure(StrEnum):
    """A metric's name is ``MEASURE:OF``."""

    BLOCKS = "plan_blocks"
    """Blocks of a table, its partitions included, found in shared buffers or read."""
    SECONDS = "plan_seconds"
    """Exclusive seconds of all nodes of a type, in all processes."""
    SHARE = "plan_share"
    """Exclusive seconds of all nodes of a type, as a share of the plan's."""
    ALONE = "plan_alone"
    """The share that one process made of the scans of a table's partitions that read a row."""

    LEADER = "plan_leader"
    """The scans of a table's partitions that no worker had a part in, which the leader made one
    after another, as a share of the time of the slowest process of the Append above them."""

    @property
    def counted(self) -> bool:
        """Whether a number without any scatter is a result: it is counted, not timed."""
        return self in (PlanMeasure.BLOCKS, PlanMeasure.ALONE)


def plan_measure(metric: str) -> tuple[PlanMeasure, str] | None:
    """The measure and what it is of; None where the metric is not taken from a plan."""
    return measure_in(PlanMeasure, metric)


LAUNCHED = "workers_launched"
"""The name under which a trial's number of launched workers is observed."""
SERIAL = "plan_serial"
"""The name under which a plan that asks for no workers is observed, as 1; others have no value."""
PERMITTED = "workers_permitted"
"""The name under which the number of workers that a trial's parameters permit is observed."""


def listed(words: ClaimWords, queries: Sequence[str]) -> str:
    """One query by its name, several as their mean."""
    text = words("list.separator").join(queries)
    return text if len(queries) == 1 else words("claim.mean-of", queries=text)


def of_metric(words: ClaimWords, metric: str, what: str) -> str:
    """With the words for a number that is taken from plans; else as it is."""
    measure = plan_measure(metric)
    return what if measure is None else words(f"claim.{measure[0].value}", of=measure[1], what=what)


def all_or_none(agree: Sequence[bool]) -> ClaimStanding:
    """Plans that differ among repetitions decide nothing."""
    if all(agree):
        return ClaimStanding.REPRODUCED
    return ClaimStanding.INCONCLUSIVE if any(agree) else ClaimStanding.CONTRADICTED
