"""PostgreSQL's own cumulative statistics once per second, and its wait events ten times, over a
connection of the sampler's own.

How fresh they are: the WAL position is exact. Views of cumulative statistics lag: before 15 the
statistics collector's file may be 0.5 s old; from 15 a backend adds its numbers at most once per
second, when it goes idle, and at its end. Both ends of a window lag alike, so totals of a steady
load are right, and single seconds of the series are not exact.

The SQL is one file per view and range of versions, chosen by the file's name:
``pg_stat_bgwriter.16.sql`` is for 16 and later, until the next file of the same view
(``pg_stat_bgwriter.17.sql``) takes over. A view without a file for an old version does not exist
there.
"""

from __future__ import annotations

import math
import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import psycopg

from teiten.connections import Conninfo, connect
from teiten.execute.probes.columns import POSTGRES
from teiten.execute.probes.series import Rhythm, SeriesTable
from teiten.model.installation import Version
from teiten.model.trial import Series

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


LOOKS_PER_SAMPLE = 10


@dataclass
class _Window:
    first: Counters
    last: Counters
    last_at: float
    """When ``last`` was read, seconds since the start."""
    samples: int = 0
    """Intervals that have passed."""


class PostgresProbe:
    """``run`` in a thread: connects, waits for ``go``, samples until it is stopped.

    A server that cannot be reached, or is lost, ends the sampling and is told by ``missing``.
    """

    def __init__(self, conninfo: Conninfo, version: Version, rhythm: Rhythm) -> None:
        self._conninfo, self._version, self._rhythm = conninfo, version, rhythm
        self._go = threading.Event()
        self._start = 0.0
        self._connection: SamplingConnection | None = None
        self._counters: CounterProbe | None = None
        self._missing: list[tuple[str, str]] = []
        self._watches_waits = True
        self._table = SeriesTable("postgres")
        self._waits = WaitCounter()
        self._totals: Counters = {}
        self.ready = threading.Event()
        """Connected and warm (or failed)."""
        self.begun = threading.Event()
        """The first counters were read (or failed)."""

    def go(self, start: float) -> None:
        """The window started at ``start`` (seconds of the clock): read the first counters."""
        self._start = start
        self._go.set()

    def run(self) -> None:
        """Never raises."""
        try:
            with self._open() as counters:
                self.ready.set()
                self._go.wait()
                self._measure(counters)
        except psycopg.Error as error:
            self._missing.append(("postgres", str(error).strip().partition("\n")[0]))
        except Exception as error:  # a defect here must not end a trial
            self._missing.append(("postgres", f"{type(error).__name__}: {error}"))
        finally:
            self.ready.set()
            self.begun.set()

    def abort(self) -> None:
        """Leave a server that does not answer; the thread then ends by itself."""
        self._go.set()
        if self._connection is not None:
            self._connection.abort()

    def totals(self) -> dict[str, float]:
        """The window's metrics, after the thread has ended."""
        return self._totals

    def series(self) -> tuple[Series, ...]:
        waits = self._waits.series()
        counters = self._table.series()
        return tuple(series for series in (counters, waits) if series and series.seconds.size)

    def missing(self) -> tuple[tuple[str, str], ...]:
        return (*(self._counters.missing if self._counters else ()), *self._missing)

    @contextmanager
    def _open(self) -> Iterator[CounterProbe]:
        """Connect, and run every statement once, so that the window starts with warm caches."""
        connection = SamplingConnection(self._conninfo, self._version)
        self._connection = connection
        try:
            by_view = dict(statements(self._version))
            self._prepare_waits(connection, by_view.pop(WAIT_EVENTS))
            self._counters = CounterProbe(connection, by_view)
            self._counters.read()
            yield self._counters
        finally:
            self._connection = None
            connection.close()

    def _prepare_waits(self, connection: SamplingConnection, statement: str) -> None:
        try:
            connection.prepare(WAIT_EVENTS, statement)
            connection.run(WAIT_EVENTS)
        except StatementError as error:
            self._leave_waits(error)

    def _leave_waits(self, error: StatementError) -> None:
        self._watches_waits = False
        self._missing.append((WAIT_EVENTS, str(error)))

    def _measure(self, counters: CounterProbe) -> None:
        first = counters.read()
        window = _Window(first=first, last=first, last_at=self._seconds())
        self.begun.set()
        for number in self._rhythm.ticks(self._start, parts=LOOKS_PER_SAMPLE):
            self._look(number * self._rhythm.interval / LOOKS_PER_SAMPLE)
            if number // LOOKS_PER_SAMPLE > window.samples:
                window.samples = number // LOOKS_PER_SAMPLE
                self._add(counters.read(), window)
        last = counters.read()
        self._totals = counter_totals(window.first, last)
        if self._rhythm.is_sample(self._seconds() - window.last_at):
            self._add(last, window)

    def _look(self, seconds: float) -> None:
        if not self._watches_waits or self._connection is None:
            return
        try:
            _, rows = self._connection.run(WAIT_EVENTS)
        except StatementError as error:
            self._leave_waits(error)
            return
        backends = [(wait or "", int(count or 0)) for wait, count in rows]
        self._waits.add(seconds, backends)

    def _add(self, now: Counters, window: _Window) -> None:
        seconds = self._seconds()
        row = counter_rates(window.last, now, max(seconds - window.last_at, 1e-9))
        self._table.add(seconds, row)
        window.last, window.last_at = now, seconds

    def _seconds(self) -> float:
        return self._rhythm.clock() - self._start


FEWEST_LOOKS = 3
"""A second with fewer looks (the window's last one, a stalled server) says nothing."""


class WaitCounter:
    """Collects looks, and makes the series of them. Pure."""

    def __init__(self) -> None:
        self._looks: Counter[int] = Counter()
        self._seen: dict[str, Counter[int]] = {}

    def add(self, seconds: float, backends: Iterable[tuple[str, int]]) -> None:
        """One look: its planned time in seconds since the start, wait and number of backends."""
        second = max(1, math.ceil(seconds - 1e-6))
        self._looks[second] += 1
        for wait, count in backends:
            self._seen.setdefault(wait, Counter())[second] += count

    def series(self) -> Series | None:
        """None where there was no second with looks enough."""
        if not self._looks:
            return None
        last = max(self._looks)
        if self._looks[last] < FEWEST_LOOKS:
            last -= 1
        if last < 1:
            return None
        looks = np.array([self._looks[second] for second in range(1, last + 1)], dtype=np.float64)
        looks[looks < FEWEST_LOOKS] = np.nan
        columns = {
            wait: np.array([counts[second] for second in range(1, last + 1)]) / looks
            for wait, counts in sorted(self._seen.items())
        }
        return Series("waits", np.arange(1.0, last + 1.0), columns)
