"""Clusters of a campaign on their hosts: those of one trial at a time, or of a pair.

A cluster whose trials do not change data is kept between trials, one for each template and node;
a cluster whose data was changed is deleted after its trial.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from teiten.errors import TeitenError
from teiten.execute.bench import Bench
from teiten.execute.client.contract import Client
from teiten.execute.executor import Facts
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.probes.os import OsReader
from teiten.execute.sites.hosted import ClusterPlace, HostedCluster, ServerHost
from teiten.execute.sites.local.node_emulation import TrialLimits
from teiten.execute.sites.server_facts import Connect
from teiten.model.plan import Node, PlannedTrial
from teiten.model.starts import Start, last_of_their_start
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.cluster_site import ClusterSite


@dataclass(frozen=True)
class RunningServer:
    """A server that a pair has left running for the next one."""

    cluster: HostedCluster
    facts: Facts
    """Facts that the server told of itself when it was started."""
    cflags: str


@dataclass(frozen=True)
class RunningServers:
    """The servers of a trial that a pair has left running for the next one."""

    servers: tuple[RunningServer, ...]
    start: Start
    limits: TrialLimits

    def end(self, *, immediately: bool = False) -> None:
        for server in self.servers:
            server.cluster.stop(immediately=immediately)
        self.limits.remove()


class CampaignClusters(ABC):
    """Makes clusters from templates, and keeps them and their servers for the trials to come."""

    client: Client
    moves_processes: bool
    """The servers' processes run on this machine, and a load may choose their processors."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.kept: dict[ClusterPlace, HostedCluster] = {}
        """Stopped clusters whose data no trial has changed."""
        self.running: dict[tuple[ClusterPlace, ...], RunningServers] = {}
        """Servers that a pair has left running for the next one."""
        self.host_site: ClusterSite | None = None
        """The last site that starts its servers: other sides of its pair may be guests there."""

    @property
    def storage_devices(self) -> Mapping[str, tuple[str, ...]]:
        """Those of each storage class of the factor placement."""
        return {}

    @property
    def emulated_devices(self) -> frozenset[str]:
        """Those whose transfers another device counts again."""
        return frozenset()

    @abstractmethod
    def host(self, trial: PlannedTrial, node: Node) -> ServerHost: ...

    @abstractmethod
    def clone(
        self, trial: PlannedTrial, node: Node, *, kept: bool
    ) -> tuple[HostedCluster, CloneReport]:
        """A cluster from the template of one of the trial's nodes. ``kept``: for the trials to come
        too. Raises MachineError where its folder cannot hold it."""

    @abstractmethod
    def limits(self, trial: PlannedTrial, memory: Bytes | None) -> tuple[TrialLimits, Facts]:
        """Limit servers and load programs to so much memory of their host, each node that is
        emulated to its own; the limits, and their facts. Raises MachineError where they cannot be
        kept to."""

    def port(self, trial: PlannedTrial, node: Node) -> int | None:
        """Where a server listens on the network, if it does; None for any free one."""
        del trial, node
        return None

    def way_facts(self, connect: Connect) -> Facts:
        """About the way from here to the servers of a trial."""
        del connect
        return {}

    def clocks(self) -> Facts:
        """How far the clocks of other hosts are from ours."""
        return {}

    def client_reader(self) -> OsReader | None:
        """A reader of the client's host, where that is another one than the first server's."""
        return None

    def stays_up(self, trial: PlannedTrial, attempt: int) -> bool:
        """Whether a later trial shares the start of this one's servers; never of a repeat, which
        runs out of order."""
        return attempt == 1 and trial.number not in self._last_of_their_start

    @cached_property
    def _last_of_their_start(self) -> frozenset[int]:
        return last_of_their_start(self.bench.plan)

    def end_running(self, trial: PlannedTrial, attempt: int) -> None:
        """Stop the servers that were left running for another pair than that of this trial."""
        for places, servers in list(self.running.items()):
            if attempt != 1 or servers.start[0] != trial.restart:
                del self.running[places]
                servers.end()

    def remove(self, cluster: HostedCluster) -> None:
        """Delete a cluster; what cannot be deleted now, the next start sweeps."""
        with contextlib.suppress(TeitenError, OSError):
            cluster.remove()

    def finish(self) -> None:
        """Stop and delete what is left; never raises."""
        for servers in self.running.values():
            with contextlib.suppress(TeitenError, OSError):
                servers.end(immediately=True)
        self.running.clear()
        for cluster in self.kept.values():
            self.remove(cluster)
        self.kept.clear()
