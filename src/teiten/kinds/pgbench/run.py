"""The load of pgbench: a script, repeated by clients for some seconds."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from teiten.errors import ServerError, WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.distribution import entry_address
from teiten.execute.executor import Facts
from teiten.execute.load import Begin, ExtraWindow, sampled
from teiten.execute.probes.sampler import Sampler
from teiten.execute.rows import rows_of
from teiten.execute.sites.contract import WARM, Site
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.measured import Slice, gather, join_outputs
from teiten.kinds.pgbench.load.output import ENDED_BY_SIGNAL, PgbenchResult, other_tables
from teiten.kinds.pgbench.load.paired_check import checked_servers
from teiten.kinds.pgbench.load.paired_trials import PairedTrials
from teiten.kinds.pgbench.load.process import (
    ERRORS_FILE,
    GRACE,
    LOOK_EVERY,
    OUTPUT_FILE,
    PgbenchProcess,
    try_script,
)
from teiten.kinds.pgbench.load.sampling import SamplingRates
from teiten.kinds.pgbench.load.trial import (
    WARM_UP_SEED,
    PgbenchTrial,
    broken_invariants,
    load_problems,
    without_retried,
)
from teiten.kinds.pgbench.model import script_of
from teiten.model.plan import PlannedTrial
from teiten.model.rows import as_expressions
from teiten.model.starts import slice_seed
from teiten.model.study import Script
from teiten.model.trial import Problem
from teiten.model.units import Seconds
from teiten.ways.registry import way_of

servers_to_check = checked_servers
"""For the check of paired transactions on this machine."""
WINDOW_SEED = 30_000_001
"""Added to a trial's seed for the extra window."""


def loads(bench: Bench) -> Begin:
    """The trials of a campaign share the rates at which pgbench logs, or know each other."""
    if way_of(bench.plan.study.measure).concurrent:
        return PairedTrials(bench).begin
    return partial(PgbenchLoad, bench, SamplingRates(bench))


