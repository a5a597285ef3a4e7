"""Trials in paired transactions: those of a start share one load, which drives all its servers.

All are up. The trial whose step comes first runs the load for all, and each trial takes the numbers
of its side.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.client.paired import (
    ERRORS_FILE,
    EVENTS_FILE,
    PAIRS_FILE,
    PairedProcess,
    PairedResult,
    PairedRun,
)
from teiten.execute.executor import Facts
from teiten.execute.load import ExtraWindow
from teiten.execute.probes.sampler import Sampler, Sampling, stopped
from teiten.execute.rows import rows_of
from teiten.execute.sites.contract import Site
from teiten.host.facts.cpus import allowed_processors
from teiten.kinds.pgbench.load.output import other_tables
from teiten.kinds.pgbench.load.paired_numbers import (
    SideNumbers,
    of_sides,
    paired_times,
    without_other_servers,
)
from teiten.kinds.pgbench.load.paired_run import FAILED, NOT_PINNED, problems_of, server_of
from teiten.kinds.pgbench.load.process import GRACE, LOOK_EVERY, too_long
from teiten.kinds.pgbench.load.trial import WARM_UP_SEED, PgbenchTrial, broken_invariants
from teiten.kinds.pgbench.metrics import LATENCY_TYPICAL, TPS, WITHIN
from teiten.kinds.pgbench.model import REHEARSAL, script_of
from teiten.model.metrics import MEASURED_SECONDS, with_wal_per_transaction
from teiten.model.plan import PlannedTrial
from teiten.model.starts import planned_seconds, starts_of
from teiten.model.trial import Problem
from teiten.model.units import Seconds
from teiten.ways.registry import way_of_clients


class PairedTrials:
    """All trials of a campaign, where those of a start find each other."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.pin = True
        """Whether the generator moves servers' processes; False once the system forbids it."""
        self._begun: dict[int, PairedTrial] = {}

    def begin(self, trial: PlannedTrial, site: Site, folder: Path) -> PairedTrial:
        begun = self._begun[trial.number] = PairedTrial(self, trial, site, folder)
        return begun

    def sides_of(self, trial: PlannedTrial) -> tuple[PairedTrial, ...]:
        """All of a start that has begun, the base first."""
        study = self.bench.plan.study
        levels = study.contrasted_levels
        sides = sorted(
            self.bench.plan.pair_of(trial),
            key=lambda side: levels.index(side.cell.level(study.contrast) or ""),
        )
        return tuple(self._begun[side.number] for side in sides)

    def seconds_of(self, trial: PlannedTrial) -> Seconds:
        """How long the load of a start is to be, from the starts that the ledger has."""
        names = (TPS.name, WITHIN.name)
        attempts = self.bench.record.attempts(*names, MEASURED_SECONDS.name)
        plan = self.bench.plan
        return planned_seconds(plan, starts_of(plan, attempts, trial, *names))


@dataclass(frozen=True)
class _Measured:
    """Measurements of one side in a start."""

    result: PairedResult
    numbers: SideNumbers
    sampling: Sampling


