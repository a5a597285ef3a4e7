"""The load of one method: set up, its steps timed, cleaned up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

import psycopg

from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.load import Begin, SampledLoad
from teiten.execute.postgres.beside import filled
from teiten.execute.postgres.modules import build_module
from teiten.execute.probes.backend import BackendWatch
from teiten.execute.sites.contract import Site
from teiten.kinds.procedure.load import Stepping, number, told
from teiten.kinds.procedure.metrics import COMBINED, PROCEDURE_TIME, ROWS, ROWS_RATE, SIZE_CHANGE
from teiten.kinds.procedure.model import METHOD, MODULE, Method, ProcedureStep, procedure_of
from teiten.kinds.procedure.results import STEPS, StepOfTrial
from teiten.model.facts import Caution
from teiten.model.installation import Installation
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Problem, Series

OTHER_ROWS = "other-rows"
"""The code of the problem of a method that moved other rows than the one before it."""


class SharedOfMethods:
    """Compiled C functions, and rows that methods moved, which the trials of a campaign share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[tuple[str, str], Path] = {}
        self._first: dict[tuple[object, ...], tuple[str, int]] = {}

    def module(self, installation: Installation, method: Method) -> str:
        """Find a method's library, compiled once for each installation; empty where it has none.
        Raises ServerError."""
        if method.module is None:
            return ""
        key = (str(installation.bin_directory), method.module.text)
        if key not in self._built:
            self._built[key] = build_module(
                installation, method.module, self._folder / str(len(self._built) + 1)
            )
        return str(self._built[key])

    def problem(self, trial: PlannedTrial, method: Method, rows: int) -> Problem | None:
        """The problem of a method that did not move as many rows as the first one."""
        others = tuple(level for level in trial.cell.levels if level[0] != METHOD)
        name, first = self._first.setdefault((trial.cell.workload, others), (method.name, rows))
        if rows == first:
            return None
        return Problem(OTHER_ROWS, f"{method.name}: {rows} rows; {name}: {first} rows")


def loads(bench: Bench) -> Begin:
    return partial(ProcedureLoad, bench, SharedOfMethods(bench.campaign / "modules"))


class ProcedureLoad(SampledLoad):
    """One method."""

    def __init__(
        self, bench: Bench, shared: SharedOfMethods, trial: PlannedTrial, site: Site, folder: Path
    ) -> None:
        super().__init__(bench, trial, site, folder)
        self._shared = shared
        self._options = procedure_of(self.workload)
        self._method = self._options.method(trial.cell.level(METHOD) or "")
        self._before: dict[str, int] = {}
        self._taken: list[StepOfTrial] = []
        self._backend: tuple[Series, ...] = ()

    def rehearse(self) -> None:
        """The set-up of every method, undone: what is wrong with its SQL is found before the first
        trial. What cannot run in a transaction is left to the trials."""
        here = {trial.cell.level(METHOD) for trial in self.bench.plan.trials}
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
        check, steps = self.bench.check_interruption, self._method.steps
        with Stepping(self._method, site=self.site, folder=self.folder, check=check) as stepping:
            try:
                for step in takewhile(lambda step: not step.timed, steps):
                    stepping.do(step)
                measured = tuple(dropwhile(lambda step: not step.timed, steps))
                self.sample(lambda: self._do(stepping, measured))
            finally:
                self.gathered.evidence = (*self.gathered.evidence, *stepping.evidence)
        if self._method.crashes and self._sampling is not None:
            kept = filter(lambda caution: not _lost(caution), self._sampling.cautions)
            self._sampling = replace(self._sampling, cautions=tuple(kept))
        return {"steps": {step.name: step.seconds for step in self._taken}}

    def collect(self) -> Facts:
        with self.site.connect() as connection:
            after = self._counted(connection)
            for script in self._method.cleanup:
                self._execute(connection, self._method, script.name, script.text)
        totals = _totals(self._taken)
        seconds = totals.get(PROCEDURE_TIME.name, 0.0)
        self.gather(
            {**totals, **self._differences(after, seconds)},
            {"method": self._method.name, STEPS: [step.fact for step in self._taken]},
            self._backend,
        )
        return {PROCEDURE_TIME.name: seconds}

    def _do(self, stepping: Stepping, steps: Sequence[ProcedureStep]) -> None:
        with BackendWatch(stepping.pid) as watch:
            for step in steps:
                done = stepping.do(step)
                if step.timed:
                    self._taken.append(done)
        self._backend = watch.series

    def _set_up(self, connection: psycopg.Connection[Any], method: Method) -> None:
        path = self._shared.module(self.trial.template.installation, method)
        for script in method.setup:
            text = filled(script.text, {MODULE: path})
            self._execute(connection, method, script.name, text)

    def _execute(
        self, connection: psycopg.Connection[Any], method: Method, name: str, text: str
    ) -> None:
        self.bench.check_interruption()
        try:
            connection.execute(text.encode())
        except psycopg.errors.ActiveSqlTransaction:
            raise
        except psycopg.Error as error:
            raise told(error, method, name) from error

    def _counted(self, connection: psycopg.Connection[Any]) -> dict[str, int]:
        queries = {ROWS.name: self._options.counted, SIZE_CHANGE.name: self._options.sized}
        return {name: number(connection, query) for name, query in queries.items() if query}

    def _differences(self, after: dict[str, int], seconds: float) -> dict[str, float]:
        """``seconds``: of all steps."""
        differences: dict[str, float] = {}
        if ROWS.name in after:
            rows = abs(after[ROWS.name] - self._before[ROWS.name])
            self.wrong = self._shared.problem(self.trial, self._method, rows)
            differences[ROWS.name] = rows
            if all(step.timed for step in self._method.steps):
                differences[ROWS_RATE.name] = rows / seconds
        if SIZE_CHANGE.name in after:
            differences[SIZE_CHANGE.name] = after[SIZE_CHANGE.name] - self._before[SIZE_CHANGE.name]
        return differences


def _lost(caution: Caution) -> bool:
    """Whether it says that the connection of telemetry was lost, as a crash has it."""
    return caution.code == "telemetry-missing" and ("source", "postgres") in caution.values


def _totals(taken: list[StepOfTrial]) -> dict[str, float]:
    """Combine the figures of all steps, as far as they are known."""
    totals: dict[str, float] = {}
    for metric, (name, combine, of_all) in COMBINED.items():
        values = [float(value) for step in taken if (value := getattr(step, name)) is not None]
        if values and (len(values) == len(taken) or not of_all):
            totals[metric.name] = combine(values)
    return totals
