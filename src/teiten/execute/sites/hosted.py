"""The host of a server, as its node needs it, be that this machine or one behind an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from teiten.connections import Conninfo
from teiten.errors import MachineError, ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program, Running
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import PLAIN, StartOptions, StopManner
from teiten.execute.probes.os import OsReader
from teiten.execute.sites.local.node_emulation import EmulatedNode
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import ClusterKey
from teiten.model.study import CachePolicy, Setting
from teiten.model.units import Bytes


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
