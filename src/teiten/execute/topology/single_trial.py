"""One trial on one server of this machine: METHOD.md's steps, for real."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import ServerError, TeitenError, WorkloadError
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import Cluster, StopManner
from teiten.execute.postgres.server_log import scan
from teiten.execute.postgres.templates.store import BENCH_DATABASE
from teiten.execute.probes.sampler import Sampler, Sampling
from teiten.execute.topology.attachments import AttachedDatabase
from teiten.execute.topology.bench import Bench
from teiten.execute.topology.checks import TrialReadings, problems_of
from teiten.execute.topology.server_facts import non_default_settings, prewarm, read_server_facts
from teiten.execute.workload.invariants import INVARIANTS
from teiten.execute.workload.pgbench import PgbenchProcess, PgbenchResult
from teiten.host.caches import drop_page_cache, evict_files
from teiten.model.plan import PlannedTrial
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem, Series
from teiten.model.units import Seconds

WARM_UP_SEED = 20_000_003
"""Added to a trial's seed for the warm-up, so that it does not touch the same rows first."""
LOOK_EVERY = 0.2
"""Seconds between looks at pgbench and the server while they run."""
GRACE = 60.0
"""Seconds that pgbench may take beyond the planned ones: connecting, and its last transactions."""


@dataclass
class Gathered:
    """What a trial has gathered so far; it grows with the steps."""

    metrics: dict[str, float] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    histogram: str = ""
    facts: Facts = field(default_factory=dict)
    evidence: tuple[tuple[str, str], ...] = ()


