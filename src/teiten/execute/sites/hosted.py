"""Clusters of a campaign on their hosts, be that this machine or one behind an agent: those of one
trial at a time, or of a pair.

A cluster whose trials do not change data is kept between trials, one for each template and node;
a cluster whose data was changed is deleted after its trial.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import psycopg

from teiten.connections import Conninfo
from teiten.errors import MachineError, ServerError, TeitenError
from teiten.execute.bench import Bench
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import PLAIN, StartOptions, StopManner
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.probes.os import OsReader
from teiten.execute.sites.local.node_emulation import EmulatedNode, TrialLimits
from teiten.execute.sites.server_facts import Connect
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import ClusterKey, Node, PlannedTrial
from teiten.model.starts import Start, last_of_their_start
from teiten.model.study import CachePolicy, Setting
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.cluster_site import ClusterSite


class HostLostError(MachineError):
    """The connection to a host is gone, and with it what ran there."""


def failure(name: str, error: psycopg.Error) -> ServerError:
    """The error of a server's connection, of a server by ``name``."""
    words = str(error).strip() or type(error).__name__
    # without a code it is libpq that speaks: the server is not there, or not any more
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    what = " does not answer" if lost and error.sqlstate is None else ""
    return ServerError(f"{name}{what}: {words}", "see the server's log of this trial")


ClusterPlace = tuple[int, ClusterKey, str | None]
"""The number of a host, a cluster on it, and the folder that the study names for its data."""


@dataclass(frozen=True)
class Launch:
    """How the server of a trial is started."""

    settings: tuple[Setting, ...] = ()
    options: StartOptions = PLAIN
    emulated: EmulatedNode | None = None
    """The emulation that makes a machine of its own of it."""
    applied: tuple[tuple[str, str], ...] = ()
    """Factors that the command of ``options`` applies, with their levels."""


class HostedCluster(Protocol):
    """A cluster on its host, and its server while it runs. What is answered here is the answer of a
    host that cannot do that."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def pid(self) -> int | None:
        """The postmaster's on its host, while it runs."""

    @property
    def emulated(self) -> EmulatedNode | None: ...

    @property
    def facts(self) -> Facts:
        """Facts that are special about the copy."""
        return {}

    def launch(self, launch: Launch) -> Facts:
        """Begin a new log, start the server, and see that it is as it was asked for.

        Raises ServerError with the log's last lines where it does not start, MachineError where
        others cannot reach it.
        """

    def conninfo(self, dbname: str) -> Conninfo:
        """For our own connections."""

    def connect(self, dbname: str) -> psycopg.Connection[Any]:
        """Connect as the superuser. Raises psycopg.Error."""

    def address(self) -> Address:
        """For load programs."""

    def peer_address(self) -> Address:
        """For the servers of other nodes."""

    def password_lines(self) -> Sequence[str]:
        """Lines of pgpass by which servers of other hosts reach this one; none where that goes by
        a socket."""
        return ()

    def put_passwords(self, lines: Sequence[str]) -> None:
        """Give the started server such lines."""

    def spawn(self, program: Program) -> Running:
        """Start a program of the server's installation beside it, as its user. ``program.path`` is
        its name, and in its arguments stand ``ServerSurroundings.places``.

        Raises WorkloadError or MachineError where it cannot be started.
        """

    def is_running(self) -> bool:
        """Whether the postmaster lives, as of the last second."""

    def has_ended(self) -> bool:
        """Whether the postmaster of a started server does not live any more, as of now."""

    def stop(self, *, immediately: bool = False) -> StopManner: ...

    def remove(self) -> None:
        """Stop the server, and delete all that belongs to the cluster."""

    def log_size(self) -> int:
        """Bytes."""

    def read_log(self, begin: int = 0) -> bytes:
        """Read what the server has written since its last launch, from the byte ``begin`` on."""

    def read_configuration(self) -> bytes | None: ...

    def replaced_file(self) -> str | None:
        """Say what stands in the place of a file of the server; None where the file does."""

    def empty_caches(self, policy: CachePolicy) -> str:
        """Let the cluster's files, or everything, leave the page cache; what was done."""

    def page_cache(self, relation: str | None, first: Bytes | None) -> PageCache | None:
        """Find how much the page cache holds, as ``Site.page_cache`` says."""
        del relation, first
        return None

    def evict(self, relation: str) -> bool:
        """Let a relation leave the page cache, as ``Site.evict`` says."""
        del relation
        return False

    def with_own_use(self, reader: OsReader) -> OsReader:
        """Let a reader of the host read beside it what an emulated node itself has used."""
        return reader


class ServerHost(Protocol):
    """A machine on which nodes of trials run."""

    @property
    def number(self) -> int:
        """From 0, in the order of nodes."""

    @property
    def is_here(self) -> bool:
        """It is this machine."""

    @property
    def boot(self) -> str | None:
        """Which start of its kernel this is, where it tells."""

    @property
    def devices(self) -> tuple[str, ...]:
        """The disks below its clusters."""

    @property
    def lost(self) -> bool:
        """It cannot be asked any more; what ran there ends by itself."""

    def check(self) -> None:
        """Raise HostLostError where it is lost."""

    def reader(self, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> OsReader:
        """Reads its counters; ``postmasters``: of the servers that are told apart."""


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

    def sampler_options(self) -> dict[str, Any]:
        """Options of the ``Sampler`` of a trial's first server: what else it tells of."""
        return {}

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
