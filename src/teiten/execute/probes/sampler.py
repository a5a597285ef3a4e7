"""The telemetry of a trial's measured window.

Two threads: one reads the operating system's counters, the other PostgreSQL's, so that a server
that hangs does not cost the machine's samples; a third reads those of the client, where that is
another host. Totals come from counters read at the exact start and end of the window, not from the
samples.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from teiten.connections import Conninfo
from teiten.execute.probes.os import OsReader, OsSnapshot, disk_rates, rates, totals
from teiten.execute.probes.os_linux import LinuxReader
from teiten.execute.probes.os_other import PsutilReader
from teiten.execute.probes.postgres import PostgresProbe
from teiten.execute.probes.series import Rhythm, SeriesTable
from teiten.host.cautions.machine import telemetry_missing
from teiten.model.facts import Caution
from teiten.model.installation import Version
from teiten.model.storage import BUSY, storage_metric
from teiten.model.trial import Series

CLIENT = "client"
"""The series of the client's host, and the beginning of its metrics' names: shares are of its own
processors."""
PGBENCH_SHARE = "pgbench_cpu_share"
CONNECT_PATIENCE = 6.0
"""Seconds that ``start`` waits for the sampling connection."""
ANSWER_PATIENCE = 3.0
"""Seconds that a statement may take before its server is given up."""


@dataclass(frozen=True)
class Sampling:
    """Series and totals that were sampled in a window."""

    series: tuple[Series, ...]
    metrics: dict[str, float]
    """Totals of the window, names of ``model.metrics``."""
    cautions: tuple[Caution, ...]
    """A ``telemetry-missing`` for each source that could not be read."""


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
        rhythm: Rhythm,
        totals: Callable[[OsSnapshot, OsSnapshot], dict[str, float]] = totals,
    ) -> None:
        self._reader, self._pgbench = reader, pgbench
        self._rhythm, self._totals = rhythm, totals
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
            for _ in self._rhythm.ticks(self._first.at):
                self._add(self._first, self._look())
        except Exception as error:  # a defect here must not end a trial
            self.failure = f"{type(error).__name__}: {error}"

    def finish(self) -> dict[str, float]:
        """The window ends now: its totals. The thread must have ended."""
        try:
            if self._first is None or self._last is None:
                return {}
            end = self._look()
            if self._rhythm.is_sample(end.at - self._last.at):
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
        return self._reader.read(self._rhythm.clock(), self._pgbench())

    def _add(self, first: OsSnapshot, snapshot: OsSnapshot) -> None:
        before = self._last or first
        for source, row in rates(before, snapshot).items():
            table = self._tables.setdefault(source, SeriesTable(source))
            table.add(snapshot.at - first.at, row)
        self._last = snapshot


class Sampler:
    """Samples from ``start`` to ``stop``; neither raises because of a server, nor hangs.

    ``pgbench_pid`` may be set while it samples: what that process used since its start counts from
    the first sample after; a process that was there before the window started should be set
    before ``start``.
    """

    def __init__(
        self,
        *,
        conninfo: Conninfo,
        version: Version,
        reader: OsReader,
        client: OsReader | None = None,
        pgbench_pid: int | None = None,
        interval: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        storages: Mapping[str, tuple[str, ...]] | None = None,
        apart: frozenset[str] = frozenset(),
    ) -> None:
        """``conninfo``: of a server. ``reader``: of the host where it runs. ``client``: of the host
        where pgbench runs, if that is another. ``interval``: seconds. ``storages``: the devices of
        each storage class, of which there are metrics too; ``apart``: devices whose transfers
        another device counts again."""
        self.pgbench_pid = pgbench_pid
        self._metrics: dict[str, float] | None = None
        self._sampling: Sampling | None = None
        self._stop = threading.Event()
        rhythm = Rhythm(interval, clock, self._stop)
        self._os = OsProbe(
            reader,
            lambda: self.pgbench_pid if client is None else None,
            rhythm,
            partial(window_totals, storages=storages or {}, apart=apart),
        )
        self._client = None if client is None else OsProbe(client, lambda: self.pgbench_pid, rhythm)
        self._postgres = PostgresProbe(conninfo, version, rhythm)
        runs = {"os": self._os.run, "postgres": self._postgres.run}
        if self._client is not None:
            runs["client"] = self._client.run
        self._threads = {
            name: threading.Thread(target=run, name=f"teiten-{name}", daemon=True)
            for name, run in runs.items()
        }

    def start(self) -> None:
        """Connect, then start the window. Takes about 50 ms; at most some seconds."""
        if self._client is not None:
            self._client.begin()
        self._threads["postgres"].start()
        self._postgres.ready.wait(CONNECT_PATIENCE)
        self._postgres.go(self._os.begin())
        self._postgres.begun.wait(ANSWER_PATIENCE)
        self._threads["os"].start()
        if self._client is not None:
            self._threads["client"].start()

    def end(self) -> dict[str, float]:
        """End the window: the machine's totals. Does not wait for the server's answer."""
        if self._metrics is None:
            self._stop.set()
            self._metrics = self._of_machine()
        return self._metrics

    def stop(self) -> Sampling:
        """End the window and return what was sampled; a second call returns the same."""
        if self._sampling is None:
            self._sampling = self._collect()
        return self._sampling

    def _of_machine(self) -> dict[str, float]:
        for name in ("os", "client"):
            if name in self._threads and self._threads[name].ident is not None:
                self._threads[name].join()
        server_totals = self._os.finish()
        if self._client is None:
            return server_totals
        server_totals.pop(PGBENCH_SHARE, None)  # none runs there
        return server_totals | client_metrics(self._client.finish())

    def _collect(self) -> Sampling:
        of_machine = self.end()
        late = self._end_postgres()
        metrics = {**of_machine, **({} if late else self._postgres.totals)}
        missing = [*self._os.missing(), *self._postgres.missing(), *late]
        series = [*self._os.series(), *self._postgres.series()]
        if self._client is not None:
            missing += [(f"{CLIENT} {name}", why) for name, why in self._client.missing()]
            of_client = self._client.series()
            series += [replace(own, source=CLIENT) for own in of_client if own.source == "os"]
        return Sampling(
            series=tuple(series),
            metrics=metrics,
            cautions=tuple(dict.fromkeys(telemetry_missing(*source) for source in missing)),
        )

    def _end_postgres(self) -> list[tuple[str, str]]:
        thread = self._threads["postgres"]
        if thread.ident is None:  # never started
            return []
        thread.join(ANSWER_PATIENCE)
        if not thread.is_alive():
            return []
        self._postgres.abort()
        thread.join(ANSWER_PATIENCE)
        return [("postgres", "the server did not answer")]


def client_metrics(totals: Mapping[str, float]) -> dict[str, float]:
    """The totals of the client's host that a trial has beside its server's."""
    return {
        f"{CLIENT}_{name}": value
        for name, value in totals.items()
        if name.startswith("cpu_") or name in {"context_switches", PGBENCH_SHARE}
    }


def stopped(samplers: Sequence[Sampler]) -> list[Sampling]:
    """All windows end at once: a server that answers late lengthens no other's."""
    for sampler in samplers:
        sampler.end()
    return [sampler.stop() for sampler in samplers]


def window_totals(
    before: OsSnapshot,
    after: OsSnapshot,
    *,
    storages: Mapping[str, tuple[str, ...]],
    apart: frozenset[str],
) -> dict[str, float]:
    """``totals`` of the devices that are not ``apart``, whose transfers another one counts again,
    and the metrics of each storage class: rates of its devices together, of the busiest its time.
    """
    whole = totals(_without(before, apart), _without(after, apart))
    seconds = max(after.at - before.at, 1e-9)
    for name, devices in storages.items():
        known = [device for device in devices if device in before.disks and device in after.disks]
        rows = [disk_rates(before.disks[device], after.disks[device], seconds) for device in known]
        for column in rows[0] if rows else ():
            values = [row[column] for row in rows]
            whole[storage_metric(name, column)] = max(values) if column == BUSY else sum(values)
    return whole


def _without(snapshot: OsSnapshot, apart: frozenset[str]) -> OsSnapshot:
    disks = {name: counters for name, counters in snapshot.disks.items() if name not in apart}
    return replace(snapshot, disks=disks)
