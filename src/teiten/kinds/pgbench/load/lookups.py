"""How many rows lookups by an index fetched from the table itself: of an index-only scan that is
spared the heap, none."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import psycopg

from teiten.kinds.pgbench.metrics import HEAP_FETCHES, INDEX_LOOKUPS

COUNTERS = """
SELECT coalesce(sum(idx_scan), 0)::float8, coalesce(sum(idx_tup_fetch), 0)::float8
FROM pg_stat_user_indexes
"""
"""idx_tup_fetch counts rows that were fetched from the heap, by index-only scans too."""
LOOK_EVERY = 0.6
"""Seconds. Before version 15 a process of its own gathers what backends report as they end; what it
tells may be half a second old."""
LOOKS = 10


@dataclass(frozen=True)
class Lookups:
    """Counters of all indexes of the tables, at one time."""

    scans: float
    heap_fetches: float

    def since(self, before: Lookups) -> dict[str, float]:
        """Compute the metrics of the time since ``before``; none without a lookup."""
        scans = self.scans - before.scans
        if scans <= 0:
            return {}
        fetched = self.heap_fetches - before.heap_fetches
        return {INDEX_LOOKUPS.name: scans, HEAP_FETCHES.name: fetched / scans}


def read(connection: psycopg.Connection[Any]) -> Lookups:
    scans, fetches = connection.execute(COUNTERS).fetchone() or (0.0, 0.0)
    return Lookups(scans, fetches)


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
