"""One trial on one server of this machine: METHOD.md's steps, for real."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from teiten.errors import ServerError, WorkloadError
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import Cluster, StopManner
from teiten.execute.postgres.server_log import scan
from teiten.execute.postgres.templates.store import BENCH_DATABASE
from teiten.execute.probes.sampler import Sampler, Sampling
from teiten.execute.remote.cluster import RemoteCluster
from teiten.execute.topology.attachments import AttachedDatabase
from teiten.execute.topology.bench import Bench, RunningServer
from teiten.execute.topology.checks import TrialReadings, changes_rows, problems_of
from teiten.execute.topology.measured import Gathered, MeasuredSlices, Slice, join_outputs
from teiten.execute.topology.pinning import confirm
from teiten.execute.topology.profiling import (
    PROFILE_SEED,
    ProfilingFailedError,
    Window,
    profile_cautions,
    sample,
)
from teiten.execute.topology.server_facts import (
    non_default_settings,
    prewarm,
    read_server_facts,
    require_checksums,
)
from teiten.execute.workload.invariants import INVARIANTS
from teiten.execute.workload.pgbench import (
    ERRORS_FILE,
    OUTPUT_FILE,
    PgbenchProcess,
    PgbenchResult,
    PgbenchRun,
    try_script,
)
from teiten.host.affinity import kept_off
from teiten.host.caches import drop_page_cache, evict_files
from teiten.host.cautions import data_changed
from teiten.host.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.profiling import read_profiling_facts
from teiten.model.plan import PlannedTrial
from teiten.model.starts import slice_seed, start_of
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem
from teiten.model.units import Seconds

Done = TypeVar("Done")
WARM_UP_SEED = 20_000_003
"""Added to a trial's seed for the warm-up, so that it does not touch the same rows first."""
RUNS = {"running": "since an earlier pair"}
"""The facts of a step that is not needed, because the server is up and warm."""
OF_START = ("version", "settings", "data_checksums", "data_directory")
"""The facts that a server's start settles."""
SERVER = "server"
LOOK_EVERY = 0.2
"""Seconds between looks at pgbench and the server while they run."""
GRACE = 60.0
"""Seconds that pgbench may take beyond the planned ones: connecting, and its last transactions."""


