"""The common part of trials of pgbench's scripts, whoever loads their servers: idle connections,
counted lookups, evidence, whether a trial counts, and whether it changed data that it was declared
to read."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import psycopg

from teiten.errors import ServerError
from teiten.execute.bench import Bench
from teiten.execute.load import PlainLoad
from teiten.execute.sites.contract import Site
from teiten.host.cautions.machine import data_changed
from teiten.kinds.pgbench.metrics import HEAP_FETCHES, INDEX_LOOKUPS
from teiten.kinds.pgbench.model import clients_of, pgbench_of, tries_again
from teiten.model.facts import Caution
from teiten.model.metrics import TRANSACTIONS
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Problem, Series

WARM_UP_SEED = 20_000_003
"""Added to a trial's seed for the warm-up, so that it does not touch the same rows first."""
COUNTERS = """
SELECT coalesce(sum(idx_scan), 0)::float8, coalesce(sum(idx_tup_fetch), 0)::float8
FROM pg_stat_user_indexes
"""
"""idx_tup_fetch counts rows that were fetched from the heap, by index-only scans too."""
LOOK_EVERY = 0.6
"""Seconds. What backends report as they end may be half a second old before version 15."""
LOOKS = 10


Lookups = tuple[float, float]
"""Scans of all indexes of the tables up to some time, and rows that they fetched from the heap."""


def lookups_since(before: Lookups, now: Lookups) -> dict[str, float]:
    """Compute the metrics of the time between; none without a lookup."""
    scans, fetched = (count - earlier for count, earlier in zip(now, before, strict=True))
    return {INDEX_LOOKUPS.name: scans, HEAP_FETCHES.name: fetched / scans} if scans > 0 else {}


def read(connection: psycopg.Connection[Any]) -> Lookups:
    scans, fetched = connection.execute(COUNTERS).fetchone() or (0.0, 0.0)
    return scans, fetched


def read_settled(connection: psycopg.Connection[Any]) -> Lookups:
    """The counters once they change no more; their load has ended."""
    last = read(connection)
    for _ in range(LOOKS):
        time.sleep(LOOK_EVERY)
        now = read(connection)
        if now == last:
            break
        last = now
    return last


class PgbenchTrial(PlainLoad):
    """The load of one trial, but for the load itself."""

    files: ClassVar[tuple[tuple[str, str], ...]]
    """Kinds and names of the files that are evidence, where they are there."""

    def __init__(self, bench: Bench, trial: PlannedTrial, site: Site, folder: Path) -> None:
        super().__init__(trial, site, folder)
        self.bench = bench
        self.workload = bench.plan.study.workload(trial.cell.workload)
        self.options = pgbench_of(self.workload)
        self.clients = clients_of(trial)
        self._idle: list[psycopg.Connection[Any]] = []
        self._lookups_before: Lookups | None = None

    def prepare(self) -> None:
        """Open idle connections, and note the server's lookups before any of the load, where they
        are counted. Errors are those of ``Site.connect``."""
        while len(self._idle) < self.clients.idle:
            self._idle.append(self.site.connect())
        if self.options.index_lookups and self._lookups_before is None:
            with self.site.connect() as connection:
                self._lookups_before = read(connection)

    def finish(self, cautions: Iterable[Caution]) -> None:
        """Add the lookups to what was gathered, and record ``cautions``; and one where data changed
        that were declared to be read."""
        gathered, record = self.gathered, self.bench.record
        if self._lookups_before is not None:
            with self.site.connect() as connection:
                now = read_settled(connection)
            gathered.metrics |= lookups_since(self._lookups_before, now)
        for caution in cautions:
            record.record_caution(caution)
        transactions = gathered.metrics.get(TRANSACTIONS.name, 0.0)
        if not self.workload.changes_data and changes_rows(gathered.series, transactions):
            record.record_caution(data_changed(self.workload.name))

    def abandon(self) -> None:
        """Close idle connections, where the server has not, and keep what is evidence."""
        while self._idle:
            with suppress(psycopg.Error):
                self._idle.pop().close()
        self.gathered.evidence = tuple(
            (kind, name) for kind, name in self.files if (self.folder / name).exists()
        )


CLIENT_BOUND = 0.95
"""A generator that used this share of its threads' time had no time left to load the server."""


CHANGES_BY_TRANSACTION = 0.01
_RETRIED = re.compile(r"ERROR:  (?:could not serialize access due to|deadlock detected)")


def load_problems(
    failed: float, cpu_seconds: float, seconds: float, threads: int
) -> tuple[Problem, ...]:
    """Transactions that failed, and a load generator that was the bottleneck (METHOD.md, A trial,
    7). ``cpu_seconds``: of the generator, in so many seconds and threads."""
    problems = [Problem("failed-transactions", f"{failed:.0f}")] if failed > 0 else []
    share = cpu_seconds / (seconds * threads) if seconds > 0 else 0.0
    if share >= CLIENT_BOUND:
        problems.append(Problem("client-bound", f"{share:.0%}"))
    return tuple(problems)


def without_retried(seen: Iterable[Problem], options: Sequence[str]) -> tuple[Problem, ...]:
    """Keep those of the problems in servers' logs that hold: what pgbench was told to try again is
    counted, and what failed at last is told by pgbench."""
    if not tries_again(options):
        return tuple(seen)
    return tuple(problem for problem in seen if not _RETRIED.search(problem.detail))


def changes_rows(series: Iterable[Series], transactions: float) -> bool:
    """Whether at least every hundredth transaction changed a row; fewer are the servers' own."""
    changed = 0.0
    for samples in series:
        of_server = samples.source.rpartition(":")[2] == "postgres"  # of any node: ``node-2:…``
        rates = samples.columns.get("rows_changed_per_second") if of_server else None
        if rates is not None:
            changed += float(np.nansum(rates * np.diff(samples.seconds, prepend=0.0)))
    return changed > CHANGES_BY_TRANSACTION * transactions


_BALANCES = """
SELECT (SELECT coalesce(sum(abalance::bigint), 0) FROM pgbench_accounts),
       (SELECT coalesce(sum(tbalance::bigint), 0) FROM pgbench_tellers),
       (SELECT coalesce(sum(bbalance::bigint), 0) FROM pgbench_branches),
       (SELECT coalesce(sum(delta::bigint), 0) FROM pgbench_history)
"""


def tpcb_balances(connection: psycopg.Connection[Any]) -> Problem | None:
    """The sums of the three balances and of the history's deltas agree (METHOD.md, A trial, 7), of
    pgbench's tpcb-like on data that pgbench -i made; one statement, so one snapshot."""
    row = connection.execute(_BALANCES).fetchone()
    assert row is not None
    names = ("accounts", "tellers", "branches", "history")
    if len(set(row)) == 1:
        return None
    sums = ", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True))
    return Problem("invariant", f"tpcb-balances: the sums differ: {sums}")


INVARIANTS = {"tpcb-balances": tpcb_balances}
"""By the name that a study's workload gives."""


def broken_invariants(site: Site, names: Sequence[str]) -> tuple[Problem, ...]:
    """Those of a site's data that do not hold, or cannot be asked."""
    if not names:
        return ()
    try:
        with site.connect() as connection:
            checked = [INVARIANTS[name](connection) for name in names]
    except psycopg.Error as error:
        return (Problem("invariant", site.failure(error).message),)
    except ServerError as error:
        return (Problem("invariant", str(error)),)
    return tuple(problem for problem in checked if problem is not None)
