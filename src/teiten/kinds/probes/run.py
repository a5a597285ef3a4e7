"""The load of one probe: its steps in order, on a server that has just been started."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from psycopg import sql

from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.load import Begin, SampledLoad
from teiten.execute.sites.contract import Site
from teiten.kinds.probes.load.clients import ManyClients
from teiten.kinds.probes.load.states import Inspector, Made, States, lacking
from teiten.kinds.probes.load.timing import Accounting, Timer
from teiten.kinds.probes.measurement import (
    MEASUREMENT,
    Checkpointed,
    ExecutedOnce,
    MeasuredStep,
    ProbeMeasurement,
    Seen,
    Timed,
    metrics_of,
    packed,
)
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.model import (
    BLOCK,
    PLACE,
    PROBE,
    Amount,
    Do,
    Of,
    Order,
    ProbeStep,
    probes_of,
    run_of,
)
from teiten.kinds.probes.plan import statements_of
from teiten.model.memory import memory_of
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Problem
from teiten.model.units import Seconds

RELOADED_AFTER = 0.5
"""Seconds until every process of a server has read its configuration again."""
STATE = "probe-state"
"""The code of the problem of a trial whose state was not what its probe requires."""


def loads(bench: Bench) -> Begin:
    return partial(ProbeLoad, bench)


class ProbeLoad(SampledLoad):
    """One probe. What it measures grows with its steps."""

    def __init__(self, bench: Bench, trial: PlannedTrial, site: Site, folder: Path) -> None:
        super().__init__(bench, trial, site, folder)
        self._options = probes_of(self.workload)
        self._probe = self._options.probe(trial.cell.level(PROBE) or "")
        self._clients = ManyClients(bench, trial, site, folder)
        self._draw = random.Random(trial.seed)  # noqa: S311 - pages, not secrets
        self._inspector: Inspector | None = None
        self._measurement: ProbeMeasurement | None = None
        self._states = States(bench, site, self._draw)

    def rehearse(self) -> None:
        """Let the server plan every statement of what will run, and look at the caches once."""
        for probe in run_of(self.workload):
            with self.site.connect() as connection:
                for step in probe.steps:
                    if step.statement:
                        text = step.statement.replace(PLACE, "0")
                        connection.execute(f"EXPLAIN {text}".encode())
        Inspector(self.site).close()

    def warm_up(self) -> Facts:
        """Nothing but what the connections that only look need."""
        self._inspector = Inspector(self.site)
        return {"probe": self._probe.name, "buffers": self._inspector.buffers}

    def measure(self, turn: int) -> Facts:
        inspector = self._looking
        self._measurement = ProbeMeasurement(
            probe=self._probe.name,
            memory=memory_of(self.bench.plan.study, self.trial),
            shared_buffers=inspector.shared_buffers,
            settings=inspector.settings(),
        )
        self.sample(self._all_steps)
        return {"statements": sum(len(step.statements) for step in self._so_far.measured)}

    def collect(self) -> Facts:
        measurement = self._so_far
        facts = {"probe": self._probe.name, MEASUREMENT: packed(measurement)}
        self.gather(metrics_of(self._probe, measurement), facts)
        self._looking.close()
        return {PROBE_TIME.name: self.gathered.metrics.get(PROBE_TIME.name)}

    def abandon(self) -> None:
        self._clients.stop()
        if self._inspector is not None:
            self._inspector.close()

    # The steps

    @property
    def _looking(self) -> Inspector:
        assert self._inspector is not None
        return self._inspector

    def _all_steps(self) -> None:
        """Each step with its part: those for each part after all others."""
        steps = self._probe.steps
        turns = [(step, step.part) for step in steps if not step.each]
        turns += [(step, part) for part in self._probe.parts for step in steps if step.each]
        for step, part in turns:
            if self.wrong is None:
                self.bench.check_interruption()
                self._do(step, part)
                self._states.after(step)

    def _do(self, step: ProbeStep, part: Amount | None) -> None:
        match step.do:
            case Do.LOAD | Do.TOUCH | Do.FORGET:
                unused = self._looking.state().unused if step.leaving else 0
                self._states.make(Made(step, self._pages(step, part), unused))
            case Do.SET:
                self._set(step)
            case Do.EXECUTE:
                self._execute(step, part)
            case Do.REQUIRE:
                self._require(step, part)
            case Do.MEASURE:
                self._measure(step, part)
            case Do.CLIENTS:
                self._see("before", step, part)
                pages = self._pages(step, part)
                for run in self._clients.run(step, _said(step, part), pages, self._options.share):
                    self._add(with_clients=run)
                self._see("after", step, part)
            case Do.CHECKPOINT:
                self._checkpoint(step, part)

    def _set(self, step: ProbeStep) -> None:
        with self.site.connect() as connection:
            for name, value in step.parameters:
                connection.execute(
                    sql.SQL("ALTER SYSTEM SET {} = {}").format(
                        sql.Identifier(name), sql.Literal(value)
                    )
                )
            connection.execute("SELECT pg_reload_conf()")
        time.sleep(RELOADED_AFTER)

    def _execute(self, step: ProbeStep, part: Amount | None) -> None:
        if step.table:
            self._see("before", step, part)
        with self.site.connect() as connection:
            accounting = Accounting(connection, self.site.process_io)
            begun = time.perf_counter()
            connection.execute(step.statement.encode())
            seconds = Seconds(time.perf_counter() - begun)
            self._add(io=accounting.ended(step.name, _said(step, part)))
        self._add(executed=ExecutedOnce(step.name, _said(step, part), seconds))
        if step.table:
            self._see("after", step, part)

    def _require(self, step: ProbeStep, part: Amount | None) -> None:
        """Note the state; make one that does not hold again, each time noted too, and note at the
        end that the trial does not count."""
        for _ in self._states.tries():
            seen = self._see("required", step, part)
            if seen.held:
                return
        if self._options.require_state:
            wrong = lacking(step.state, seen.where, self._looking.buffers)
            self.wrong = Problem(STATE, f"{step.name}: {wrong}")

    def _measure(self, step: ProbeStep, part: Amount | None) -> None:
        pages = self._pages(step, part)
        count = statements_of(step, self._options.share)
        numbers = list(self._page_numbers(step, pages, count))
        ask = self.site.process_io
        with self.site.connect() as connection:
            timer = Timer(connection, step.statement, ask, commit=step.commit)
            timer.get_ready(self._looking.pages(step.table) - 1)
            self._see("before", step, part)
            accounting = Accounting(connection, ask)
            statements = tuple(self._timed(timer, numbers, watch=step.watch))
            self._add(io=accounting.ended(step.name, _said(step, part)))
        self._see("after", step, part)
        self._add(measured=MeasuredStep(step.name, _said(step, part), pages, statements))

    def _timed(self, timer: Timer, pages: list[int], *, watch: bool) -> Iterator[Timed]:
        usage = self._looking.usage() if watch else 0
        for page in pages:
            self.bench.check_interruption()
            timed = timer.time(page)
            if watch:
                now = self._looking.usage()
                # a page that was read has counts of its own from then on
                timed = replace(timed, swept=max(0, usage + timed.hit + timed.read - now))
                usage = now
            yield timed

    def _page_numbers(self, step: ProbeStep, pages: int, count: int) -> Iterator[int]:
        for number in range(count):
            match step.order:
                case Order.RANDOM:
                    yield self._draw.randrange(pages)
                case Order.ASCENDING:
                    yield number * pages // count
                case Order.NEXT:
                    yield number % pages

    def _checkpoint(self, step: ProbeStep, part: Amount | None) -> None:
        pages = self._pages(step, part)
        with self.site.connect() as connection:
            connection.execute("CHECKPOINT")
            for _ in range(statements_of(step, self._options.share)):
                self.bench.check_interruption()
                for _ in range(step.changes):
                    page = str(self._draw.randrange(pages))
                    connection.execute(step.statement.replace(PLACE, page).encode())
                dirty = self._looking.state().dirty
                begun = time.perf_counter()
                connection.execute("CHECKPOINT")
                seconds = Seconds(time.perf_counter() - begun)
                written = dirty - self._looking.state().dirty
                name = _said(step, part)
                self._add(checkpoints=Checkpointed(step.name, name, seconds, dirty, written))

    # What they need

    @property
    def _so_far(self) -> ProbeMeasurement:
        assert self._measurement is not None
        return self._measurement

    def _add(self, **rows: object) -> None:
        """Add a row to each of these fields of the measurement."""
        known = self._so_far
        added: dict[str, Any] = {name: (*getattr(known, name), row) for name, row in rows.items()}
        self._measurement = replace(known, **added)

    def _see(self, moment: str, step: ProbeStep, part: Amount | None) -> Seen:
        """The state of the buffers and of the step's part, as it is kept."""
        looking = self._looking
        where = looking.where(step.table, self._pages(step, part))
        held = step.do is not Do.REQUIRE or not lacking(step.state, where, looking.buffers)
        seen = Seen(moment, step.name, _said(step, part), looking.state(), where, held)
        self._add(seen=seen)
        return seen

    def _pages(self, step: ProbeStep, part: Amount | None) -> int:
        """Count the pages of a part, at most all of the table; 0 for a step without a table."""
        if not step.table:
            return 0
        of_table = self._looking.pages(step.table)
        return pages_of(part, of_table, self._looking.buffers, self._so_far.memory // BLOCK)


def _said(step: ProbeStep, part: Amount | None) -> str:
    """A part by which measurements are told apart: only that of a step for each part."""
    return str(part) if step.each else ""


def pages_of(part: Amount | None, of_table: int, buffers: int, memory: int) -> int:
    """The pages of a part of a table; ``memory``: in pages."""
    if part is None:
        return of_table
    whole = {Of.BUFFERS: buffers, Of.MEMORY: memory, Of.TABLE: of_table}.get(part.of, 1)
    return max(1, min(of_table, int(part.value * whole)))
