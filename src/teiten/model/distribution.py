"""Tables that are spread over several servers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

LOWEST_HASH, HASHES = -(2**31), 2**32
"""The lowest value of PostgreSQL's hash of an integer (hashint4), and how many values there are."""


class PartMethod(StrEnum):
    """Which rows of all tables a server holds before an engine is set up on it."""

    EMPTY = "empty"
    """No tables."""
    HASH = "hash"
    """The rows of a hash partition: those of which PostgreSQL's own hash of the key says so."""
    SHARDS = "shards"
    """The accounts alone, a table for each shard of the node (``shard_table``): a shard is a range
    of PostgreSQL's hash of the key, and the node has every n-th of them."""
    GIVEN = "given"
    """No tables yet: the study's own statements make them."""


@dataclass(frozen=True)
class TablePart:
    """The part of spread tables that one server holds."""

    method: PartMethod
    number: int = 0
    """The node's number, from 1; 0 where it does not matter."""
    nodes: int = 0
    """Among how many the rows are spread; 0 where it does not matter."""
    shards: int = 0
    """Shards of each table, on all nodes together; 0 where there are none."""
    key: str = ""
    """By which accounts are spread over shards; empty where there are none."""

    def __str__(self) -> str:
        if self.method in (PartMethod.EMPTY, PartMethod.GIVEN):
            return "an empty database"
        whole = f"part {self.number} of {self.nodes}"
        if self.method is PartMethod.SHARDS:
            return f"{whole} in {self.shards} shards by {self.key}"
        return f"{whole} by {self.method.value}"


NOTHING = TablePart(PartMethod.EMPTY)


class ClientEntry(StrEnum):
    """Which servers the clients reach."""

    COORDINATOR = "coordinator"
    ALL = "all"
    """Every node that holds rows; each connection enters one of them, by chance."""


class CoordinatorRows(StrEnum):
    """Whether the coordinator is a node too."""

    APART = "apart"
    """It holds no rows, and is one server more than there are nodes."""
    NODE = "node"
    """It is the first of the nodes."""


class SpreadBy(StrEnum):
    """By what the rows of pgbench's tables go to nodes."""

    OWN_KEY = "own-key"
    """Each table by its own key, and the history by the account's (2013 §5.3.4)."""
    BRANCH = "branch"
    """All tables by the branch, whose rows lie together on one node."""
    REFERENCE = "reference-branches"
    """Each table by its own key, but every node has all branches."""


@dataclass(frozen=True)
class ClusterStatements:
    """How a study makes servers that run already one database: SQL with psql's variables
    (``:name``, ``:'name'``, ``:"name"``), in the order in which it runs."""

    on_nodes: str = ""
    """In the database of each node."""
    on_entry: str = ""
    """At the entry, once."""
    for_each_node: str = ""
    """At the entry, once for each node."""
    distribute: str = ""
    """At the entry, once all of pgbench's tables are there, and before they are filled."""


@dataclass(frozen=True)
class AttachedCluster:
    """Servers that run already and are nodes of one database, as a study names them."""

    nodes: tuple[str, ...]
    """Addresses without passwords, in order: a trial on n nodes has the first n."""
    statements: ClusterStatements = ClusterStatements()


@dataclass(frozen=True)
class Distribution:
    """By which engine a trial's tables are spread, and over how many nodes. The first of its
    servers is the coordinator, which clients reach; the nodes follow, or it is the first of them.
    """

    engine: str
    """A file of ``teiten.engines``."""
    nodes: int
    by: SpreadBy = SpreadBy.OWN_KEY
    shards: int = 0
    """Shards of each table, on all nodes together; 0 where the engine makes none."""
    scale: int = 1
    """pgbench's, of all tables together."""
    fillfactor: int = 100
    entry: ClientEntry = ClientEntry.COORDINATOR
    statements: ClusterStatements | None = None
    """The study's statements, where servers run already."""
    coordinator: CoordinatorRows = CoordinatorRows.APART

    @property
    def ran_already(self) -> bool:
        """Teiten has not started its servers, and knows of them what they say."""
        return self.statements is not None

    @property
    def holders(self) -> range:
        """The numbers of the servers that hold rows."""
        first = 1 if self.coordinator is CoordinatorRows.NODE else 2
        return range(first, first + self.nodes)


def shard_width(shards: int) -> int:
    """Hashes of each shard but the last, which has the rest too."""
    return HASHES // shards


def shard_ranges(shards: int) -> Iterator[tuple[int, int]]:
    """The lowest and the highest hash of each shard in order: equally wide, the rest with the last
    one."""
    width = shard_width(shards)
    for shard in range(shards):
        low = LOWEST_HASH + shard * width
        last = shard == shards - 1
        yield low, LOWEST_HASH + HASHES - 1 if last else low + width - 1


def shards_of(part: TablePart) -> range:
    """The shards that a node has, from 0."""
    return range(part.number - 1, part.shards, part.nodes)


def shard_table(shard: int) -> str:
    """The table of a shard's accounts before an engine is set up."""
    return f"pgbench_accounts_of_shard_{shard}"
