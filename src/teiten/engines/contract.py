"""The contract of an engine; ``engines/NAME.py`` holds one as ``ENGINE``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from teiten.model.distribution import CoordinatorRows, Distribution, SpreadBy, TablePart
from teiten.model.plan import Node

if TYPE_CHECKING:
    import psycopg  # verbs that list studies ask for an engine's name, and no server

COLUMNS = {
    "pgbench_accounts": "aid int NOT NULL, bid int, abalance int, filler char(84)",
    "pgbench_tellers": "tid int NOT NULL, bid int, tbalance int, filler char(84)",
    "pgbench_branches": "bid int NOT NULL, bbalance int, filler char(88)",
    "pgbench_history": "tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)",
}
"""pgbench's tables."""
OWN_KEYS = {
    "pgbench_accounts": "aid",
    "pgbench_tellers": "tid",
    "pgbench_branches": "bid",
    "pgbench_history": "aid",
}
"""The column by which each is spread by itself, as the report did (2013 §5.3.4)."""


class Servers(Protocol):
    """The started servers of a trial."""

    @property
    def coordinator(self) -> Node:
        """Which clients reach."""
        ...

    @property
    def nodes(self) -> Sequence[Node]:
        """Those that hold the rows, in the order of their parts."""
        ...

    @property
    def entries(self) -> Sequence[Node]:
        """Through which clients come: the coordinator, or all that hold rows."""
        ...

    def connect(self, node: Node) -> psycopg.Connection[Any]:
        """To its database, in autocommit. Errors are psycopg's."""
        ...

    def parameters(self, node: Node) -> Mapping[str, str]:
        """By which the other servers reach it: libpq's host, port, user, dbname, password."""
        ...


class Engine(ABC):
    """An engine that makes several servers one database."""

    name: ClassVar[str]
    """The name of its file, as studies write it."""
    extension: ClassVar[str]
    """The extension that every server needs."""
    oldest: ClassVar[int]
    """The oldest major version that can have it."""
    installing: ClassVar[str]
    """How its users come by it, for a hint."""
    everywhere: ClassVar[bool] = False
    """Clients can enter through every node that holds rows, with the parameters of ``session``."""
    session: ClassVar[Mapping[str, str]] = {}
    """Server parameters of clients that enter through a node that holds rows."""
    needs_retries: ClassVar[bool] = False
    """Concurrent updates of a row end in serialization failures, which clients must repeat: a plan
    warns of a load that does not."""
    as_superuser: ClassVar[bool] = False
    """Its servers reach one another as superusers, so that nodes on several hosts, which let in a
    role without such rights alone, cannot have it."""
    starts: ClassVar[bool] = True
    """Teiten starts its servers; False of one whose servers run already, which a study names with
    the statements that distribute (``Distribution.statements``)."""
    spreads_by: ClassVar[tuple[SpreadBy, ...]] = (SpreadBy.OWN_KEY,)
    """Those of which it is able."""

    coordinators: ClassVar[tuple[CoordinatorRows, ...]] = (CoordinatorRows.APART,)
    """Whether the coordinator can be a node too."""

    def shards(self, nodes: int) -> int:
        """Count the shards of each table where the study says nothing; 0 of an engine that makes
        none."""
        del nodes
        return 0

    @abstractmethod
    def parts(self, planned: Distribution) -> tuple[TablePart, ...]:
        """List what each server holds before ``distribute``: the coordinator, then each other
        node."""

    def settings(self, clients: int) -> Mapping[str, str]:
        """The parameters that every server needs for so many clients. The study's own go before
        them; libraries to preload are loaded beside those of the study."""
        del clients
        return {}

    def connections(self, clients: int, nodes: int) -> int:
        """How many a node gets from the coordinator, at most."""
        del nodes
        return clients

    @abstractmethod
    def distribute(self, servers: Servers, planned: Distribution) -> None:
        """Make pgbench's tables one database on servers that hold their parts.

        Whatever an earlier trial has left of this is replaced. Errors are psycopg's, or
        ServerError.
        """