class PgbenchLoad(PgbenchTrial):
    """The load of one trial: a warm-up, and slices."""

    files = (("pgbench output", OUTPUT_FILE), ("pgbench errors", ERRORS_FILE))

    def __init__(
        self, bench: Bench, rates: SamplingRates, trial: PlannedTrial, site: Site, folder: Path
    ) -> None:
        super().__init__(bench, trial, site, folder)
        self._rates = rates
        self._study_measure = bench.plan.study.measure
        self._parts = way_of(self._study_measure).parts(self._study_measure)
        self._pgbench: PgbenchProcess | None = None
        self._slices: list[Slice] = []
        self._log_rate = 1.0

    def rehearse(self) -> None:
        """One transaction of the script."""
        run = self._run(self.folder, Seconds(1), self.trial.seed, None)
        try:
            try_script(run, spawn=self.site.spawn)
        except WorkloadError as error:
            raise WorkloadError(
                error.message,
                other_tables(error.message)
                or "correct it and run again: every script is tried with one transaction before the"
                " first trial",
            ) from error

    def warm_up(self) -> Facts:
        self.prepare()
        seconds = self._study_measure.warmup
        tps = 0.0
        facts: Facts = dict(WARM) if self.site.warm else {"warm_up": 0.0}
        if seconds and not self.site.warm:
            folder, seed = self.folder / "warm-up", self.trial.seed + WARM_UP_SEED
            result = self._run_pgbench(self._run(folder, seconds, seed, None))
            if result.problems:
                raise WorkloadError(result.problems[0].detail, "see the server's log of this trial")
            shutil.rmtree(folder, ignore_errors=True)
            tps = result.metrics.get("tps", 0.0)
            facts = {"tps": tps}
        self._log_rate = self._rates.of(self.trial, tps, self.site.client.cores)
        return facts

    def measure(self, turn: int) -> Facts:
        if self._problems:
            return {"skipped": "an earlier slice failed"}

        def load(sampler: Sampler) -> tuple[float, PgbenchResult]:
            seed = slice_seed(self.trial.seed, turn)
            seconds = self._study_measure.slice_duration
            run = self._run(self._slice_folder(turn), seconds, seed, self._log_rate)
            return time.time(), self._run_pgbench(run, sampler)

        (started_at, result), sampling = sampled(self.site, load)
        self._slices.append(Slice(started_at, result, sampling))
        return {"tps": result.metrics.get("tps"), "slice": turn}

    def collect(self) -> Facts:
        if not self._slices:
            raise ServerError("nothing was measured", "see the trial's log")
        duration, trimmed = self._study_measure.slice_duration, not self.workload.changes_data
        gather(self._slices, self.gathered, duration, trimmed=trimmed)
        cautions = (caution for part in self._slices for caution in part.sampling.cautions)
        self.finish(dict.fromkeys(cautions))
        return {}

    @property
    def _problems(self) -> tuple[Problem, ...]:
        """Problems of pgbench's runs, of all slices."""
        return tuple(problem for part in self._slices for problem in part.result.problems)

    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """The cause comes first: a server that fails fails pgbench, but a pgbench that was killed
        leaves errors of broken connections in the server's log."""
        running, metrics = self.site.is_running(), self.gathered.metrics
        names = self.options.invariants if running and self._slices else ()
        own = self._problems
        killed = tuple(problem for problem in own if problem.detail.startswith(ENDED_BY_SIGNAL))
        return (
            *killed,
            *without_retried(seen, self.options.pgbench_options),
            *(problem for problem in own if problem not in killed),
            *load_problems(
                metrics.get("failed_transactions", 0.0),
                sum(part.result.cpu_seconds for part in self._slices),
                metrics.get("measured_seconds", 0.0),
                self.clients.threads,
            ),
            *broken_invariants(self.site, names),
        )

    def window(self, seconds: Seconds, folder: Path) -> ExtraWindow:
        run = self._run(folder / "load", seconds, self.trial.seed + WINDOW_SEED, None)
        result = self._run_pgbench(run)
        return ExtraWindow(
            seconds=Seconds(result.metrics.get("measured_seconds", seconds)),
            transactions=result.metrics.get("transactions", 0.0),
            problems=result.problems,
        )

    def abandon(self) -> None:
        if self._pgbench is not None:
            self._pgbench.stop()
        if self._parts:
            numbers = range(1, self._parts + 1)
            join_outputs([self._slice_folder(number) for number in numbers], self.folder)
        super().abandon()

    def _slice_folder(self, number: int) -> Path:
        """A trial that is not cut has all in its own folder."""
        return self.folder / f"slice-{number}" if self._parts else self.folder

    def _run(self, folder: Path, duration: Seconds, seed: int, rate: float | None) -> PgbenchRun:
        trial, client = self.trial, self.site.client
        return PgbenchRun(
            pgbench=client.pgbench(self.bench.plan.pgbench),
            address=entry_address(trial, self.site),
            script=self._script(),
            scale=max(1, int(trial.scale or 1)),  # pgbench counts whole ones
            clients=self.clients.clients,
            threads=self.clients.threads,
            duration=duration,
            seed=seed,
            query_mode=self.clients.query_mode,
            options=self.options.pgbench_options,
            reconnect=self.options.reconnect,
            log_sampling_rate=rate,
            folder=folder,
            log_folder=client.log_folder,
            cpus=trial.client_cpus,
        )

    def _script(self) -> Script:
        """The script, which draws a row first where its workload has a list of values."""
        script = script_of(self.options, self.clients)
        rows = rows_of(self.bench.record, self.workload, self.options.variables, self.site)
        if rows is None:
            return script
        try:
            return replace(script, text=as_expressions(rows) + script.text)
        except ValueError as error:
            raise WorkloadError(
                f"script {script.name}: {error}",
                "paired transactions have variables of any text: leave out --way",
            ) from error

    def _run_pgbench(self, run: PgbenchRun, sampler: Sampler | None = None) -> PgbenchResult:
        process = self._pgbench = PgbenchProcess(run, self.site.spawn)
        process.start()
        if sampler is not None:
            sampler.pgbench_pid = process.pid
        deadline = time.monotonic() + run.duration + GRACE
        shown: float | None = None
        while not process.ended_within(LOOK_EVERY) and time.monotonic() < deadline:
            self.bench.check_interruption()
            progress = process.poll()
            if progress is not None and progress.seconds != shown:
                shown = progress.seconds
                self.bench.observer.progress(
                    Seconds(progress.seconds), progress.tps, Seconds(progress.latency)
                )
            if not self.site.is_running():
                process.stop()
        return process.wait(timeout=0.1, waited=run.duration + GRACE)
