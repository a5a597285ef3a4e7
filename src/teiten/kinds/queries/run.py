"""The load of single queries: each executed once, timed, and then explained.

The relations of a template, and the parameters of its planner, as the server tells them.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import psycopg

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.load import Begin, ExtraWindow, SampledLoad
from teiten.execute.rows import rows_of
from teiten.execute.sites.contract import Site
from teiten.kinds.queries.load import Answers, Execution, QuerySession
from teiten.kinds.queries.model import OVER_TIMEOUT, QUERY, QUERY_TIME, Query, queries_of
from teiten.model.metrics import MEASURED_SECONDS
from teiten.model.plan import PlannedTrial
from teiten.model.relations import PLANNER, RELATIONS, Relation, relations_as_detail
from teiten.model.rows import VariableRows
from teiten.model.setup import level_of
from teiten.model.trial import Problem, pack
from teiten.model.units import Seconds

CHANGES = "changes-data"
MODIFYING = ('"Node Type": "ModifyTable"', '"Node Type": "LockRows"')
"""Nodes of plans that write: rows, or locks of rows."""
BY_TIMEOUT = "canceling statement due to statement timeout"
SHORTEST_JUDGED = 1.0
"""Seconds: in a shorter window the CPU's counters, of 10 ms each, cannot tell what others used."""
JUDGED = ("cpu_steal_share", "cpu_other_share")
"""How the names of such shares end; those of a client host begin with its name."""


def loads(bench: Bench) -> Begin:
    """Trials share what each query answered first, and which of their servers cancelled one."""
    return partial(QueryLoad, bench, (Answers(bench.record), set[int]()))


class QueryLoad(SampledLoad):
    """The load of a trial of one query. Only the plain executions enter its number; one that
    exceeds the time limit makes it "over" that limit, which is a result and no failure."""

    def __init__(
        self,
        bench: Bench,
        shared: tuple[Answers, set[int]],
        trial: PlannedTrial,
        site: Site,
        folder: Path,
    ) -> None:
        """``shared``: the first answers, and the numbers of the trials on whose server a statement
        exceeded the limit."""
        super().__init__(bench, trial, site, folder)
        self._answers, self._cancelled = shared
        self._server = bench.plan.starter_of(trial).number
        self._options = queries_of(self.workload)
        self._query = self._options.query(trial.cell.level(QUERY) or "")
        self._rows: VariableRows | None = None
        self._answered = self._query.name
        """For what answers are compared: with values, for each row of them."""
        self._session: QuerySession | None = None
        self._first: Execution | None = None
        self._timings: list[Seconds] = []
        self._changes = False
        """The query changes data although the study says that it does not."""
        self._over = False

    def rehearse(self) -> None:
        """Let the server plan every query, which finds their errors; and note what it plans for."""
        self._note_relations()
        self._draw()
        session = self._new_session()
        for query in self._options.queries:
            plan = session.explain(self._with_values(query), analyze=False)
            writes = plan is not None and any(node in plan for node in MODIFYING)
            if writes and not self.workload.changes_data:
                raise WorkloadError(
                    f"query {query.name} changes data, and changes_data = false says that none of"
                    f" the workload {self.workload.name} does",
                    "write changes_data = true (--set changes_data=yes): the tables are then"
                    " restored before each trial",
                )
        session.close()

    def warm_up(self) -> Facts:
        """One execution that is discarded; what it answers is compared. A query that changes data
        though the study says otherwise, as by a function, is found here, and undone."""
        with self.site.connect() as connection:
            self.gathered.facts[PLANNER] = read_planner(connection)
        self._draw()
        self._session = self._new_session()
        if self.workload.changes_data:
            self._first = self._session.execute(self._query)
        else:
            self._first, self._changes = self._session.try_out(self._query)
        if self._changes:
            self.wrong = Problem(CHANGES, self._query.name)
        self._over = self._first.seconds is None
        self._compare(self._first)
        return {"query": self._query.name, "first": self._first.seconds}

    def _draw(self) -> None:
        """Draw the row of this trial, the same for both sides of its pair."""
        self._rows = rows_of(self.bench.record, self.workload, self._options.variables, self.site)
        self._query = self._with_values(self._query)

    def _with_values(self, query: Query) -> Query:
        if self._rows is None or not self._rows.uses(query.text):
            return query
        row = self._rows.draw(self.trial.seed)
        if query.name == self._query.name:
            self._answered = f"{query.name}, row {row + 1}"
        return replace(query, text=self._rows.filled(query.text, row))

    def measure(self, turn: int) -> Facts:
        """All timings of the query: a trial of it is not cut into slices."""
        self.sample(self._time_all)
        return {"seconds": list(self._timings), "over": self._over}

    def collect(self) -> Facts:
        assert self._session is not None
        metrics = {MEASURED_SECONDS.name: float(sum(self._timings))}
        if self._over:
            metrics[OVER_TIMEOUT.name] = float(self._options.timeout)
        elif self._timings:
            metrics[QUERY_TIME.name] = median(self._timings)
        facts: Facts = {
            "query": self._query.name,
            "timings": list(self._timings),
            **({} if self._answered == self._query.name else {"drawn": self._answered}),
            "first_seconds": self._first.seconds if self._first else None,
            **self._explained(self._session),
        }
        if self._first is not None and self._first.answer is not None:
            answer = self._first.answer
            facts |= {"rows": answer.rows, "checksum": answer.checksum}
        self.gather(metrics, facts)
        if metrics[MEASURED_SECONDS.name] < SHORTEST_JUDGED:
            for name in [name for name in self.gathered.metrics if name.endswith(JUDGED)]:
                del self.gathered.metrics[name]
        if self._session.cancelled:
            self._cancelled.add(self._server)
        self._session.close()
        return {"explained": self.gathered.facts["plan_executed"]}

    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """The limit's own message, whichever side's, is no error; a wrong answer is one."""
        own = self._session is not None and self._session.cancelled
        if own or self._server in self._cancelled:
            seen = tuple(problem for problem in seen if BY_TIMEOUT not in problem.detail)
        return super().check(seen)

    def window(self, seconds: Seconds, folder: Path) -> ExtraWindow:
        """The query again and again."""
        session = self._new_session()
        begun, executed = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds:
            executed += session.execute(self._query).seconds is not None
        session.close()
        return ExtraWindow(Seconds(passed), float(executed), ())

    def abandon(self) -> None:
        """The server ends what its client left."""
        if self._session is not None:
            self._session.close()

    def _note_relations(self) -> None:
        template, record = self.trial.template, self.bench.record
        recorded = (event for event in record.events() if event.kind == RELATIONS)
        if template.fingerprint in (event.detail["fingerprint"] for event in recorded):
            return
        with self.site.connect() as connection:
            relations = read_relations(connection)
        record.record_event(
            RELATIONS,
            fingerprint=template.fingerprint,
            server=self.trial.cell.server,
            layout=level_of(self.bench.plan.study, self.trial.cell, "layout"),
            workload=self.workload.name,
            relations=relations_as_detail(relations),
        )

    def _new_session(self) -> QuerySession:
        timeout, check = self._options.timeout, self.bench.check_interruption
        return QuerySession(self.site.connect(), timeout, check)

    def _time_all(self) -> None:
        for _ in range(0 if self._over or self._changes else self._options.runs):
            assert self._session is not None
            execution = self._session.execute(self._query)
            self._compare(execution)
            if execution.seconds is None:
                self._over = True
                return
            self._timings.append(execution.seconds)

    def _compare(self, execution: Execution) -> None:
        if execution.answer is None or not self._options.check_answers or self.wrong is not None:
            return
        side = self.trial.cell.level(self.bench.plan.study.contrast) or ""
        self.wrong = self._answers.problem(
            self.workload.name, self._answered, execution.answer, side
        )

    def _explained(self, session: QuerySession) -> Facts:
        """The plan as executed; as estimated, where the execution exceeds the limit."""
        unwanted = self._over or self._changes
        plan = None if unwanted else session.explain(self._query, analyze=True)
        executed = plan is not None
        if plan is None:
            plan = session.explain(self._query, analyze=False)
        return {"plan": pack(plan) if plan else None, "plan_executed": executed}


