"""Samples PostgreSQL over a connection of its own: counters at 1 Hz, wait events at 10 Hz."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import psycopg

from teiten.connections import Conninfo
from teiten.execute.probes.postgres import (
    WAIT_EVENTS,
    CounterProbe,
    Counters,
    SamplingConnection,
    StatementError,
    counter_rates,
    counter_totals,
    statements,
)
from teiten.execute.probes.series import SHORTEST_SAMPLE, SeriesTable, ticks
from teiten.model.installation import Version
from teiten.model.trial import Series

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

    def __init__(
        self,
        conninfo: Conninfo,
        version: Version,
        *,
        interval: float,
        clock: Callable[[], float],
        stop: threading.Event,
    ) -> None:
        self._conninfo = conninfo
        self._version = version
        self._interval = interval
        self._clock = clock
        self._stop = stop
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
        interval = self._interval / LOOKS_PER_SAMPLE
        for number in ticks(self._start, interval, self._clock, self._stop.wait):
            self._look(number * interval)
            if number // LOOKS_PER_SAMPLE > window.samples:
                window.samples = number // LOOKS_PER_SAMPLE
                self._add(counters.read(), window)
        last = counters.read()
        self._totals = counter_totals(window.first, last)
        if self._seconds() - window.last_at >= SHORTEST_SAMPLE * self._interval:
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
        return self._clock() - self._start


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
