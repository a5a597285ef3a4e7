"""The load of one method: set up, its steps timed, cleaned up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.load import Begin, PlainLoad, sampled
from teiten.execute.postgres.beside import filled
from teiten.execute.postgres.modules import build_module
from teiten.execute.probes.backend import BackendWatch, Usage
from teiten.execute.probes.sampler import Sampling
from teiten.execute.sites.contract import Site
from teiten.kinds.procedure.load.programs import StepPrograms
from teiten.kinds.procedure.load.stepping import Stepping, StepTaken, number, told
from teiten.kinds.procedure.metrics import (
    BACKEND_CPU,
    BACKEND_MEMORY,
    BACKEND_READ,
    BACKEND_WRITTEN,
    LOCKS_FAST_PATH,
    LOCKS_IN_TABLE,
    PLANNING_MEMORY,
    PROCEDURE_TIME,
    PROCEDURE_WAL,
    PROGRAM_CPU,
    ROWS,
    ROWS_RATE,
    SERVER_CPU,
    SIZE_CHANGE,
)
from teiten.kinds.procedure.model import METHOD, MODULE, Method, procedure_of
from teiten.kinds.procedure.results import STEPS
from teiten.model.installation import Installation
from teiten.model.metrics import Metric
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Problem, Series

OTHER_ROWS = "other-rows"
"""The code of the problem of a method that moved other rows than the one before it."""


class Modules:
    """The C functions of a campaign, each compiled once for each installation."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[tuple[str, str], Path] = {}

    def path(self, installation: Installation, method: Method) -> str:
        """Find a method's library, compiled when first asked for; empty where it has none. Raises
        ServerError."""
        if method.module is None:
            return ""
        key = (str(installation.bin_directory), method.module.text)
        if key not in self._built:
            self._built[key] = build_module(
                installation, method.module, self._folder / str(len(self._built) + 1)
            )
        return str(self._built[key])


