"""What must be true of the data after a trial, whatever ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

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
