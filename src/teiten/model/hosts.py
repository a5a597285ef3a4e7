"""The hosts of a campaign whose server or load generator is not on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from teiten.model.facts import HostFacts

HERE = ""
"""In the place of a host's name: this machine."""
DEFAULT_PYTHON = "python3"
OLDEST_PYTHON = (3, 9)
"""The oldest Python that a host may have."""


class Role(StrEnum):
    """Function of a host in a campaign."""

    DB = "db"
    """Runs the servers."""
    CLIENT = "client"
    """Runs pgbench."""


@dataclass(frozen=True)
class NodeHost:
    """A db host beside the first one: another node of a trial runs there."""

    name: str
    address: str | None = None
    """By which the first host reaches its servers; None for the one that ssh reached it by."""
    workdir: str | None = None


@dataclass(frozen=True)
class Hosts:
    """Where a study runs: names as the user's own ssh takes them."""

    db: str = HERE
    client: str = HERE
    db_address: str | None = None
    """By which the client reaches the servers; None for the one that ssh reached the db host by."""
    db_port: int | None = None
    """On which the servers listen to the client; None for any that is free."""
    python: str = DEFAULT_PYTHON
    """Python's name on the hosts."""
    db_workdir: str | None = None
    """Teiten's folder there; None for the user's data folder, as on this machine."""
    client_workdir: str | None = None
    more: tuple[NodeHost, ...] = ()
    """Hosts of the second node, and of those that follow; without any, all nodes are on ``db``."""

    @property
    def together(self) -> bool:
        """The load generator runs where the server does, and reaches it by its socket."""
        return self.db == self.client

    def named(self, role: Role) -> str:
        return self.db if role is Role.DB else self.client

    def workdir(self, role: Role) -> str | None:
        return self.db_workdir if role is Role.DB else self.client_workdir


@dataclass(frozen=True)
class PlannedHost:
    """A host as it was found when the campaign was planned."""

    role: Role
    name: str
    """The study's name for it; empty for this machine."""
    node: str
    """The host's own name."""
    user: str
    """The user as whom Teiten works there."""
    server_user: str
    """The user as whom servers run there."""
    python: str
    workdir: str
    facts: HostFacts
    clock_offset: float = 0.0
    """Its clock less ours, in seconds."""
    clock_uncertainty: float = 0.0
    """Half the round trip (seconds): the offset is known to ± this."""
    boot: str = ""
    """The identity of its kernel, equal in every container on it; empty where it is unknown."""

    @property
    def shown(self) -> str:
        """For people: as the study names it, or what it calls itself."""
        return self.name or self.node


@dataclass(frozen=True)
class PlannedNodeHost:
    """A db host beside the first one, and how the first one reaches its servers."""

    host: PlannedHost
    address: str
    """Where servers listen to the first host."""
    peer: str
    """The first host's own address on the way there: the one that is let in."""


@dataclass(frozen=True)
class HostAssignment:
    """The hosts of a plan, and how the load goes between them."""

    db: PlannedHost
    client: PlannedHost
    address: str | None = None
    """Where servers listen to the client; None where the load goes through the private socket."""
    client_address: str | None = None
    """The one address that is let in."""
    more: tuple[PlannedNodeHost, ...] = ()
    """Hosts of the second node, and of those that follow."""

    @property
    def together(self) -> bool:
        return self.db.name == self.client.name

    @property
    def each(self) -> tuple[PlannedHost, ...]:
        """Every host once."""
        first = (self.db,) if self.together else (self.db, self.client)
        return (*first, *(node.host for node in self.more))

    @property
    def servers(self) -> tuple[PlannedHost, ...]:
        """The db hosts in the order of nodes."""
        return (self.db, *(node.host for node in self.more))
