"""The command line of a pgbench run, decided by pgbench's version.

Everything is relative to the run's folder, which is pgbench's working folder: the script, and the
transaction log's files. Options: the manuals of pgbench 9.6 to 18, "Benchmarking Options".
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import TransactionLog
from teiten.kinds.pgbench.options import objection
from teiten.model.installation import Pgbench, Version
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds

LOG_PREFIX_OPTION_SINCE = Version(100000)
RANDOM_SEED_OPTION_SINCE = Version(110000)
WIDE_RANDOM_SEED_SINCE = Version(120000)

LOG_PREFIX = "transactions"
OLD_LOG_PREFIX = "pgbench_log"
"""The fixed name before --log-prefix existed."""


@dataclass(frozen=True)
class PgbenchRun:
    """One run of pgbench against one server."""

    pgbench: Pgbench
    address: Address
    script: Script
    scale: int
    clients: int
    threads: int
    duration: Seconds
    """pgbench counts whole seconds: a fraction is rounded up."""
    seed: int
    """--random-seed; pgbench before 11 has no seed, and draws its own."""
    query_mode: QueryMode
    options: tuple[str, ...]
    """Further options, verbatim (see ``check_options``)."""
    log_sampling_rate: float | None
    """The share of transactions in the per-transaction log: None for no log, 1.0 for every one."""
    folder: Path
    """For script, log and outputs; made where it is missing."""
    log_folder: Path | None = None
    """For the per-transaction log; ``folder`` where it is None, and with pgbench before 10."""
    cpus: tuple[int, ...] = ()
    """The processors that pgbench is pinned to; empty for all."""
    reconnect: bool = False
    """Each transaction has a connection of its own."""


def check_options(options: Sequence[str]) -> None:
    """Raise UsageError for options that a run may not have (``kinds.pgbench.options``)."""
    why = objection(options)
    if why is not None:
        raise UsageError(f"pgbench_options: {why.message}", why.hint)


def benchmark_arguments(run: PgbenchRun) -> tuple[str, ...]:
    """pgbench's arguments for a timed run. -r is for whoever reads its output among the evidence;
    it costs 3 ns per command, and the reports used it."""
    seconds = str(max(1, math.ceil(run.duration)))
    timed = ("-T", seconds, "-P", "1", "-r", *_seed(run), *_log(run))
    return _arguments(run, run.clients, run.threads, timed)


def trial_arguments(run: PgbenchRun) -> tuple[str, ...]:
    """pgbench's arguments for one single transaction of one client."""
    return _arguments(run, 1, 1, ("-t", "1"))


def _arguments(
    run: PgbenchRun, clients: int, threads: int, limit: tuple[str, ...]
) -> tuple[str, ...]:
    check_options(run.options)
    # of its own scripts pgbench counts the branches itself, and warns where -s is given
    own = ("-s", str(run.scale), "-f", script_file_name(run.script))
    script = ("-b", run.script.name) if run.script.builtin else own
    server = (*run.address.options, "-M", run.query_mode.value)
    connects = ("-C",) if run.reconnect else ()
    load = ("-c", str(clients), "-j", str(threads), *connects, *limit)
    return ("-n", *server, *script, *load, *run.options, run.address.database)


def shown(pgbench: Pgbench, arguments: Sequence[str]) -> str:
    """The command as a person can type it in the run's folder."""
    return shlex.join((str(pgbench.path), *arguments))


def transaction_log(run: PgbenchRun) -> TransactionLog | None:
    """The run's transaction log; None where it writes none."""
    if run.log_sampling_rate is None:
        return None
    chosen = run.pgbench.version >= LOG_PREFIX_OPTION_SINCE
    return TransactionLog(
        prefix=LOG_PREFIX if chosen else OLD_LOG_PREFIX,
        threads=min(run.threads, run.clients),
        folder=(run.log_folder if chosen else None) or run.folder,
        chosen=chosen,
    )


def script_file_name(script: Script) -> str:
    """A file name that keeps the script's name recognisable: without ``@``, which pgbench takes for
    a weight, and always ``.sql``, so that it is none of our own."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(script.name).name).lstrip(".-") or "script"
    return name if name.endswith(".sql") else f"{name}.sql"


def _seed(run: PgbenchRun) -> tuple[str, ...]:
    if run.pgbench.version < RANDOM_SEED_OPTION_SINCE:
        return ()
    bits = 64 if run.pgbench.version >= WIDE_RANDOM_SEED_SINCE else 32
    return (f"--random-seed={run.seed % 2**bits}",)


def _log(run: PgbenchRun) -> tuple[str, ...]:
    log, rate = transaction_log(run), run.log_sampling_rate
    if log is None or rate is None:
        return ()
    prefix = LOG_PREFIX if run.log_folder is None else str(run.log_folder / LOG_PREFIX)
    named = (f"--log-prefix={prefix}",) if log.chosen else ()
    sampled = (f"--sampling-rate={rate:.9f}",) if rate < 1 else ()
    return ("-l", *named, *sampled)
