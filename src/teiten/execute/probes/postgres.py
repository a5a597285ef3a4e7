"""PostgreSQL's own cumulative statistics, once per second.

How fresh they are: the WAL position is exact. Views of cumulative statistics lag: before 15 the
statistics collector's file may be 0.5 s old; from 15 a backend adds its numbers at most once per
second, when it goes idle, and at its end. Both ends of a window lag alike, so totals of a steady
load are right, and single seconds of the series are not exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from teiten.execute.probes.columns import POSTGRES
from teiten.execute.probes.connection import SamplingConnection, StatementError

Counters = dict[str, float]

TOTALS = (
    "wal_bytes",
    "wal_records",
    "wal_full_page_images",
    "wal_syncs",
    "checkpoints",
    "blocks_hit",
    "blocks_read",
    "buffers_written_by_backends",
    "buffers_written_by_checkpointer",
    "buffers_written_by_bgwriter",
)
"""Counters whose growth in the window is a metric of the same name."""


class CounterProbe:
    """Reads all views that the server has; one that fails is left out from then on."""

    def __init__(self, connection: SamplingConnection, statements: Mapping[str, str]) -> None:
        self._connection = connection
        self._views: list[str] = []
        self.missing: list[tuple[str, str]] = []
        """View and the server's message."""
        for view, statement in statements.items():
            try:
                connection.prepare(view, statement)
                self._views.append(view)
            except StatementError as error:
                self.missing.append((view, str(error)))

    def read(self) -> Counters:
        """The counters now. Raises psycopg.OperationalError where the connection is lost."""
        counters: Counters = {}
        for view in tuple(self._views):
            try:
                names, rows = self._connection.run(view)
            except StatementError as error:
                self._views.remove(view)
                self.missing.append((view, str(error)))
                continue
            counters.update(parse_counters(names, rows))
        return counters


def parse_counters(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Counters:
    """The one row of a view's statement; NULL (no statistics yet) is left out."""
    if not rows:
        return {}
    return {
        name: float(value) for name, value in zip(names, rows[0], strict=True) if value is not None
    }


def counter_rates(before: Counters, after: Counters, seconds: float) -> dict[str, float]:
    """The columns of series ``postgres``; NaN where a counter is missing or was reset."""
    row: dict[str, float] = {}
    for column in POSTGRES:
        name = column.counter
        if name is None or name not in after:
            continue
        grown = after[name] - before.get(name, math.nan)
        if grown < 0:
            grown = math.nan
        row[column.name] = grown / seconds if column.is_rate else grown
    return row


def counter_totals(before: Counters, after: Counters) -> dict[str, float]:
    """The metrics of a window; a counter that is missing or was reset gives none."""
    return {
        name: after[name] - before[name]
        for name in TOTALS
        if name in before and name in after and after[name] >= before[name]
    }
