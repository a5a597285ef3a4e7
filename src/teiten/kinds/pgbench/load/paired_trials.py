"""Trials in paired transactions: those of a start share one load, which drives all its servers.

All are up. The trial whose step comes first runs the load for all, and each trial takes the numbers
of its side.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.client.paired import (
    ERRORS_FILE,
    EVENTS_FILE,
    PAIRS_FILE,
    PairedProcess,
    PairedResult,
)
from teiten.execute.executor import Facts
from teiten.execute.load import ExtraWindow
from teiten.execute.probes.sampler import Sampling, stopped
from teiten.execute.sites.contract import Site
from teiten.kinds.pgbench.load.paired_metrics import SideNumbers, of_sides, without_other_servers
from teiten.kinds.pgbench.load.paired_numbers import paired_times
from teiten.kinds.pgbench.load.paired_run import (
    FAILED,
    NOT_PINNED,
    LoadedSide,
    PairedWork,
    problems_of,
)
from teiten.kinds.pgbench.load.trial import WARM_UP_SEED, PgbenchTrial, broken_invariants
from teiten.kinds.pgbench.metrics import LATENCY_TYPICAL, TPS, WITHIN
from teiten.kinds.pgbench.model import script_of
from teiten.model.metrics import MEASURED_SECONDS, with_wal_per_transaction
from teiten.model.plan import PlannedTrial
from teiten.model.starts import planned_seconds, starts_of
from teiten.model.trial import Problem
from teiten.model.units import Seconds
from teiten.ways.registry import way_of_clients

WITH_THE_OTHER: Facts = {"with": "the other side"}
"""The facts of a step that the trial of another side has taken for all."""


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


@dataclass
class _Measured:
    """Measurements of one side in a start."""

    result: PairedResult
    numbers: SideNumbers
    sampling: Sampling
    telemetry: dict[str, float]


class PairedTrial(PgbenchTrial):
    """One side's trial."""

    files = (("generator output", EVENTS_FILE), ("generator errors", ERRORS_FILE))

    def __init__(self, trials: PairedTrials, trial: PlannedTrial, site: Site, folder: Path) -> None:
        bench = trials.bench
        super().__init__(bench, trial, site, folder)
        self._trials = trials
        self.side = LoadedSide(site, script_of(self.options, self.clients))
        self._work = PairedWork(bench, self.workload, self.options, self.clients)
        self._way = way_of_clients(bench.plan.study.measure, self.clients.clients)
        self._process: PairedProcess | None = None
        self._is_warm = False
        self._measured: _Measured | None = None
        self._problems: tuple[Problem, ...] = ()

    def rehearse(self) -> None:
        """One transaction of the script, on this side's server."""
        self._work.tried(self.side, self.folder / "rehearsal")

    def warm_up(self) -> Facts:
        sides = self._trials.sides_of(self.trial)
        for side in sides:
            side.prepare()
        seconds = self.bench.plan.study.measure.warmup
        if self._is_warm or not seconds:
            return dict(WITH_THE_OTHER) if self._is_warm else {"warm_up": 0.0}
        folder = self.folder / "warm-up"
        seed = self.trial.seed + WARM_UP_SEED
        try:
            result = self._run(sides, folder, seconds, seed)
        except WorkloadError as error:
            if NOT_PINNED not in error.message or not self._trials.pin:
                raise
            self._trials.pin = False
            result = self._run(sides, folder, seconds, seed)
        problems = problems_of(result, self._work.threads)
        shutil.rmtree(folder, ignore_errors=True)
        if problems:
            raise WorkloadError(problems[0].detail, "see the server's log of this trial")
        for side in sides:
            side._is_warm = True
        return {"pairs": result.summary["pairs"]}

    def measure(self, turn: int) -> Facts:
        """Measure all sides, in the turn of the first."""
        del turn
        if self._measured is None and not self._problems:
            sides = self._trials.sides_of(self.trial)
            self._measure(sides)
        if self._measured is None:
            return {"skipped": "nothing was measured"}
        metrics = self._measured.numbers.metrics
        return {name: metrics[name] for name in (TPS.name, LATENCY_TYPICAL.name)}

    def collect(self) -> Facts:
        measured = self._measured
        if measured is None:
            return {}
        own, gathered = measured.numbers, self.gathered
        gathered.metrics = with_wal_per_transaction({**measured.telemetry, **own.metrics})
        gathered.series = (own.series, *measured.sampling.series)
        gathered.histogram = own.histogram.encode()
        gathered.facts |= {
            "way": self._way.name,
            "pinned_pairs": self._trials.pin and self.site.moves_processes,
            "pairs": measured.result.summary["pairs"],
            "generator_cpu_seconds": measured.result.cpu_seconds,
        }
        self.finish(measured.sampling.cautions)
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
        process = PairedProcess(
            self._work.run([self.side], folder / "load", seconds, seed, pin=False)
        )
        try:
            result = self._work.carry_out(process, [self.side])
        finally:
            process.stop()
        return ExtraWindow(
            seconds=Seconds(result.summary["seconds"]),
            transactions=float(result.summary["pairs"]),
            problems=problems_of(result, self._work.threads),
        )

    def abandon(self) -> None:
        if self._process is not None:
            self._process.stop()
        (self.folder / PAIRS_FILE).unlink(missing_ok=True)
        super().abandon()

    def _run(
        self, sides: Sequence[PairedTrial], folder: Path, seconds: Seconds, seed: int
    ) -> PairedResult:
        loaded = [trial.side for trial in sides]
        run = self._work.run(loaded, folder, seconds, seed, pin=self._trials.pin)
        self._process = PairedProcess(run)
        return self._work.carry_out(self._process, loaded)

    def _measure(self, sides: Sequence[PairedTrial]) -> None:
        loaded = [trial.side for trial in sides]
        sites = [side.site for side in loaded]
        seconds = self._trials.seconds_of(self.trial)
        run = self._work.run(loaded, self.folder, seconds, self.trial.seed, pin=self._trials.pin)
        process = self._process = PairedProcess(run)
        samplers = [site.sampler() for site in sites]
        with ExitStack() as quiet:
            for site in sites:
                quiet.enter_context(site.off_server_cpus())
            try:
                for sampler in samplers:
                    sampler.start()
                result = self._work.carry_out(process, loaded, samplers)
            finally:
                samplings = stopped(samplers)
        problems = problems_of(result, self._work.threads)
        clients = self._work.clients.clients
        of_each = of_sides(paired_times(result.pairs), clients, result.summary["seconds"])
        if of_each is None:
            problems = problems or (Problem(FAILED, "no transaction was completed"),)
        for at, side in enumerate(sides):
            side._problems = problems
            if of_each is not None:
                others = [
                    sampling.metrics for sampling in samplings if sampling is not samplings[at]
                ]
                telemetry = without_other_servers(samplings[at].metrics, others)
                side._measured = _Measured(result, of_each[at], samplings[at], telemetry)
