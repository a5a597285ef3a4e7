"""PostgreSQL's own cumulative statistics, once per second.

How fresh they are: the WAL position is exact. Views of cumulative statistics lag: before 15 the
statistics collector's file may be 0.5 s old; from 15 a backend adds its numbers at most once per
second, when it goes idle, and at its end. Both ends of a window lag alike, so totals of a steady
load are right, and single seconds of the series are not exact.

The SQL of the probes: one file per view and range of versions, chosen by the file's name.

``pg_stat_bgwriter.16.sql`` is for 16 and later, until the next file of the same view
(``pg_stat_bgwriter.17.sql``) takes over. A view without a file for an old version does not exist
there.
"""

from __future__ import annotations

import math
import os
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

import psycopg

from teiten.connections import Conninfo, connect
from teiten.execute.probes.columns import POSTGRES
from teiten.model.installation import Version

APPLICATION_NAME = "teiten-sampler"
STATEMENT_TIMEOUT = 2000
"""Milliseconds."""
CONNECT_TIMEOUT = 5
"""Seconds."""
PLAIN_PLANS = "-c max_parallel_workers_per_gather=0"


class StatementError(Exception):
    """A statement failed, but the connection lives."""


class SamplingConnection:
    """Prepared statements by name. One thread uses it; ``abort`` may be called by another."""

    def __init__(self, conninfo: Conninfo, version: Version) -> None:
        """Raises psycopg.Error where the server cannot be reached."""
        options = f"-c statement_timeout={STATEMENT_TIMEOUT} {PLAIN_PLANS}"
        if version.major_number >= 11:
            options += " -c jit=off"
        self._connection = connect(
            conninfo,
            application_name=APPLICATION_NAME,
            connect_timeout=CONNECT_TIMEOUT,
            options=options,
        )
        self._libpq = self._connection.pgconn

    def prepare(self, name: str, statement: str) -> None:
        """Raises StatementError where the server does not know what the statement reads."""
        self._check(self._libpq.prepare(name.encode(), statement.encode()))

    def run(self, name: str) -> tuple[list[str], list[list[str | None]]]:
        """Column names and rows in text of a prepared statement.

        libpq is called directly: at ten statements a second psycopg's own conversion would be most
        of the sampler's cost. Raises StatementError, psycopg.OperationalError where the connection
        is lost.
        """
        result = self._libpq.exec_prepared(name.encode(), None)
        self._check(result)
        width = range(result.nfields)
        names = [(result.fname(column) or b"").decode() for column in width]
        rows = [
            [None if (value := result.get_value(row, column)) is None else value.decode()
             for column in width]
            for row in range(result.ntuples)
        ]  # fmt: skip
        return names, rows

    def abort(self) -> None:
        """End a statement of another thread that waits for a server which does not answer."""
        if sys.platform == "win32":
            return
        try:
            with socket.socket(fileno=os.dup(self._libpq.socket)) as connection:
                connection.shutdown(socket.SHUT_RDWR)
        except (OSError, psycopg.Error):
            return  # it was closed meanwhile

    def close(self) -> None:
        self._connection.close()

    def _check(self, result: psycopg.pq.abc.PGresult) -> None:
        good = {psycopg.pq.ExecStatus.TUPLES_OK, psycopg.pq.ExecStatus.COMMAND_OK}
        if result.status in good:
            return
        message = result.error_message.decode("utf-8", "replace").strip()
        first_line = message.partition("\n")[0] or "no answer"
        if self._libpq.status != psycopg.pq.ConnStatus.OK:
            raise psycopg.OperationalError(first_line)
        raise StatementError(first_line)


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


FOLDER = "sql"
WAIT_EVENTS = "wait_events"


def choose(names: Iterable[str], version: Version) -> dict[str, str]:
    """View to the name of its file for a server of ``version``. Pure.

    ``names``: file names ``VIEW.VERSION.sql``.
    """
    best: dict[str, tuple[Version, str]] = {}
    for name in names:
        view, _, rest = name.removesuffix(".sql").partition(".")
        since = Version.parse(rest)
        if since <= version and (view not in best or since > best[view][0]):
            best[view] = (since, name)
    return {view: name for view, (_, name) in sorted(best.items())}


@cache
def statements(version: Version) -> dict[str, str]:
    """View to its statement for a server of ``version``."""
    folder = resources.files(__package__) / FOLDER
    names = [entry.name for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return {
        view: (folder / name).read_text(encoding="utf-8")
        for view, name in choose(names, version).items()
    }