class SingleServerTrial:
    """The steps of one trial. Every process that it starts ends with ``stop`` or ``abandon``."""

    def __init__(self, bench: Bench, trial: PlannedTrial, attempt: int) -> None:
        self._bench = bench
        self._trial = trial
        self._workload = bench.plan.study.workload(trial.cell.workload)
        self._measure = bench.plan.study.measure
        self._keeps = not self._workload.changes_data
        self._place = (trial.template.fingerprint, trial.copy)
        self.evidence = bench.evidence_folder(trial, attempt)
        self._cluster: Cluster | None = None
        self._pgbench: PgbenchProcess | None = None
        self._sampler: Sampler | None = None
        self._result: PgbenchResult | None = None
        self._sampling: Sampling | None = None
        self._log_rate = 1.0
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
    def server(self) -> Cluster | AttachedDatabase:
        """What the load goes to."""
        return self.cluster

    def restore(self) -> Facts:
        shutil.rmtree(self.evidence, ignore_errors=True)
        self.evidence.mkdir(parents=True)
        template = self._trial.template
        kept = self._bench.kept.get(self._place) if self._keeps else None
        if kept is not None:
            kept.log.unlink(missing_ok=True)
            self._cluster = kept
            return {"restored": False}
        folder = self._bench.cluster_folder(self._trial, kept=self._keeps)
        report = self._bench.templates.clone(template, folder)
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

    def caches(self) -> Facts:
        policy = self._measure.caches
        if policy is CachePolicy.KEEP:
            return {"caches": "kept"}
        if policy is CachePolicy.DROP and drop_page_cache():
            return {"caches": "dropped"}
        evicted = evict_files(self.cluster.data_directory)
        return {"caches": "evicted" if evicted else "kept: this system cannot evict"}

    def start(self) -> Facts:
        self.cluster.configure(self._bench.settings_of(self._trial))
        self.cluster.start()
        facts = read_server_facts(self._connect)
        level = self._trial.cell.level("server") or self._trial.template.installation.name
        self._bench.note_server(level, facts)
        self._gathered.facts["version"] = facts["version"]
        self._gathered.facts["settings"] = non_default_settings(self._connect)
        return {"version": facts["version_number"]}

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return prewarm(self._connect)

    def settle(self) -> Facts:
        with self._connect() as connection:
            connection.execute("CHECKPOINT")
        time.sleep(self._measure.settle)
        return {}

    def warm_up(self) -> Facts:
        seconds = self._measure.warmup
        if not seconds:
            self._log_rate = self._bench.sampling_rate(self._trial, 0.0)
            return {"warm_up": 0.0}
        folder = self.evidence / "warm-up"
        result = self._run_pgbench(folder, seconds, self._trial.seed + WARM_UP_SEED, None)
        if result.problems:
            raise WorkloadError(result.problems[0].detail, "see the server's log of this trial")
        shutil.rmtree(folder, ignore_errors=True)
        tps = result.metrics.get("tps", 0.0)
        self._log_rate = self._bench.sampling_rate(self._trial, tps)
        return {"tps": tps}

    def measure(self) -> Facts:
        sampler = Sampler(
            conninfo=self.server.conninfo(BENCH_DATABASE),
            version=self._trial.template.installation.version,
            postmaster_pid=self.server.pid or 0,
            devices=self._bench.devices,
        )
        self._sampler = sampler
        sampler.start()
        try:
            self._result = self._run_pgbench(
                self.evidence,
                self._measure.duration or Seconds(10),
                self._trial.seed,
                self._log_rate,
            )
        finally:
            self._sampling = sampler.stop()
        return {"tps": self._result.metrics.get("tps")}

    def collect(self) -> Facts:
        if self._result is None or self._sampling is None:
            raise ServerError("nothing was measured", "see the trial's log")
        metrics = {**self._sampling.metrics, **self._result.metrics}
        transactions = metrics.get("transactions", 0.0)
        if transactions > 0 and "wal_bytes" in metrics:
            metrics["wal_bytes_per_transaction"] = metrics["wal_bytes"] / transactions
        self._gathered.metrics = metrics
        self._gathered.series = (self._result.series, *self._sampling.series)
        self._gathered.histogram = self._result.histogram
        self._gathered.facts |= {
            "command": self._result.command,
            "pgbench_output": self._result.output,
            "pgbench_cpu_seconds": self._result.cpu_seconds,
        }
        for caution in self._sampling.cautions:
            self._bench.record.record_caution(caution)
        return {}

    def check(self) -> tuple[Problem, ...]:
        running = self._is_running()
        invariants = self._broken_invariants() if running and self._result else ()
        return (
            *problems_of(
                TrialReadings(
                    log_problems=self._log_problems(),
                    pgbench_problems=self._result.problems if self._result else (),
                    metrics=self._gathered.metrics,
                    pgbench_cpu_seconds=self._result.cpu_seconds if self._result else 0.0,
                    threads=self._trial.threads,
                    disturbed_share=self._measure.disturbed_share,
                )
            ),
            *invariants,
        )

    def stop(self) -> Facts:
        """Fast where the cluster is kept; data that was changed is thrown away, so that its
        shutdown checkpoint, which can take minutes, would be for nothing."""
        if self._cluster is None:
            return {}
        manner = self._cluster.stop(immediately=not self._keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def collected(self) -> Gathered:
        return self._gathered

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back a cluster that was changed."""
        if self._pgbench is not None:
            self._pgbench.stop()
        if self._sampler is not None and self._sampling is None:
            self._sampling = self._sampler.stop()
        cluster = self._cluster
        if cluster is None:
            return
        cluster.stop(immediately=True)
        self._keep_evidence(cluster)
        if self._keeps and self._sound:
            self._bench.kept[self._place] = cluster
        else:
            if self._keeps:
                self._bench.kept.pop(self._place, None)
            with contextlib.suppress(TeitenError, OSError):  # the next start sweeps what is left
                cluster.remove()
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
        process = PgbenchProcess(
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

    def _broken_invariants(self) -> tuple[Problem, ...]:
        if not self._workload.invariants:
            return ()
        try:
            with self._connect() as connection:
                found = [INVARIANTS[name](connection) for name in self._workload.invariants]
        except (ServerError, psycopg.Error) as error:
            return (Problem("invariant", str(error)),)
        return tuple(problem for problem in found if problem is not None)

    def _log_problems(self) -> tuple[Problem, ...]:
        if self._cluster is None or not self._cluster.log.exists():
            return ()
        problems = scan(self._cluster.log.read_text(encoding="utf-8", errors="replace"))
        self._crashed = any(problem.code == "server-crash" for problem in problems)
        return problems

    def _keep_evidence(self, cluster: Cluster) -> None:
        kept: list[tuple[str, str]] = []
        for kind, source in (("server log", cluster.log), ("configuration", cluster.configuration)):
            if source.exists():
                shutil.copyfile(source, self.evidence / source.name)
                kept.append((kind, source.name))
        self._note_evidence(kept)

    def _note_evidence(self, kept: list[tuple[str, str]]) -> None:
        """``kept``: kind and file's name; pgbench's outputs are added to it."""
        for kind, name in (
            ("pgbench output", "pgbench-output.txt"),
            ("pgbench errors", "pgbench-errors.txt"),
        ):
            if (self.evidence / name).exists():
                kept.append((kind, name))
        base = self.evidence.relative_to(self._bench.campaign)
        self._gathered.evidence = tuple((kind, str(base / name)) for kind, name in kept)
