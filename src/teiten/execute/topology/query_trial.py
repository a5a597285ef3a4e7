"""One trial of one query: executed once, timed, and then explained."""

from __future__ import annotations

from statistics import median

from teiten.errors import ServerError
from teiten.execute.executor import Facts
from teiten.execute.probes.sampler import Sampling
from teiten.execute.topology.bench import Bench
from teiten.execute.topology.relations import read_planner, read_relations
from teiten.execute.topology.single_trial import SingleServerTrial
from teiten.execute.workload.queries import Execution, QuerySession, packed
from teiten.kinds.queries.metrics import OVER_TIMEOUT, QUERY_TIME
from teiten.kinds.queries.model import queries_of
from teiten.model.plan import PlannedTrial
from teiten.model.relations import PLANNER, RELATIONS, relations_as_detail
from teiten.model.trial import Problem
from teiten.model.units import Seconds

BY_TIMEOUT = "canceling statement due to statement timeout"
SHORTEST_JUDGED = 1.0
"""Seconds: in a shorter window the CPU's counters, of 10 ms each, cannot tell what others used."""
JUDGED = ("cpu_steal_share", "cpu_other_share")


class QueryTrial(SingleServerTrial):
    """The steps of a trial of one query. Only the plain executions enter its number; one that
    exceeds the time limit makes it "over" that limit, which is a result and no failure."""

    def __init__(self, bench: Bench, trial: PlannedTrial, attempt: int) -> None:
        super().__init__(bench, trial, attempt)
        self._options = queries_of(self._workload)
        self._query = self._options.query(trial.cell.level("query") or "")
        self._session: QuerySession | None = None
        self._first: Execution | None = None
        self._timings: list[Seconds] = []
        self._wrong: Problem | None = None
        self._over = False
        self._sampling: Sampling | None = None

    def warm_up(self) -> Facts:
        """One execution that is discarded; what it answers is compared."""
        self._session = self._new_session()
        self._first = self._session.execute(self._query)
        self._over = self._first.seconds is None
        self._compare(self._first)
        return {"query": self._query.name, "first": self._first.seconds}

    def measure(self, number: int) -> Facts:
        """All timings of the query: a trial of it is not cut into slices."""
        del number
        _, self._sampling = self._sampled(self._time_all)
        return {"seconds": list(self._timings), "over": self._over}

    def collect(self) -> Facts:
        if self._session is None or self._sampling is None:
            raise ServerError("nothing was measured", "see the trial's log")
        seconds = sum(self._timings)
        metrics = dict(self._sampling.metrics)
        if seconds < SHORTEST_JUDGED:
            metrics = {name: value for name, value in metrics.items() if name not in JUDGED}
        metrics["measured_seconds"] = seconds
        if self._over:
            metrics[OVER_TIMEOUT.name] = float(self._options.timeout)
        else:
            metrics[QUERY_TIME.name] = median(self._timings)
        self._gathered.metrics = metrics
        self._gathered.series = self._sampling.series
        self._gathered.facts |= {
            "query": self._query.name,
            "timings": list(self._timings),
            "first_seconds": self._first.seconds if self._first else None,
            **self._explained(self._session),
        }
        if self._first is not None and self._first.answer is not None:
            answer = self._first.answer
            self._gathered.facts |= {"rows": answer.rows, "checksum": answer.checksum}
        self._session.close()
        for caution in self._sampling.cautions:
            self._bench.record.record_caution(caution)
        return {"explained": self._gathered.facts["plan_executed"]}

    def check(self) -> tuple[Problem, ...]:
        """As of every trial, but that the limit's own message is no error; and the answers."""
        found = super().check()
        if self._session is not None and self._session.cancelled:
            found = tuple(one for one in found if BY_TIMEOUT not in one.detail)
        return found if self._wrong is None else (*found, self._wrong)

    def start(self) -> Facts:
        facts = super().start()
        with self._connect() as connection:
            self._gathered.facts[PLANNER] = read_planner(connection)
        return facts

    def try_queries(self) -> None:
        """Let the server plan every query of the workload, which finds their errors; and take note
        of what it plans for."""
        self._note_relations()
        session = self._new_session()
        for query in self._options.queries:
            session.explain(query, analyze=False)
        session.close()

    def _note_relations(self) -> None:
        template, record = self._trial.template, self._bench.record
        known = (one.detail["fingerprint"] for one in record.events() if one.kind == RELATIONS)
        if template.fingerprint in known:
            return
        with self._connect() as connection:
            found = read_relations(connection)
        record.record_event(
            RELATIONS,
            fingerprint=template.fingerprint,
            server=self._trial.cell.level("server"),
            layout=self._trial.cell.level("layout"),
            workload=self._workload.name,
            relations=relations_as_detail(found),
        )

    def _new_session(self) -> QuerySession:
        return QuerySession(self._connect(), self._options.timeout, self._bench.check_interruption)

    def _time_all(self) -> None:
        for _ in range(0 if self._over else self._options.runs):
            self._time_once()

    def _time_once(self) -> None:
        if self._session is None or self._over:
            return
        execution = self._session.execute(self._query)
        self._compare(execution)
        if execution.seconds is None:
            self._over = True
        else:
            self._timings.append(execution.seconds)

    def _compare(self, execution: Execution) -> None:
        if execution.answer is None or not self._options.check_answers or self._wrong:
            return
        side = self._trial.cell.level(self._bench.plan.study.contrast) or ""
        self._wrong = self._bench.answers.problem(
            self._workload.name, self._query.name, execution.answer, side
        )

    def _explained(self, session: QuerySession) -> Facts:
        """The plan as executed; as estimated, where the execution exceeds the limit."""
        plan = None if self._over else session.explain(self._query, analyze=True)
        executed = plan is not None
        if plan is None:
            plan = session.explain(self._query, analyze=False)
        return {"plan": packed(plan) if plan else None, "plan_executed": executed}
