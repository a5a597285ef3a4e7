"""Queries timed one by one, before anything runs.

The queries of a workload: a folder of SQL files, one statement each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from teiten.datasets.plan import query_seconds
from teiten.given_paths import expanded
from teiten.kinds.contract import Instead, KindPlan, ToldStep
from teiten.kinds.queries.model import (
    CONTRASTED,
    METRICS,
    QUERY,
    QUERY_TIMEOUT,
    PlanMeasure,
    QueriesOptions,
    Query,
    QueryGroup,
    queries_of,
)
from teiten.model.plan import PlannedTrial
from teiten.model.quantities import format_duration
from teiten.model.settings import count_setting
from teiten.model.study import Measure, Script, Study, Workload
from teiten.model.units import Seconds
from teiten.study.locate import Place
from teiten.study.schema import WorkloadTable
from teiten.study.scripts import VARIABLES, from_here, rows_for, text_of
from teiten.study.tables import Budget, Name, Text, TomlTable, Words
from teiten.suggest import did_you_mean

WORKERS = ("max_parallel_workers_per_gather", "max_parallel_workers", "max_worker_processes")
"""The parameters of which each bounds the parallel workers of a query."""


class GroupTable(TomlTable):
    """Queries that belong together."""

    name: Name
    title: Text
    queries: Words


class QueriesTable(WorkloadTable):
    """The keys of a workload of queries."""

    queries: str
    variables: str | None = None
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    timeout: Budget = Seconds(QUERY_TIMEOUT)
    check_answers: bool = True
    groups: list[GroupTable] = Field(default_factory=list)


class Queries(KindPlan):
    does = "times queries one by one"
    loading = "time queries one by one, and explain each with ANALYZE apart from its timing"
    metrics = METRICS
    contrasted = CONTRASTED
    measures = tuple(PlanMeasure)
    options = QueriesOptions
    table = QueriesTable
    told_by = "queries"
    changeable = (VARIABLES, "runs", "timeout", "check_answers")
    brings = (QUERY,)
    averaged = (QUERY,)
    axis: ClassVar[str | None] = QUERY
    own_factor: ClassVar[str | None] = QUERY
    any_data = True
    takes_turns = True

    def options_of(self, place: Place, table: WorkloadTable) -> QueriesOptions:
        assert isinstance(table, QueriesTable)
        try:
            queries = read_queries(table.queries, place.folders)
        except ValueError as error:
            raise place.error("queries", str(error), "name a folder of files *.sql") from error
        return QueriesOptions(
            folder=Path(table.queries).name,
            queries=queries,
            variables=rows_for(
                place,
                table.variables,
                [Script(query.name, False, query.text) for query in queries],
            ),
            runs=table.runs,
            timeout=table.timeout,
            check_answers=table.check_answers,
            groups=tuple(_groups(place, table, [query.name for query in queries])),
        )

    def from_flag(self, key: str, value: Any) -> Any:
        return from_here(str(value)) if key == VARIABLES else value

    def instead(self, running: Instead, value: str, *, by_flag: bool) -> Instead:
        """Another folder for the study's queries; a study without any gets them as its workload,
        on the tables of its first one."""
        folder = str(expanded(value).absolute()) if by_flag else value
        tables, selected = [dict(workload) for workload in running.workloads], running.selected
        own = [index for index, table in enumerate(tables) if table.get("queries")]
        if not own:
            shared = {key: value for key, value in tables[0].items() if key == "scale"}
            tables = [{**shared, "name": "queries", "title": "Queries", "changes_data": False}]
            own, selected = [0], ["queries"]
        first, *others = own
        tables[first]["queries"] = folder
        tables[first].pop("groups", None)
        left_out = {tables[index]["name"] for index in others}
        names = [name for name in selected if name not in left_out]
        return Instead(tables, names, ("workloads", first, "queries"), (QUERY,))

    def measured_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        return Seconds(query_seconds(workload.data) * queries_of(workload).runs)

    def load_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        """The first execution, the timed ones, EXPLAIN."""
        return Seconds(query_seconds(workload.data) * (queries_of(workload).runs + 2))

    def processes(self, trial: PlannedTrial) -> int:
        """The backend, and the most parallel workers of a query."""
        settings = dict(trial.settings)
        return trial.load.connections + min(count_setting(settings, name) for name in WORKERS)

    def facts(self, workload: Workload) -> Iterator[str]:
        options = queries_of(workload)
        yield f"{len(options.queries)} queries, timed {options.runs}× in each trial"
        yield f"at most {format_duration(options.timeout)}"
        if options.variables is not None:
            yield f"each trial draws {options.variables}"

    def warm_up(self, study: Study, workload: Workload) -> ToldStep:
        return ToldStep("warm-up", "the query once, discarded")

    def measuring(self, study: Study, workload: Workload) -> ToldStep:
        options = queries_of(workload)
        phrase = f"timed {options.runs}×, at most {options.timeout:g} s"
        return ToldStep(
            "queries", phrase, {"runs": options.runs, "timeout": float(options.timeout)}
        )

    def turn(self, study: Study, trial: PlannedTrial, number: int) -> str:
        phrase = self.measuring(study, study.workload(trial.cell.workload)).phrase
        return f"query {trial.cell.level(QUERY)}: {phrase}; then EXPLAIN (ANALYZE), not timed"


def _groups(place: Place, table: QueriesTable, names: Sequence[str]) -> Iterator[QueryGroup]:
    """The classes of a workload's queries. Raises where a query is not there, or in another one."""
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


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NUMBERS = re.compile(r"(\d+)")
_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def read_queries(folder: str, folders: Sequence[Path]) -> tuple[Query, ...]:
    """The queries in a folder, q2 before q10. ``folders``: where a relative one is looked for.

    Raises ValueError with a sentence for people.
    """
    directory = _folder(folder, folders)
    files = sorted(directory.glob("*.sql"), key=lambda path: _in_order(path.stem))
    if not files:
        raise ValueError(f"the folder {directory} holds no file *.sql")
    return tuple(_query(path) for path in files)


def _folder(folder: str, folders: Sequence[Path]) -> Path:
    for base in folders:
        path = base / expanded(folder)
        if path.is_dir():
            return path
    raise ValueError(f"there is no folder {folder!r}")


def _in_order(name: str) -> list[tuple[int, int, str]]:
    parts = _NUMBERS.split(name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def _query(path: Path) -> Query:
    if _NAME.fullmatch(path.stem) is None:
        raise ValueError(
            f"{path.name}: a query's file is named with letters, digits, '.', '-' and '_'"
        )
    text = text_of(path, "query").removeprefix("\ufeff")
    if not _COMMENTS.sub("", text).strip(" \t\r\n;"):
        raise ValueError(f"the query {path} holds no statement")
    if "\0" in text:
        raise ValueError(f"the query {path} holds a NUL character")
    return Query(path.stem, text.strip() + "\n")
