"""A probe's statement by several clients at the same time: pgbench, a load program of the site."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psycopg

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.sites.contract import Site
from teiten.host.system.affinity import affinity
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.process import PgbenchProcess, PgbenchResult
from teiten.kinds.probes.measurement import WithClients
from teiten.kinds.probes.model import PLACE, Amount, Of, ProbeStep
from teiten.kinds.probes.plan import clients_seconds
from teiten.model.plan import PlannedTrial
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds

LOOK_EVERY = 0.2
GRACE = 60.0
"""Seconds that pgbench may take beyond the planned ones."""
BLOCKS = "SELECT blks_hit, blks_read FROM pg_stat_database WHERE datname = current_database()"
TOLD_AFTER = 1.2
"""Seconds until the statistics have what a backend did that has ended, before 15."""
AT_ONCE_SINCE = 150_000


class ManyClients:
    """Runs pgbench for each number of clients of a step."""

    def __init__(self, bench: Bench, trial: PlannedTrial, site: Site, folder: Path) -> None:
        self._bench, self._trial, self._site, self._folder = bench, trial, site, folder
        self._process: PgbenchProcess | None = None

    def run(self, step: ProbeStep, part: str, pages: int, share: float) -> list[WithClients]:
        """Raises WorkloadError where pgbench fails."""
        cores = self._cores()
        counts = sorted({clients_of(one, cores) for one in step.clients})
        seconds = clients_seconds(step, share)
        return [self._run(step, part, pages, count, seconds) for count in counts]

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()

    def _run(
        self, step: ProbeStep, part: str, pages: int, clients: int, seconds: Seconds
    ) -> WithClients:
        folder = self._folder / f"{step.name}-{clients}"
        run = PgbenchRun(
            pgbench=self._site.client.pgbench(self._bench.plan.pgbench),
            address=self._site.address(),
            script=Script(f"{step.name}.sql", False, script_of(step.statement, pages)),
            scale=1,
            clients=clients,
            threads=min(clients, self._cores()),
            duration=seconds,
            seed=self._trial.seed,
            query_mode=QueryMode.SIMPLE,
            options=(),
            log_sampling_rate=None,
            folder=folder,
            cpus=self._trial.client_cpus,
            statement_latencies=False,
        )
        before = self._blocks()
        result = self._wait(run)
        if result.problems:
            raise WorkloadError(result.problems[0].detail, "see the server's log of this trial")
        hit, read = (after - one for after, one in zip(self._blocks(), before, strict=True))
        return WithClients(
            step=step.name,
            part=part,
            clients=clients,
            transactions=int(result.metrics["transactions"]),
            tps=result.metrics["tps"],
            latency=Seconds(clients / result.metrics["tps"]),
            hit=hit,
            read=read,
        )

    def _wait(self, run: PgbenchRun) -> PgbenchResult:
        process = self._process = PgbenchProcess(run, self._site.spawn)
        process.start()
        deadline = time.monotonic() + run.duration + GRACE
        while not process.ended_within(LOOK_EVERY) and time.monotonic() < deadline:
            self._bench.check_interruption()
        return process.wait(timeout=0.1)

    def _blocks(self) -> tuple[int, int]:
        with self._site.connect() as connection:
            return _blocks(connection)

    def _cores(self) -> int:
        """Of the load generator."""
        cores = self._site.client.cores
        if cores is not None:
            return max(1, int(cores))
        return len(affinity(os.getpid()) or ()) or os.cpu_count() or 1


def script_of(statement: str, pages: int) -> str:
    """pgbench's script: a random page of the first ones. Its variables are put into the text as
    they are, also between quotes, by the simple protocol."""
    return f"\\set page random(0, {pages - 1})\n{statement.replace(PLACE, ':page')};\n"


def clients_of(amount: Amount, cores: int) -> int:
    found = amount.value * cores if amount.of is Of.CORES else amount.value
    return max(1, round(found))


def _blocks(connection: psycopg.Connection[tuple[int, int]]) -> tuple[int, int]:
    if connection.info.server_version < AT_ONCE_SINCE:
        time.sleep(TOLD_AFTER)
    row = connection.execute(BLOCKS).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)
