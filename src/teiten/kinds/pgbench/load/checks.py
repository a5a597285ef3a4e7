"""Whether a trial of pgbench counts, and whether it changed data that it was declared to read.

Conditions that the data must meet after a trial, whatever ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg

from teiten.errors import ServerError
from teiten.execute.sites.contract import Site
from teiten.kinds.pgbench.model import tries_again
from teiten.model.trial import Problem, Series

CLIENT_BOUND = 0.95
"""A pgbench that used this share of its threads' time had no time left to load the server."""


CHANGES_BY_TRANSACTION = 0.01
_RETRIED = re.compile(r"ERROR:  (?:could not serialize access due to|deadlock detected)")


def load_problems(
    metrics: Mapping[str, float], cpu_seconds: float, threads: int
) -> tuple[Problem, ...]:
    """Transactions that failed, and a load generator that was the bottleneck (METHOD.md, A trial,
    7). ``cpu_seconds``: of pgbench."""
    return (*_failed_transactions(metrics), *_client_bound(metrics, cpu_seconds, threads))


def without_retried(seen: Iterable[Problem], options: Sequence[str]) -> tuple[Problem, ...]:
    """Keep those of the problems in servers' logs that hold.

    Where pgbench was told to try again, what it tried again is counted among the trial's numbers,
    and what failed at last is told by pgbench.
    """
    if not tries_again(options):
        return tuple(seen)
    return tuple(one for one in seen if not _RETRIED.search(one.detail))


def changes_rows(series: Iterable[Series], transactions: float) -> bool:
    """Whether a trial changed rows, on all its nodes, at least with every hundredth transaction.

    Fewer are the servers' own: their catalogues' statistics.
    """
    changed = 0.0
    for one in series:
        of_server = one.source.rpartition(":")[2] == "postgres"  # of a further node ``node-2:…``
        rates = one.columns.get("rows_changed_per_second") if of_server else None
        if rates is not None:
            changed += float(np.nansum(rates * np.diff(one.seconds, prepend=0.0)))
    return changed > CHANGES_BY_TRANSACTION * transactions


def _failed_transactions(metrics: Mapping[str, float]) -> tuple[Problem, ...]:
    failed = metrics.get("failed_transactions", 0.0)
    return (Problem("failed-transactions", f"{failed:.0f}"),) if failed > 0 else ()


def _client_bound(
    metrics: Mapping[str, float], cpu_seconds: float, threads: int
) -> tuple[Problem, ...]:
    seconds = metrics.get("measured_seconds", 0.0)
    if seconds <= 0:
        return ()
    share = cpu_seconds / (seconds * threads)
    return () if share < CLIENT_BOUND else (Problem("client-bound", f"{share:.0%}"),)


_BALANCES = """
SELECT (SELECT coalesce(sum(abalance::bigint), 0) FROM pgbench_accounts),
       (SELECT coalesce(sum(tbalance::bigint), 0) FROM pgbench_tellers),
       (SELECT coalesce(sum(bbalance::bigint), 0) FROM pgbench_branches),
       (SELECT coalesce(sum(delta::bigint), 0) FROM pgbench_history)
"""


def tpcb_balances(connection: psycopg.Connection[Any]) -> Problem | None:
    """The sums of the three balances and of the history's deltas agree (METHOD.md, A trial, 7).

    Holds for pgbench's tpcb-like on data that pgbench -i made; one statement, so one snapshot.
    """
    row = connection.execute(_BALANCES).fetchone()
    assert row is not None
    names = ("accounts", "tellers", "branches", "history")
    if len(set(row)) == 1:
        return None
    sums = ", ".join(f"{name} {value}" for name, value in zip(names, row, strict=True))
    return Problem("invariant", f"tpcb-balances: the sums differ: {sums}")


INVARIANTS: Mapping[str, Callable[[psycopg.Connection[Any]], Problem | None]] = {
    "tpcb-balances": tpcb_balances,
}
"""By the name that a study's workload gives."""


def broken_invariants(site: Site, names: Sequence[str]) -> tuple[Problem, ...]:
    """Those of a site's data that do not hold, or cannot be asked."""
    if not names:
        return ()
    try:
        with site.connect() as connection:
            found = [INVARIANTS[name](connection) for name in names]
    except psycopg.Error as error:
        return (Problem("invariant", site.failure(error).message),)
    except ServerError as error:
        return (Problem("invariant", str(error)),)
    return tuple(problem for problem in found if problem is not None)
