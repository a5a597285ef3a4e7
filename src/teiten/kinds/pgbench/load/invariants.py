"""Conditions that the data must meet after a trial, whatever ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.sites.contract import Site
from teiten.model.trial import Problem

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