SIZES_OF_RELATIONS = """
SELECT c.oid::regclass::text, c.relkind::text, c.relpages, c.reltuples::float8,
       i.indrelid::regclass::text, h.inhparent::regclass::text,
       (SELECT option_value::int FROM pg_options_to_table(c.reloptions)
        WHERE option_name = 'parallel_workers')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN pg_inherits h ON h.inhrelid = c.oid
WHERE c.relkind IN ('r', 'i', 'm', 'p', 'I') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY c.relpages DESC, 1
"""
PARAMETERS_OF_PLANNER = """
SELECT name, setting FROM pg_settings WHERE name = ANY (ARRAY[
  'max_worker_processes', 'max_parallel_workers', 'max_parallel_workers_per_gather',
  'min_parallel_table_scan_size', 'min_parallel_index_scan_size', 'min_parallel_relation_size',
  'parallel_leader_participation', 'parallel_setup_cost', 'parallel_tuple_cost',
  'enable_parallel_append', 'enable_parallel_hash', 'enable_partition_pruning',
  'enable_partitionwise_join', 'enable_partitionwise_aggregate', 'jit', 'work_mem', 'io_method'])
ORDER BY name
"""
"""Each version has some of them (min_parallel_relation_size: 9.6)."""


def read_relations(connection: psycopg.Connection) -> tuple[Relation, ...]:
    """Every table and index that is not the server's own, the largest first."""
    return tuple(Relation(*row) for row in connection.execute(SIZES_OF_RELATIONS).fetchall())


def read_planner(connection: psycopg.Connection) -> dict[str, str]:
    """The parameters of parallelism and partitions in force, as pg_settings has them."""
    return dict(connection.execute(PARAMETERS_OF_PLANNER).fetchall())
