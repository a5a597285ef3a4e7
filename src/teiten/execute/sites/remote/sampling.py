"""The counters of another host, read by its agent."""

from __future__ import annotations

import os
from typing import Any

from teiten.execute.probes.os import OsSnapshot
from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.probes.procfs import DiskCounters
from teiten.execute.sites.remote.hosts import Host


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
        counters = self._host.call("machine.read", reader=self._number, pgbench=pgbench)
        if self._shift is None:
            self._shift = at - counters["at"]
        self._missing = _pairs(counters.pop("missing"))
        return _snapshot(counters, counters["at"] + self._shift)

    def close(self) -> None:
        if not self._host.link.lost:
            self._host.call("machine.close_reader", reader=self._number)


def _pairs(pairs: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((source, reason) for source, reason in pairs)


def _snapshot(counters: dict[str, Any], at: float) -> OsSnapshot:
    network = counters["network"]
    return OsSnapshot(
        at=at,
        cpu=tuple(counters["cpu"]) if counters["cpu"] else None,
        cores={int(number): tuple(ticks) for number, ticks in counters["cores"].items()},
        ticks_per_second=counters["ticks_per_second"],
        online=counters["online"],
        context_switches=counters["context_switches"],
        run_queue=counters["run_queue"],
        memory_available=counters["memory_available"],
        page_cache=counters["page_cache"],
        disks={name: DiskCounters(**disk) for name, disk in counters["disks"].items()},
        network=(network[0], network[1]) if network else None,
        pressure=counters["pressure"],
        groups={ProcessGroup(name): seconds for name, seconds in counters["groups"].items()},
    )
