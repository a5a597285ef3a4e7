"""A workload of queries: its statements, and their groups.

The numbers of a trial that times one query; times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.model.metrics import MEASURED_SECONDS, Better, Metric
from teiten.model.rows import VariableRows
from teiten.model.study import Script, Workload, WorkloadOptions
from teiten.model.text import Bilingual
from teiten.model.units import Seconds

NAME = "queries"
QUERY = "query"
"""The factor whose levels are a workload's queries."""
QUERY_TIMEOUT = Seconds(600.0)
"""The time limit of a query whose study says nothing else."""


@dataclass(frozen=True)
class Query:
    """One statement of a workload of queries."""

    name: str
    """The file's, without ``.sql``; a level of the factor query."""
    text: str


@dataclass(frozen=True)
class QueryGroup:
    """Queries of a workload that belong together, such as those with the same date filter."""

    name: str
    title: Bilingual
    queries: tuple[str, ...]
    """Names, in the study's order; a query is in one group at most."""


@dataclass(frozen=True)
class QueriesOptions(WorkloadOptions):
    """Which statements are timed, and how."""

    folder: str
    """The name of the folder of the queries' files, for people."""
    queries: tuple[Query, ...]
    runs: int = 1
    """How often a trial times its query; the number is the median."""
    timeout: Seconds = QUERY_TIMEOUT
    """A query that takes longer is cancelled; the trial's result is then "over" this time."""
    check_answers: bool = True
    """Whether a query must give the same rows in every trial."""
    groups: tuple[QueryGroup, ...] = ()
    """Classes of the queries, for conclusions; a query may be in none."""
    variables: VariableRows | None = None
    """A list of values for the queries' variables, of which each trial draws a row."""

    @property
    def source(self) -> str:
        return self.folder

    @property
    def texts(self) -> tuple[Script, ...]:
        return tuple(Script(query.name, False, query.text) for query in self.queries)

    @property
    def drawn(self) -> str:
        return "" if self.variables is None else self.variables.comment

    def query(self, name: str) -> Query:
        return next(query for query in self.queries if query.name == name)


def queries_of(workload: Workload) -> QueriesOptions:
    """The options of a workload of this kind. Raises TypeError for another one's."""
    return workload.options_as(QueriesOptions)


OVER_TIMEOUT = Metric("over_timeout", "s")
"""The limit that a query exceeded; such a trial has no QUERY_TIME."""
QUERY_TIME = Metric("query_seconds", "s", Better.LOWER, judged=True, exceeded=OVER_TIMEOUT.name)
"""The median of a trial's timings of its query, without EXPLAIN."""

METRICS: tuple[Metric, ...] = (QUERY_TIME, OVER_TIMEOUT, MEASURED_SECONDS)
CONTRASTED = (QUERY_TIME.name,)


class PlanMeasure(StrEnum):
    """Numbers that claims take from plans, as ``MEASURE:OF``."""

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
    name, _, of = metric.partition(":")
    return (PlanMeasure(name), of) if of and name in list(PlanMeasure) else None