class SingleServerTrial:
    """The steps of one trial. Every process that it starts ends with ``stop`` or ``abandon``."""

    def __init__(self, bench: Bench, trial: PlannedTrial, attempt: int) -> None:
        self._bench = bench
        self._trial = trial
        self._workload = bench.plan.study.workload(trial.cell.workload)
        self._measure = bench.plan.study.measure
        self._keeps = not self._workload.changes_data
        self._goes_on = bench.goes_on(trial, attempt)
        self._place = (trial.template.fingerprint, trial.copy, trial.directory)
        self.evidence = bench.evidence_folder(trial, attempt)
        self._cluster: Cluster | None = None
        self._pgbench: PgbenchProcess | None = None
        self._sampler: Sampler | None = None
        self._measured = MeasuredSlices()
        self._runs_since_before = False
        """The server was started by an earlier pair."""
        self._left_running = False
        self._log_begins = 0
        """Where this trial's part of the server's log begins."""
        self._log_rate = 1.0
        self._cflags = ""
        self._gathered = Gathered()
        self._crashed = False
        self._sound = False
        """The cluster ended as it should, so that a kept one may be used again."""

    @property
    def cluster(self) -> Cluster:
        if self._cluster is None:
            raise RuntimeError("the trial has no cluster yet")
        return self._cluster

    @property
    def server(self) -> Cluster | AttachedDatabase | RemoteCluster:
        """What the load goes to."""
        return self.cluster

    def restore(self) -> Facts:
        shutil.rmtree(self.evidence, ignore_errors=True)
        self.evidence.mkdir(parents=True)
        if self._take_running():
            return dict(RUNS)
        template = self._trial.template
        kept = self._bench.kept.get(self._place) if self._keeps else None
        if kept is not None:
            kept.forget_log()
            self._cluster = kept
            return {"restored": False}
        folder = self._bench.cluster_folder(self._trial, kept=self._keeps)
        report = self._bench.clone(self._trial, folder)
        self._cluster = Cluster.adopt(
            template.installation,
            folder / "data",
            user=self._bench.user,
            log=folder / "server.log",
        )
        return {
            "restored": True,
            "method": str(report.method),
            "clone_seconds": report.seconds,
            "bytes": report.bytes,
        }

    def _take_running(self) -> bool:
        """Go on with the server of an earlier pair, where that runs and belongs to this one."""
        server = self._bench.running.pop(self._place, None)
        if server is None:
            return False
        if server.start != start_of(self._trial) or not server.cluster.is_running():
            server.cluster.stop(immediately=True)
            if self._bench.kept.pop(self._place, None) is not None:
                self._bench.remove(server.cluster)
            return False
        self._cluster, self._runs_since_before = server.cluster, True
        self._cflags = server.cflags
        self._gathered.facts |= server.facts
        self._log_begins = server.cluster.log_size()
        return True

    def caches(self) -> Facts:
        if self._runs_since_before:
            return dict(RUNS)
        policy = self._measure.caches
        if policy is CachePolicy.KEEP:
            return {"caches": "kept"}
        if policy is CachePolicy.DROP and drop_page_cache():
            return {"caches": "dropped"}
        evicted = evict_files(self.cluster.data_directory)
        return {"caches": "evicted" if evicted else "kept: this system cannot evict"}

    def start(self) -> Facts:
        if self._runs_since_before:
            return dict(RUNS)
        self._launch()
        facts = read_server_facts(self._connect)
        require_checksums(facts, self._trial.template)
        level = self._trial.cell.level("server") or self._trial.template.installation.name
        self._bench.note_server(level, facts, self._trial)
        self._gathered.facts["version"] = facts["version"]
        self._gathered.facts["data_checksums"] = facts["data_checksums"]
        if self._trial.directory is not None:
            self._gathered.facts["data_directory"] = str(self.cluster.data_directory)
        self._cflags = str(facts["build"].get("CFLAGS", ""))
        self._gathered.facts["settings"] = non_default_settings(self._connect)
        return {"version": facts["version_number"]}

    def _launch(self) -> None:
        self.cluster.configure(self._bench.settings_of(self._trial))
        self.cluster.pin(self._trial.server_cpus)
        self.cluster.start()
        self._confirm_pinning(SERVER, self.cluster.pid, self._trial.server_cpus)

    def prewarm(self) -> Facts:
        if self._runs_since_before:
            return dict(RUNS)
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return prewarm(self._connect)

    def settle(self) -> Facts:
        if self._runs_since_before:
            return dict(RUNS)
        with self._connect() as connection:
            connection.execute("CHECKPOINT")
        time.sleep(self._measure.settle)
        return {}

    def warm_up(self) -> Facts:
        seconds = self._measure.warmup
        if not seconds or self._runs_since_before:
            self._log_rate = self._bench.sampling_rate(self._trial, 0.0)
            return dict(RUNS) if self._runs_since_before else {"warm_up": 0.0}
        folder = self.evidence / "warm-up"
        result = self._run_pgbench(folder, seconds, self._trial.seed + WARM_UP_SEED, None)
        if result.problems:
            raise WorkloadError(result.problems[0].detail, "see the server's log of this trial")
        shutil.rmtree(folder, ignore_errors=True)
        tps = result.metrics.get("tps", 0.0)
        self._log_rate = self._bench.sampling_rate(self._trial, tps)
        return {"tps": tps}

    def measure(self, number: int) -> Facts:
        if self._measured.problems:
            return {"skipped": "an earlier slice failed"}

        def load() -> tuple[float, PgbenchResult]:
            return time.time(), self._run_pgbench(
                self._slice_folder(number),
                self._measure.slice_duration,
                slice_seed(self._trial.seed, number),
                self._log_rate,
            )

        (started_at, result), sampling = self._sampled(load)
        self._measured.slices.append(Slice(started_at, result, sampling))
        return {"tps": result.metrics.get("tps"), "slice": number}

    def _sampled(self, work: Callable[[], Done]) -> tuple[Done, Sampling]:
        """What the work gives, and what was sampled meanwhile."""
        sampler = self._new_sampler()
        self._sampler = sampler
        with kept_off(self._own_cpus_of_server()):
            sampler.start()
            try:
                done = work()
            finally:
                sampling = sampler.stop()
                self._sampler = None
        return done, sampling

    def _new_sampler(self) -> Sampler:
        return Sampler(
            conninfo=self.server.conninfo(BENCH_DATABASE),
            version=self._trial.template.installation.version,
            postmaster_pid=self.server.pid or 0,
            devices=self._bench.devices,
        )

    def _own_cpus_of_server(self) -> tuple[int, ...]:
        """The processors that only the server has; none where it shares them with pgbench."""
        cpus = self._trial.server_cpus
        return () if set(cpus) & set(self._trial.client_cpus) else cpus

    def _facts_of_start(self) -> Facts:
        """What holds for every trial until the server is started anew."""
        found = {name: one for name, one in self._gathered.facts.items() if name in OF_START}
        pinned = self._gathered.facts.get("pinned", {})
        return found | ({"pinned": {SERVER: pinned[SERVER]}} if SERVER in pinned else {})

    def _confirm_pinning(self, what: str, pid: int | None, cpus: tuple[int, ...]) -> None:
        if cpus:
            pinned = self._gathered.facts.setdefault("pinned", {})
            pinned[what] = confirm(what, pid, cpus)

    def collect(self) -> Facts:
        if not self._measured.slices:
            raise ServerError("nothing was measured", "see the trial's log")
        self._measured.gather(
            self._gathered,
            self._measure.slice_duration,
            trimmed=not self._workload.changes_data,
        )
        for caution in self._measured.cautions:
            self._bench.record.record_caution(caution)
        transactions = self._gathered.metrics.get("transactions", 0.0)
        if self._keeps and changes_rows(self._gathered.series, transactions):
            self._bench.record.record_caution(data_changed(self._workload.name))
        return {}

    def _slice_folder(self, number: int) -> Path:
        """A trial that is not cut has all in its own folder."""
        return self.evidence / f"slice-{number}" if self._measure.slices > 1 else self.evidence

    def check(self) -> tuple[Problem, ...]:
        running = self._is_running()
        invariants = self._broken_invariants() if running and self._measured.slices else ()
        return (
            *self._replaced(),
            *problems_of(
                TrialReadings(
                    log_problems=self._log_problems(),
                    pgbench_problems=self._measured.problems,
                    metrics=self._gathered.metrics,
                    pgbench_cpu_seconds=self._measured.cpu_seconds,
                    threads=self._trial.threads,
                    disturbed_share=self._measure.disturbed_share,
                )
            ),
            *invariants,
        )

    @property
    def profiles(self) -> bool:
        return self._measure.flame_graph

    def profile(self) -> Facts:
        seconds = self._measure.flame_graph_window
        folder = self.evidence / "profile"
        server = f"PostgreSQL {self._trial.template.installation.version}"
        window = Window(
            seconds=seconds,
            busy=min(self._trial.clients, os.cpu_count() or 1),
            cflags=self._cflags,
            postmaster=self.cluster.pid or 0,
            server=server,
            folder=folder,
        )
        seed = self._trial.seed + PROFILE_SEED

        def load() -> PgbenchResult:
            return self._run_pgbench(folder / "load", seconds, seed, None)

        try:
            profile = sample(window, read_profiling_facts(), load)
        except ProfilingFailedError as failure:
            self._bench.record.record_caution(failure.caution)
            return {"profiled": False, "reason": dict(failure.caution.values).get("reason", "")}
        self._gathered.profile = profile
        for caution in profile_cautions(profile, server):
            self._bench.record.record_caution(caution)
        return {"profiled": True, "samples": profile.samples, "call_graph": profile.call_graph}

    def stop(self, *, sound: bool) -> Facts:
        """Fast where the cluster is kept; data that was changed is thrown away, so that its
        shutdown checkpoint, which can take minutes, would be for nothing."""
        if self._cluster is None:
            return {}
        if sound and self._goes_on and self._keeps and self._cluster.is_running():
            self._left_running = True
            return {"stopped": "not yet: the next pair goes on with this server"}
        manner = self._cluster.stop(immediately=not self._keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def collected(self) -> Gathered:
        return self._gathered

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back a cluster that was changed."""
        if self._pgbench is not None:
            self._pgbench.stop()
        if self._sampler is not None:
            self._sampler.stop()
        cluster = self._cluster
        if cluster is None:
            return
        if self._left_running:
            self._keep_evidence(cluster)
            facts = self._facts_of_start()
            start = start_of(self._trial)
            self._bench.running[self._place] = RunningServer(cluster, start, facts, self._cflags)
            self._bench.kept[self._place] = cluster
            self._cluster = None
            return
        cluster.stop(immediately=True)
        self._keep_evidence(cluster)
        if self._keeps and self._sound:
            self._bench.kept[self._place] = cluster
        else:
            if self._keeps:
                self._bench.kept.pop(self._place, None)
            self._bench.remove(cluster)
        self._cluster = None

    def _is_running(self) -> bool:
        return self._cluster is not None and self._cluster.is_running()

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            return self.cluster.connect(BENCH_DATABASE)
        except psycopg.OperationalError as error:
            raise ServerError(
                f"{self.cluster.name} does not answer: {error}",
                "see the server's log of this trial",
            ) from error

    def _run_pgbench(
        self, folder: Path, duration: Seconds, seed: int, log_rate: float | None
    ) -> PgbenchResult:
        process = self._new_load(
            self._bench.pgbench_run(
                self._trial,
                self.server,
                folder,
                duration=duration,
                seed=seed,
                log_sampling_rate=log_rate,
            )
        )
        self._pgbench = process
        process.start()
        self._confirm_pinning("pgbench", process.pid, self._trial.client_cpus)
        if self._sampler is not None:
            self._sampler.pgbench_pid = process.pid
        deadline = time.monotonic() + duration + GRACE
        shown: float | None = None
        while not process.ended_within(LOOK_EVERY) and time.monotonic() < deadline:
            self._bench.check_interruption()
            progress = process.poll()
            if progress is not None and progress.seconds != shown:
                shown = progress.seconds
                self._bench.observer.progress(
                    Seconds(progress.seconds), progress.tps, Seconds(progress.latency)
                )
            if not self._is_running():
                process.stop()
        return process.wait(timeout=0.1)

    def _new_load(self, run: PgbenchRun) -> PgbenchProcess:
        return PgbenchProcess(run)

    def try_script(self) -> None:
        """Run one transaction of the script. Raises WorkloadError where it is wrong."""
        try_script(self._rehearsed_run())

    def _rehearsed_run(self) -> PgbenchRun:
        return self._bench.pgbench_run(
            self._trial,
            self.server,
            self.evidence,
            duration=Seconds(1),
            seed=self._trial.seed,
            log_sampling_rate=None,
        )

    def _broken_invariants(self) -> tuple[Problem, ...]:
        if not self._workload.invariants:
            return ()
        try:
            with self._connect() as connection:
                found = [INVARIANTS[name](connection) for name in self._workload.invariants]
        except (ServerError, psycopg.Error) as error:
            return (Problem("invariant", str(error)),)
        return tuple(problem for problem in found if problem is not None)

    def _replaced(self) -> tuple[Problem, ...]:
        """Files of the server that somebody has put something else in the place of."""
        if self._cluster is None:
            return ()
        try:
            self._cluster.read_configuration()
        except UnsafePlaceError as error:
            return (Problem("replaced-file", error.message),)
        return ()

    def _log_problems(self) -> tuple[Problem, ...]:
        if self._cluster is None:
            return ()
        problems = scan(self._cluster.read_log(self._log_begins).decode("utf-8", "replace"))
        self._crashed = any(problem.code == "server-crash" for problem in problems)
        return problems

    def _keep_evidence(self, cluster: Cluster) -> None:
        if self._measure.slices > 1:
            numbers = range(1, self._measure.slices + 1)
            join_outputs([self._slice_folder(number) for number in numbers], self.evidence)
        kept: list[tuple[str, str]] = []
        with contextlib.suppress(UnsafePlaceError):  # check() has told it
            log = cluster.read_log(self._log_begins)
            kept.append(("server log", self._keep(cluster.log.name, log)))
        with contextlib.suppress(UnsafePlaceError):
            configuration = cluster.read_configuration()
            if configuration is not None:
                name = cluster.configuration.name
                kept.append(("configuration", self._keep(name, configuration)))
        self._note_evidence(kept)

    def _keep(self, name: str, content: bytes) -> str:
        """Write a server's file into the evidence, for those alone who may read the server's."""
        with HeldFolder.open_itself(self.evidence) as evidence:
            evidence.write(name, content)
        return name

    def _note_evidence(self, kept: list[tuple[str, str]]) -> None:
        """``kept``: kind and file's name; pgbench's outputs are added to it."""
        for kind, name in (
            ("pgbench output", OUTPUT_FILE),
            ("pgbench errors", ERRORS_FILE),
        ):
            if (self.evidence / name).exists():
                kept.append((kind, name))
        base = self.evidence.relative_to(self._bench.campaign)
        self._gathered.evidence = tuple((kind, str(base / name)) for kind, name in kept)
