"""The counters of another host, read by its agent."""

from __future__ import annotations

import os
from dataclasses import replace

from pydantic import TypeAdapter

from teiten.execute.probes.os import OsSnapshot
from teiten.execute.sites.remote.hosts import Host

_SNAPSHOT = TypeAdapter(OsSnapshot)
_MISSING = TypeAdapter(tuple[tuple[str, str], ...])


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
        self._missing = _MISSING.validate_python(opened["missing"])
        self._shift: float | None = None

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        return self._missing

    def read(self, at: float, pgbench: int | None) -> OsSnapshot:
        """Raises HostLostError."""
        answer = self._host.call("machine.read", reader=self._number, pgbench=pgbench)
        self._missing = _MISSING.validate_python(answer["missing"])
        snapshot = _SNAPSHOT.validate_python(answer["snapshot"])
        if self._shift is None:
            self._shift = at - snapshot.at
        return replace(snapshot, at=snapshot.at + self._shift)

    def close(self) -> None:
        if not self._host.link.lost:
            self._host.call("machine.close_reader", reader=self._number)
