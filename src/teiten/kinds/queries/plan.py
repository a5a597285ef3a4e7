"""Queries timed one by one, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from teiten.kinds.contract import KindPlan
from teiten.kinds.queries.metrics import CONTRASTED, METRICS
from teiten.kinds.queries.model import QUERY_TIMEOUT, QueriesOptions, QueryGroup
from teiten.kinds.queries.read import read_queries
from teiten.model.units import Seconds
from teiten.study.place import Place
from teiten.study.schema import Budget, Name, Table, Text, Words, WorkloadTable
from teiten.suggest import did_you_mean


class GroupTable(Table):
    """Queries that belong together."""

    name: Name
    title: Text
    queries: Words


class QueriesTable(WorkloadTable):
    """The keys of a workload of queries."""

    queries: str
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    timeout: Budget = Seconds(QUERY_TIMEOUT)
    check_answers: bool = True
    groups: list[GroupTable] = Field(default_factory=list)


class Queries(KindPlan):
    metrics = METRICS
    contrasted = CONTRASTED
    options = QueriesOptions
    table = QueriesTable
    told_by = "queries"
    changeable: ClassVar[tuple[str, ...]] = ("runs", "timeout", "check_answers")

    def options_of(self, place: Place, table: WorkloadTable) -> QueriesOptions:
        assert isinstance(table, QueriesTable)
        try:
            queries = read_queries(table.queries, place.folders)
        except ValueError as error:
            raise place.error("queries", str(error), "name a folder of files *.sql") from error
        return QueriesOptions(
            folder=Path(table.queries).name,
            queries=queries,
            runs=table.runs,
            timeout=table.timeout,
            check_answers=table.check_answers,
            groups=tuple(_groups(place, table, [one.name for one in queries])),
        )


def _groups(place: Place, table: QueriesTable, names: Sequence[str]) -> Iterator[QueryGroup]:
    """The classes of a workload's queries. Raises where one names a query that is not there, or
    that is in another one."""
    seen: dict[str, str] = {}
    for number, group in enumerate(table.groups):
        for query in group.queries:
            if query not in names or query in seen:
                message = (
                    f"there is no query {query!r}.{did_you_mean(query, names)}"
                    if query not in names
                    else f"the query {query} is in the group {seen[query]} too"
                )
                raise place.error(
                    ("groups", number, "queries"),
                    message,
                    f"the workload's queries are {', '.join(names)}",
                )
            seen[query] = group.name
        yield QueryGroup(group.name, group.title, group.queries)


PLAN = Queries()
