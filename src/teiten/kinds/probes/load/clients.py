"""A probe's statement by several clients at the same time: pgbench, a load program of the site."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.client.contract import Program, Running
from teiten.execute.client.shell_commands import refuse_programs
from teiten.execute.sites.contract import Site
from teiten.host.system.affinity import affinity
from teiten.kinds.probes.measurement import WithClients
from teiten.kinds.probes.model import PLACE, Amount, Of, ProbeStep
from teiten.kinds.probes.plan import clients_seconds
from teiten.model.installation import Version
from teiten.model.plan import PlannedTrial
from teiten.model.units import Seconds

OUTPUT_FILE, ERRORS_FILE = "pgbench-output.txt", "pgbench-errors.txt"
TRANSACTIONS = re.compile(r"number of transactions actually processed: (\d+)")
TPS = re.compile(r"tps = ([0-9.]+) \((?:without|excluding)")
"""Without the time of connecting."""
SEED_SINCE = Version(110000)
STOP_SECONDS = 5.0
LOOK_EVERY = 0.2
GRACE = 60.0
"""Seconds that pgbench may take beyond the planned ones."""
BLOCKS = """
SELECT heap_blks_hit + coalesce(idx_blks_hit, 0), heap_blks_read + coalesce(idx_blks_read, 0)
FROM pg_statio_user_tables WHERE relname = %s
"""
"""Counts its table alone: each new connection reads some hundred pages of the catalog, which
outweigh the table's where transactions are slow."""
TOLD_AFTER = 1.2
"""Seconds until the statistics have what a backend did that has ended, before 15."""
AT_ONCE_SINCE = 150_000


class ManyClients:
    """Runs pgbench for each number of clients of a step."""

    def __init__(self, bench: Bench, trial: PlannedTrial, site: Site, folder: Path) -> None:
        self._bench, self._trial, self._site, self._folder = bench, trial, site, folder
        self._running: Running | None = None

    def run(self, step: ProbeStep, part: str, pages: int, share: float) -> list[WithClients]:
        """Raises WorkloadError where pgbench fails."""
        cores = self._cores()
        counts = sorted({clients_of(client, cores) for client in step.clients})
        seconds = clients_seconds(step, share)
        return [self._run(step, part, pages, count, seconds) for count in counts]

    def stop(self) -> None:
        if self._running is not None and not self._running.ended():
            self._running.end(STOP_SECONDS)

    def _run(
        self, step: ProbeStep, part: str, pages: int, clients: int, seconds: Seconds
    ) -> WithClients:
        program = self._program(step, pages, clients, seconds)
        before = self._blocks(step.table)
        transactions, tps = self._ended(program)
        hit, read = (
            after - earlier for after, earlier in zip(self._blocks(step.table), before, strict=True)
        )
        return WithClients(
            step=step.name,
            part=part,
            clients=clients,
            transactions=transactions,
            tps=tps,
            latency=Seconds(clients / tps),
            hit=hit,
            read=read,
        )

    def _program(self, step: ProbeStep, pages: int, clients: int, seconds: Seconds) -> Program:
        pgbench = self._site.client.pgbench(self._bench.plan.pgbench)
        address, script = self._site.address(), f"{step.name}.sql"
        text = script_of(step.statement, pages)
        refuse_programs(script, text)
        seeded = pgbench.version >= SEED_SINCE
        return Program(
            name="pgbench",
            path=pgbench.path,
            arguments=(
                *("-n", *address.options, "-M", "simple", "-f", script),
                *("-c", str(clients), "-j", str(min(clients, self._cores()))),
                *("-T", str(round(seconds))),
                *((f"--random-seed={self._trial.seed}",) if seeded else ()),
                address.database,
            ),
            folder=self._folder / f"{step.name}-{clients}",
            output=OUTPUT_FILE,
            errors=ERRORS_FILE,
            due=seconds,
            library_path=pgbench.library_path,
            environment=address.environment,
            password_line=address.password_line,
            files=((script, text),),
            cpus=self._trial.client_cpus,
        )

    def _ended(self, program: Program) -> tuple[int, float]:
        """Transactions, and how many in a second."""
        running = self._running = self._site.spawn(program)
        deadline = time.monotonic() + program.due + GRACE
        while not running.wait(LOOK_EVERY) and time.monotonic() < deadline:
            self._bench.check_interruption()
        self.stop()
        output, errors = (
            (program.folder / name).read_text(encoding="utf-8", errors="replace")
            for name in (program.output, program.errors)
        )
        count, tps = TRANSACTIONS.search(output), TPS.search(output)
        if running.returncode != 0 or count is None or tps is None or not float(tps[1]):
            lines = errors.strip().splitlines() or ["it said nothing"]
            raise WorkloadError(
                f"pgbench failed: {lines[-1]}", "see the server's log of this trial"
            )
        return int(count[1]), float(tps[1])

    def _blocks(self, table: str) -> tuple[int, int]:
        """Blocks of a table that were found in the buffers, and that were not."""
        with self._site.connect() as connection:
            if connection.info.server_version < AT_ONCE_SINCE:
                time.sleep(TOLD_AFTER)
            hit, read = connection.execute(BLOCKS, (table,)).fetchone() or (0, 0)
        return int(hit), int(read)

    def _cores(self) -> int:
        """Count the processors of the load generator."""
        cores = self._site.client.cores
        if cores is not None:
            return max(1, int(cores))
        return len(affinity(os.getpid()) or ()) or os.cpu_count() or 1


def script_of(statement: str, pages: int) -> str:
    """pgbench's script: a random page of the first ones. Its variables are put into the text as
    they are, also between quotes, by the simple protocol."""
    return f"\\set page random(0, {pages - 1})\n{statement.replace(PLACE, ':page')};\n"


def clients_of(amount: Amount, cores: int) -> int:
    clients = amount.value * cores if amount.of is Of.CORES else amount.value
    return max(1, round(clients))
