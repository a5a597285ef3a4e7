"""The telemetry of attached servers, which may be on this machine or elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teiten.execute.probes.os_probe import open_reader
from teiten.execute.probes.sampler import Sampler, Sampling
from teiten.model.installation import Version

if TYPE_CHECKING:
    from teiten.execute.sites.attached.campaign import AttachedDatabase

OF_THE_CLIENT = frozenset(
    {"cpu_steal_share", "cpu_other_share", "pgbench_cpu_share", "teiten_cpu_share"}
)
OF_THE_SERVER = "server_cpu_share"
CPU_METRICS = OF_THE_CLIENT | {
    OF_THE_SERVER,
    "cpu_user_share",
    "cpu_system_share",
    "cpu_iowait_share",
    "cpu_idle_share",
    "context_switches",
}
MACHINE_METRICS = ("cpu_", "disk_", "context_")


class AttachedSampler(Sampler):
    """Tells of this machine only what says something of a server that may be elsewhere; and what
    nodes have in common of the first one alone."""

    def __init__(
        self,
        database: AttachedDatabase,
        version: Version,
        *,
        loopback: bool,
        beside: tuple[AttachedDatabase, ...] | None,
    ) -> None:
        """``beside``: of the trial's other nodes; None where this is not the first one."""
        here = [node.pid for node in (database, *(beside or ())) if node.pid is not None]
        super().__init__(
            conninfo=database.conninfo(),
            version=version,
            reader=open_reader(tuple(dict.fromkeys(here)), ()),
        )
        self._here, self._loopback = database.pid is not None, loopback
        self._first = beside is not None

    def _collect(self) -> Sampling:
        sampling = super()._collect()
        kept = self._told_by_this_machine()
        whole = self._here and self._first
        sources = ("disk:",) if whole else ("os", "cpu:", "disk:")
        return replace(
            sampling,
            metrics={
                name: value
                for name, value in sampling.metrics.items()
                if name in kept or not _is_of_machine(name)
            },
            series=tuple(
                series for series in sampling.series if not series.source.startswith(sources)
            ),
        )

    def _told_by_this_machine(self) -> frozenset[str]:
        """The load generator's machine is all that we see of a server elsewhere. Which disk is an
        attached server's is never known."""
        if not self._first:
            return frozenset({OF_THE_SERVER} if self._here else ())
        if self._here:
            return CPU_METRICS
        if self._loopback:  # here, but its processes cannot be told from those of others
            return OF_THE_CLIENT - {"cpu_other_share"}
        return OF_THE_CLIENT


def _is_of_machine(name: str) -> bool:
    return name.startswith(MACHINE_METRICS) or name.endswith("_cpu_share")