class PairedTrial(PgbenchTrial):
    """One side's trial."""

    files = (("generator output", EVENTS_FILE), ("generator errors", ERRORS_FILE))

    def __init__(self, trials: PairedTrials, trial: PlannedTrial, site: Site, folder: Path) -> None:
        super().__init__(trials.bench, trial, site, folder)
        self.script = script_of(self.options, self.clients)
        self._trials = trials
        self._process: PairedProcess | None = None
        self._is_warm = False
        self._measured: _Measured | None = None
        self._problems: tuple[Problem, ...] = ()

    def rehearse(self) -> None:
        """One transaction of the script, on this side's server."""
        run = self._planned([self], self.folder / "rehearsal", None, 1)
        try:
            result = self._run(run, [self])
        except WorkloadError as error:
            raise self._wrong(error.message) from error
        for aborted in result.summary["aborted"]:
            raise self._wrong(aborted["message"])
        if not result.summary["pairs"]:
            raise too_long(self.script, REHEARSAL)

    def warm_up(self) -> Facts:
        sides = self._trials.sides_of(self.trial)
        for side in sides:
            side.prepare()
        seconds = self.bench.plan.study.measure.warmup
        if self._is_warm or not seconds:
            return {"with": "the other side"} if self._is_warm else {"warm_up": 0.0}
        folder = self.folder / "warm-up"
        seed = self.trial.seed + WARM_UP_SEED
        try:
            result = self._run(self._planned(sides, folder, seconds, seed), sides)
        except WorkloadError as error:
            if NOT_PINNED not in error.message or not self._trials.pin:
                raise
            self._trials.pin = False
            result = self._run(self._planned(sides, folder, seconds, seed), sides)
        problems = problems_of(result, self._threads)
        shutil.rmtree(folder, ignore_errors=True)
        if problems:
            raise WorkloadError(problems[0].detail, "see the server's log of this trial")
        for side in sides:
            side._is_warm = True
        return {"pairs": result.summary["pairs"]}

    def measure(self, turn: int) -> Facts:
        """Measure all sides, in the turn of the first."""
        if self._measured is None and not self._problems:
            self._measure(self._trials.sides_of(self.trial))
        if self._measured is None:
            return {"skipped": "nothing was measured"}
        metrics = self._measured.numbers.metrics
        return {name: metrics[name] for name in (TPS.name, LATENCY_TYPICAL.name)}

    def collect(self) -> Facts:
        measured = self._measured
        if measured is None:
            return {}
        own, sampling, gathered = measured.numbers, measured.sampling, self.gathered
        gathered.metrics = with_wal_per_transaction({**sampling.metrics, **own.metrics})
        gathered.series = (own.series, *sampling.series)
        gathered.histogram = own.histogram.encode()
        gathered.facts |= {
            "way": way_of_clients(self.bench.plan.study.measure, self.clients.clients).name,
            "pinned_pairs": self._pins(self),
            "pairs": measured.result.summary["pairs"],
            "generator_cpu_seconds": measured.result.cpu_seconds,
        }
        self.finish(sampling.cautions)
        return {}

    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """The cause comes first: a server that fails fails the generator."""
        problems = (*seen, *self._problems)
        if self._measured is None or not self.site.is_running():
            return problems
        return (*problems, *broken_invariants(self.site, self.options.invariants))

    def window(self, seconds: Seconds, folder: Path) -> ExtraWindow:
        """On this side's server alone."""
        seed = self.trial.seed + WARM_UP_SEED
        result = self._run(self._planned([self], folder / "load", seconds, seed), [self])
        return ExtraWindow(
            seconds=Seconds(result.summary["seconds"]),
            transactions=float(result.summary["pairs"]),
            problems=problems_of(result, self._threads),
        )

    def abandon(self) -> None:
        if self._process is not None:
            self._process.stop()
        (self.folder / PAIRS_FILE).unlink(missing_ok=True)
        super().abandon()

    @property
    def _threads(self) -> int:
        """The number of the generator's threads: one for each client that connects again and again,
        since the others of its thread would wait with it."""
        if self.options.reconnect:
            return self.clients.clients
        return max(1, min(self.clients.clients, allowed_processors()))

    def _pins(self, side: PairedTrial) -> bool:
        """Whether the generator moves a side's server processes: those of connections that stay."""
        return self._trials.pin and side.site.moves_processes and not self.options.reconnect

    def _wrong(self, message: str) -> WorkloadError:
        """The script cannot be run."""
        return WorkloadError(
            f"script {self.script.name}: {message}", other_tables(message) or CORRECT
        )

    def _planned(
        self, sides: Sequence[PairedTrial], folder: Path, seconds: Seconds | None, seed: int
    ) -> PairedRun:
        """``seconds``: None for a single transaction of one client on each server."""
        clients = 1 if seconds is None else self.clients.clients
        way = way_of_clients(self.bench.plan.study.measure, clients)
        several = len(sides) > 1
        return PairedRun(
            servers=[
                replace(
                    server_of(side.site.address()),
                    texts=None if side.script == sides[0].script else (side.script.text,),
                )
                for side in sides
            ],
            scripts=[(sides[0].script, 1)],
            rows=rows_of(self.bench.record, self.workload, self.options.variables, sides[0].site),
            clients=clients,
            protocol=self.clients.query_mode,
            seed=seed,
            folder=folder,
            duration=seconds,
            pairs=1 if seconds is None else None,
            threads=min(clients, self._threads),
            in_step=several and way.in_step,
            pin=several and all(map(self._pins, sides)),
            reconnect=self.options.reconnect,
            variables={"scale": str(max(1, int(self.workload.data.scale or 1)))},
        )

    def _run(
        self, run: PairedRun, sides: Sequence[PairedTrial], samplers: Sequence[Sampler] = ()
    ) -> PairedResult:
        """Run to the end, and show how far it is; it is stopped where a server ends."""
        process = self._process = PairedProcess(run)
        try:
            process.start()
            for sampler in samplers:
                sampler.pgbench_pid = process.pid
            patience = REHEARSAL if run.duration is None else run.duration + GRACE
            self._follow(process, sides, patience)
            return process.wait(timeout=0.1)
        finally:
            process.stop()

    def _follow(
        self, process: PairedProcess, sides: Sequence[PairedTrial], patience: float
    ) -> None:
        began = at = time.monotonic()
        seen = 0
        while not process.ended_within(LOOK_EVERY) and time.monotonic() < began + patience:
            self.bench.check_interruption()
            now, count = time.monotonic(), process.transactions()
            if now - at >= 1 and count > seen:
                seconds_each = (now - at) / (count - seen)
                self.bench.observer.progress(
                    Seconds(now - began),
                    1 / seconds_each,
                    Seconds(seconds_each * self.clients.clients / len(sides)),
                )
                seen, at = count, now
            if not all(side.site.is_running() for side in sides):
                process.stop()

    def _measure(self, sides: Sequence[PairedTrial]) -> None:
        seconds = self._trials.seconds_of(self.trial)
        run = self._planned(sides, self.folder, seconds, self.trial.seed)
        samplers = [side.site.sampler() for side in sides]
        with ExitStack() as quiet:
            for side in sides:
                quiet.enter_context(side.site.off_server_cpus())
            try:
                for sampler in samplers:
                    sampler.start()
                result = self._run(run, sides, samplers)
            finally:
                samplings = stopped(samplers)
        problems = problems_of(result, self._threads)
        numbers = of_sides(
            paired_times(result.pairs), self.clients.clients, result.summary["seconds"]
        )
        if numbers is None:
            problems = problems or (Problem(FAILED, "no transaction was completed"),)
        for at, side in enumerate(sides):
            side._problems = problems
            if numbers is not None:
                others = [sampling.metrics for sampling in (*samplings[:at], *samplings[at + 1 :])]
                telemetry = without_other_servers(samplings[at].metrics, others)
                sampling = replace(samplings[at], metrics=telemetry)
                side._measured = _Measured(result, numbers[at], sampling)


CORRECT = (
    "correct it and run again (every script is tried with one transaction before the first trial);"
    " or have pgbench run it: --way classic"
)
