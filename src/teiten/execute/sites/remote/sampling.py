"""The telemetry of two hosts: the server's by its agent and by SQL, the client's by its agent."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

from teiten.execute.probes.os import OsSnapshot
from teiten.execute.probes.os_probe import OsProbe
from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.probes.procfs import DiskCounters
from teiten.execute.probes.sampler import Sampler, Sampling
from teiten.execute.sites.remote.hosts import Host
from teiten.host.cautions.machine import telemetry_missing
from teiten.model.installation import Version
from teiten.model.trial import Series

CLIENT = "client"
"""The series of the client host, and the beginning of its metrics' names."""
PGBENCH_SHARE = "pgbench_cpu_share"


class RemoteReader:
    """Reads the counters of a host; its clock is laid on ours at the first look."""

    def __init__(self, host: Host, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> None:
        """``postmasters``: of our servers that run on the host."""
        self._host = host
        opened = host.call(
            "machine.open_reader",
            postmasters=list(postmasters),
            devices=list(devices),
            teiten=os.getpid() if host.is_here else None,
        )
        self._number: int = opened["reader"]
        self._missing = _pairs(opened["missing"])
        self._shift: float | None = None

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        return self._missing

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Raises HostLostError."""
        found = self._host.call("machine.read", reader=self._number, pgbench=pgbench)
        if self._shift is None:
            self._shift = at - found["at"]
        self._missing = _pairs(found.pop("missing"))
        return _snapshot(found, found["at"] + self._shift)

    def close(self) -> None:
        if not self._host.link.lost:
            self._host.call("machine.close_reader", reader=self._number)


class RemoteSampler(Sampler):
    """As on this machine; where the client is another host, its counters in a third thread."""

    def __init__(
        self,
        *,
        conninfo: str,
        version: Version,
        server: RemoteReader,
        client: RemoteReader | None,
    ) -> None:
        """``client``: None where pgbench runs on the server's host."""
        self._apart = client is not None
        super().__init__(
            conninfo=conninfo, version=version, postmasters=(), devices=(), reader=server
        )
        self._client: OsProbe | None = None
        self._thread: threading.Thread | None = None
        if client is not None:
            self._client = OsProbe(
                client,
                lambda: self.pgbench_pid,
                interval=self._interval,
                clock=self._clock,
                stop=self._stop,
            )
            self._thread = threading.Thread(target=self._client.run, daemon=True)

    def start(self) -> None:
        if self._client is not None and self._thread is not None:
            self._client.begin()
        super().start()
        if self._thread is not None:
            self._thread.start()

    def _of_machine(self) -> dict[str, float]:
        found = super()._of_machine()
        if self._client is None or self._thread is None:
            return found
        if self._thread.ident is not None:
            self._thread.join()
        found.pop(PGBENCH_SHARE, None)  # of the db host, where none runs
        return {**found, **client_metrics(self._client.finish())}

    def _collect(self) -> Sampling:
        sampling = super()._collect()
        if self._client is None:
            return sampling
        missing = (
            telemetry_missing(f"{CLIENT} {name}", why) for name, why in self._client.missing()
        )
        return replace(
            sampling,
            series=(*sampling.series, *_client_series(self._client.series())),
            cautions=tuple(dict.fromkeys((*sampling.cautions, *missing))),
        )

    def _pgbench_beside_server(self) -> int | None:
        return None if self._apart else super()._pgbench_beside_server()


def client_metrics(totals: dict[str, float]) -> dict[str, float]:
    """Of the client host; they are marked as its own, because shares are of its processors."""
    return {f"{CLIENT}_{name}": value for name, value in totals.items() if _is_told(name)}


def _is_told(name: str) -> bool:
    return name.startswith("cpu_") or name in {"context_switches", PGBENCH_SHARE}


def _client_series(series: tuple[Series, ...]) -> tuple[Series, ...]:
    return tuple(replace(one, source=CLIENT) for one in series if one.source == "os")


def _pairs(found: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((source, reason) for source, reason in found)


def _snapshot(found: dict[str, Any], at: float) -> OsSnapshot:
    network = found["network"]
    return OsSnapshot(
        at=at,
        cpu=tuple(found["cpu"]) if found["cpu"] else None,
        cores={int(number): tuple(ticks) for number, ticks in found["cores"].items()},
        ticks_per_second=found["ticks_per_second"],
        online=found["online"],
        context_switches=found["context_switches"],
        run_queue=found["run_queue"],
        memory_available=found["memory_available"],
        page_cache=found["page_cache"],
        disks={name: DiskCounters(**one) for name, one in found["disks"].items()},
        network=(network[0], network[1]) if network else None,
        pressure=found["pressure"],
        groups={ProcessGroup(name): seconds for name, seconds in found["groups"].items()},
    )