class RowsMoved:
    """The number of rows that each method of a workload moved, which must be the same."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], tuple[str, int]] = {}

    def problem(self, trial: PlannedTrial, method: Method, rows: int) -> Problem | None:
        others = tuple(level for level in trial.cell.levels if level[0] != METHOD)
        name, first = self._first.setdefault((trial.cell.workload, others), (method.name, rows))
        if rows == first:
            return None
        return Problem(OTHER_ROWS, f"{method.name}: {rows} rows; {name}: {first} rows")


def loads(bench: Bench) -> Begin:
    """The trials of a campaign share compiled functions, and what each method moved."""
    modules, moved = Modules(bench.campaign / "modules"), RowsMoved()

    def begin(trial: PlannedTrial, site: Site, folder: Path) -> ProcedureLoad:
        return ProcedureLoad(bench, (modules, moved), trial, site, folder)

    return begin


class ProcedureLoad(PlainLoad):
    """One method."""

    def __init__(
        self,
        bench: Bench,
        shared: tuple[Modules, RowsMoved],
        trial: PlannedTrial,
        site: Site,
        folder: Path,
    ) -> None:
        super().__init__(trial, site, folder)
        self._bench, (self._modules, self._moved) = bench, shared
        self._options = procedure_of(bench.plan.study.workload(trial.cell.workload))
        self._method = self._options.method(trial.cell.level(METHOD) or "")
        self._before: dict[str, int] = {}
        self._taken: list[StepTaken] = []
        self._backend: tuple[Series, ...] = ()
        self._sampling: Sampling | None = None
        self._seconds = 0.0
        self._wrong: Problem | None = None

    def rehearse(self) -> None:
        """The set-up of every method, undone: what is wrong with its SQL is found before the first
        trial. What cannot run in a transaction is left to the trials."""
        here = {trial.cell.level(METHOD) for trial in self._bench.plan.trials}
        for method in self._options.methods:
            if method.name in here:
                with self.site.connect() as connection:
                    connection.execute("BEGIN")
                    with suppress(psycopg.errors.ActiveSqlTransaction):
                        self._set_up(connection, method)
                    connection.execute("ROLLBACK")

    def warm_up(self) -> Facts:
        """The set-up, written to disk, and what is counted before the steps."""
        with self.site.connect() as connection:
            self._set_up(connection, self._method)
            with suppress(psycopg.errors.InsufficientPrivilege):
                connection.execute("CHECKPOINT")
            self._before = self._counted(connection)
        return {"method": self._method.name}

    def measure(self, turn: int) -> Facts:
        del turn
        begun = time.monotonic()
        _, self._sampling = sampled(self.site, lambda _: self._all_steps())
        self._seconds = time.monotonic() - begun
        return {"steps": {one.name: one.seconds for one in self._taken}}

    def collect(self) -> Facts:
        if self._sampling is None:
            raise ServerError("nothing was measured", "see the trial's log")
        with self.site.connect() as connection:
            after = self._counted(connection)
            for script in self._method.cleanup:
                self._execute(connection, self._method, script.name, script.text)
        self.gathered.metrics = {
            **self._sampling.metrics,
            **_totals(self._taken),
            **self._differences(after),
            "measured_seconds": self._seconds,
        }
        self.gathered.series = (*self._sampling.series, *self._backend)
        self.gathered.facts |= {
            "method": self._method.name,
            STEPS: [_as_fact(one) for one in self._taken],
        }
        for caution in self._sampling.cautions:
            self._bench.record.record_caution(caution)
        return {PROCEDURE_TIME.name: self.gathered.metrics[PROCEDURE_TIME.name]}

    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return seen if self._wrong is None else (*seen, self._wrong)

    def _all_steps(self) -> None:
        with self.site.connect() as connection, self.site.connect() as looking:
            check = self._bench.check_interruption
            programs = StepPrograms(self.site, self.folder, check)
            stepping = Stepping(connection, looking, self._method, programs, check)
            try:
                with BackendWatch(stepping.pid) as watch:
                    for step in self._method.steps:
                        self._taken.append(stepping.do(step))
            finally:
                self.gathered.evidence = (*self.gathered.evidence, *programs.evidence)
        self._backend = watch.series

    def _set_up(self, connection: psycopg.Connection[Any], method: Method) -> None:
        path = self._modules.path(self.trial.template.installation, method)
        for script in method.setup:
            text = filled(script.text, {MODULE: path})
            self._execute(connection, method, script.name, text)

    def _execute(
        self, connection: psycopg.Connection[Any], method: Method, name: str, text: str
    ) -> None:
        self._bench.check_interruption()
        try:
            connection.execute(text.encode())
        except psycopg.errors.ActiveSqlTransaction:
            raise
        except psycopg.Error as error:
            raise told(error, method, name) from error

    def _counted(self, connection: psycopg.Connection[Any]) -> dict[str, int]:
        queries = {ROWS.name: self._options.counted, SIZE_CHANGE.name: self._options.sized}
        return {name: number(connection, query) for name, query in queries.items() if query}

    def _differences(self, after: dict[str, int]) -> dict[str, float]:
        found: dict[str, float] = {}
        rows = abs(after.get(ROWS.name, 0) - self._before.get(ROWS.name, 0))
        if ROWS.name in after:
            self._wrong = self._moved.problem(self.trial, self._method, rows)
            found |= {ROWS.name: rows, ROWS_RATE.name: rows / _seconds(self._taken)}
        if SIZE_CHANGE.name in after:
            found[SIZE_CHANGE.name] = after[SIZE_CHANGE.name] - self._before[SIZE_CHANGE.name]
        return found


def _seconds(taken: list[StepTaken]) -> float:
    return sum(one.seconds for one in taken)


def _totals(taken: list[StepTaken]) -> dict[str, float]:
    """Combine the figures of all steps; what could not be measured of one is not told."""
    used = Usage(0.0, 0, 0)
    for one in taken:
        used = used.with_further(one.usage)
    told_of = {
        PROCEDURE_TIME: _seconds(taken),
        BACKEND_CPU: used.cpu,
        BACKEND_READ: used.read,
        BACKEND_WRITTEN: used.written,
        PROCEDURE_WAL: sum(one.wal for one in taken),
    }
    told_of |= {metric: max(values) for metric, values in _seen(taken) if values}
    for metric, name in ((PROGRAM_CPU, "program_cpu"), (SERVER_CPU, "server_cpu")):
        used_by = [one.seen[name] for one in taken if name in one.seen]
        told_of |= {metric: sum(used_by)} if used_by else {}
    return {metric.name: float(one) for metric, one in told_of.items() if one is not None}


def _seen(taken: list[StepTaken]) -> Iterator[tuple[Metric, list[float]]]:
    """Collect, by metric, the figures that steps told of themselves."""
    names = {
        LOCKS_FAST_PATH: "fast_path",
        LOCKS_IN_TABLE: "in_table",
        BACKEND_MEMORY: "memory",
        PLANNING_MEMORY: "planning",
    }
    for metric, name in names.items():
        yield metric, [one.seen[name] for one in taken if name in one.seen]


def _as_fact(one: StepTaken) -> dict[str, Any]:
    return {
        "name": one.name,
        "seconds": float(one.seconds),
        "cpu": one.usage.cpu,
        "read": one.usage.read,
        "written": one.usage.written,
        "wal": one.wal,
        "times": one.times,
        **one.seen,
    }
