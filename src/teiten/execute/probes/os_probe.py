"""Samples the operating system: one row per tick, and the totals of the whole window.

The counters of the client's host, where servers run on another. They are marked as its own,
because shares are of its processors. Pure.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from teiten.execute.probes.os import OsReader, OsSnapshot, rates, totals
from teiten.execute.probes.os_linux import LinuxReader
from teiten.execute.probes.os_other import PsutilReader
from teiten.execute.probes.series import SHORTEST_SAMPLE, SeriesTable, ticks
from teiten.model.trial import Series


def open_reader(postmasters: tuple[int, ...], devices: tuple[str, ...]) -> OsReader:
    """The reader of this system."""
    if sys.platform == "linux":
        return LinuxReader(postmasters, devices)
    return PsutilReader(postmasters, devices)


class OsProbe:
    """``begin``, then ``run`` in a thread until it is stopped, then ``finish``."""

    def __init__(
        self,
        reader: OsReader,
        pgbench: Callable[[], int | None],
        *,
        interval: float,
        clock: Callable[[], float],
        stop: threading.Event,
        totals: Callable[[OsSnapshot, OsSnapshot], dict[str, float]] = totals,
    ) -> None:
        self._reader = reader
        self._pgbench = pgbench
        self._interval = interval
        self._clock = clock
        self._stop = stop
        self._totals = totals
        self._tables: dict[str, SeriesTable] = {}
        self._first: OsSnapshot | None = None
        self._last: OsSnapshot | None = None
        self.failure: str | None = None

    def begin(self) -> float:
        """The window starts now; returns its start in seconds of the clock."""
        self._first = self._last = self._look()
        return self._first.at

    def run(self) -> None:
        """Sample until stopped; whatever goes wrong ends the sampling, never the program."""
        if self._first is None:
            return
        try:
            for _ in ticks(self._first.at, self._interval, self._clock, self._stop.wait):
                self._add(self._first, self._look())
        except Exception as error:  # a defect here must not end a trial
            self.failure = f"{type(error).__name__}: {error}"

    def finish(self) -> dict[str, float]:
        """The window ends now: its totals. The thread must have ended."""
        try:
            if self._first is None or self._last is None:
                return {}
            end = self._look()
            if end.at - self._last.at >= SHORTEST_SAMPLE * self._interval:
                self._add(self._first, end)
            return self._totals(self._first, end)
        finally:
            self._reader.close()

    def series(self) -> tuple[Series, ...]:
        return tuple(table.series() for table in self._tables.values())

    def missing(self) -> tuple[tuple[str, str], ...]:
        own = (("os", self.failure),) if self.failure else ()
        return (*self._reader.missing, *own)

    def _look(self) -> OsSnapshot:
        return self._reader.read(self._clock(), self._pgbench())

    def _add(self, first: OsSnapshot, snapshot: OsSnapshot) -> None:
        before = self._last or first
        for source, row in rates(before, snapshot).items():
            table = self._tables.setdefault(source, SeriesTable(source))
            table.add(snapshot.at - first.at, row)
        self._last = snapshot


CLIENT = "client"
"""The series of the client's host, and the beginning of its metrics' names."""
PGBENCH_SHARE = "pgbench_cpu_share"


def with_client(server: Mapping[str, float], client: Mapping[str, float]) -> dict[str, float]:
    """The totals of both hosts. No pgbench runs on the server's."""
    own = {name: value for name, value in server.items() if name != PGBENCH_SHARE}
    return {**own, **client_metrics(client)}


def client_metrics(totals: Mapping[str, float]) -> dict[str, float]:
    return {f"{CLIENT}_{name}": value for name, value in totals.items() if _is_told(name)}


def _is_told(name: str) -> bool:
    return name.startswith("cpu_") or name in {"context_switches", PGBENCH_SHARE}


def client_series(series: Sequence[Series]) -> Iterator[Series]:
    return (replace(table, source=CLIENT) for table in series if table.source == "os")
