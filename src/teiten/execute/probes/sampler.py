"""The telemetry of a trial's measured window.

Two threads: one reads the operating system's counters, the other PostgreSQL's, so that a server
that hangs does not cost the machine's samples; a third reads those of the client, where that is
another host. Totals come from counters read at the exact start
and end of the window, not from the samples.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypedDict

from teiten.connections import Conninfo
from teiten.execute.probes.os import OsReader, OsSnapshot, disk_rates, totals
from teiten.execute.probes.os_probe import CLIENT, OsProbe, client_series, with_client
from teiten.execute.probes.postgres_probe import PostgresProbe
from teiten.host.cautions.machine import telemetry_missing
from teiten.model.facts import Caution
from teiten.model.installation import Version
from teiten.model.storage import BUSY, storage_metric
from teiten.model.trial import Series

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


class _Common(TypedDict):
    """Arguments that all probes of a window share."""

    interval: float
    clock: Callable[[], float]
    stop: threading.Event


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
        self._interval, self._clock = interval, clock
        self._metrics: dict[str, float] | None = None
        self._sampling: Sampling | None = None
        self._stop = threading.Event()
        common = _Common(interval=interval, clock=clock, stop=self._stop)
        self._os = OsProbe(
            reader,
            lambda: self.pgbench_pid if client is None else None,
            **common,
            totals=partial(window_totals, storages=storages or {}, apart=apart),
        )
        self._client = (
            None if client is None else OsProbe(client, lambda: self.pgbench_pid, **common)
        )
        self._postgres = PostgresProbe(conninfo, version, **common)
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
        return (
            server_totals
            if self._client is None
            else with_client(server_totals, self._client.finish())
        )

    def _collect(self) -> Sampling:
        of_machine = self.end()
        late = self._end_postgres()
        metrics = {**of_machine, **({} if late else self._postgres.totals())}
        missing = [*self._os.missing(), *self._postgres.missing(), *late]
        series = [*self._os.series(), *self._postgres.series()]
        if self._client is not None:
            missing += [(f"{CLIENT} {name}", why) for name, why in self._client.missing()]
            series += client_series(self._client.series())
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
        rates = [disk_rates(before.disks[device], after.disks[device], seconds) for device in known]
        for column in rates[0] if rates else ():
            values = [rate[column] for rate in rates]
            whole[storage_metric(name, column)] = max(values) if column == BUSY else sum(values)
    return whole


def _without(snapshot: OsSnapshot, apart: frozenset[str]) -> OsSnapshot:
    disks = {name: counters for name, counters in snapshot.disks.items() if name not in apart}
    return replace(snapshot, disks=disks)
