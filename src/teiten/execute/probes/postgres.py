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
from functools import cache
from importlib import resources

import numpy as np
import psycopg

from teiten.connections import Conninfo, connect
from teiten.errors import first_line
from teiten.execute.probes.columns import POSTGRES
from teiten.execute.probes.series import Rhythm, SeriesTable
from teiten.execute.texts import Texts, texts_of
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

    def run(self, name: str) -> tuple[list[str], list[Texts]]:
        """Column names and rows in text of a prepared statement.

        libpq is called directly: at ten statements a second psycopg's own conversion would be most
        of the sampler's cost. Raises StatementError, psycopg.OperationalError where the connection
        is lost.
        """
        result = self._libpq.exec_prepared(name.encode(), None)
        self._check(result)
        return texts_of(result)

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
        beginning = message.partition("\n")[0] or "no answer"
        if self._libpq.status != psycopg.pq.ConnStatus.OK:
            raise psycopg.OperationalError(beginning)
        raise StatementError(beginning)


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


class ViewReader:
    """Reads the views that the server has; one that fails is left out from then on."""

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

    def rows(self, view: str) -> tuple[list[str], list[Texts]]:
        """Column names and rows, none of a view that is left out. Raises psycopg.OperationalError
        where the connection is lost."""
        if view in self._views:
            try:
                return self._connection.run(view)
            except StatementError as error:
                self._views.remove(view)
                self.missing.append((view, str(error)))
        return [], []

    def counters(self) -> Counters:
        """Those of all views now. Raises as ``rows`` does."""
        counters: Counters = {}
        for view in tuple(self._views):
            if view != WAIT_EVENTS:
                counters.update(parse_counters(*self.rows(view)))
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


class PostgresProbe:
    """``run`` in a thread: connects, waits for ``go``, samples until it is stopped.

    A server that cannot be reached, or is lost, ends the sampling and is told by ``missing``.
    """

    def __init__(self, conninfo: Conninfo, version: Version, rhythm: Rhythm) -> None:
        self._conninfo, self._version, self._rhythm = conninfo, version, rhythm
        self._go = threading.Event()
        self._start = 0.0
        self._connection: SamplingConnection | None = None
        self._views: ViewReader | None = None
        self._missing: list[tuple[str, str]] = []
        self._last: Counters = {}
        self._last_at = 0.0
        """When they were read, seconds since the start."""
        self._table = SeriesTable("postgres")
        self._waits = WaitCounter()
        self.totals: Counters = {}
        """The window's metrics, after the thread has ended."""
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
            with self._open() as views:
                self.ready.set()
                self._go.wait()
                self._measure(views)
        except psycopg.Error as error:
            self._missing.append(("postgres", first_line(error)))
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

    def series(self) -> tuple[Series, ...]:
        waits = self._waits.series()
        counters = self._table.series()
        return tuple(series for series in (counters, waits) if series and series.seconds.size)

    def missing(self) -> tuple[tuple[str, str], ...]:
        return (*(self._views.missing if self._views else ()), *self._missing)

    @contextmanager
    def _open(self) -> Iterator[ViewReader]:
        """Connect, and run every statement once, so that the window starts with warm caches."""
        connection = SamplingConnection(self._conninfo, self._version)
        self._connection = connection
        try:
            self._views = ViewReader(connection, statements(self._version))
            self._views.rows(WAIT_EVENTS)
            self._views.counters()
            yield self._views
        finally:
            self._connection = None
            connection.close()

    def _measure(self, views: ViewReader) -> None:
        first = self._last = views.counters()
        self._last_at = self._seconds()
        self.begun.set()
        samples = 0
        for number in self._rhythm.ticks(self._start, parts=LOOKS_PER_SAMPLE):
            names, rows = views.rows(WAIT_EVENTS)
            if names:
                backends = [(wait or "", int(count or 0)) for wait, count in rows]
                self._waits.add(number * self._rhythm.interval / LOOKS_PER_SAMPLE, backends)
            if number // LOOKS_PER_SAMPLE > samples:
                samples = number // LOOKS_PER_SAMPLE
                self._add(views.counters())
        last = views.counters()
        self.totals = counter_totals(first, last)
        if self._rhythm.is_sample(self._seconds() - self._last_at):
            self._add(last)

    def _add(self, now: Counters) -> None:
        seconds = self._seconds()
        row = counter_rates(self._last, now, max(seconds - self._last_at, 1e-9))
        self._table.add(seconds, row)
        self._last, self._last_at = now, seconds

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
