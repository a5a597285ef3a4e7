"""Tables that are spread over several servers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PartMethod(StrEnum):
    """Which rows of all tables a server holds before an engine is set up on it."""

    EMPTY = "empty"
    """No tables."""
    HASH = "hash"
    """The rows of a hash partition: those of which PostgreSQL's own hash of the key says so."""


@dataclass(frozen=True)
class TablePart:
    """What one server holds of tables that are spread."""

    method: PartMethod
    number: int = 0
    """Of the node, from 1; 0 where it does not matter."""
    nodes: int = 0
    """Among how many the rows are spread; 0 where it does not matter."""

    def __str__(self) -> str:
        if self.method is PartMethod.EMPTY:
            return "an empty database"
        return f"part {self.number} of {self.nodes} by {self.method.value}"


NOTHING = TablePart(PartMethod.EMPTY)


class ClientEntry(StrEnum):
    """Which servers the clients reach."""

    COORDINATOR = "coordinator"
    ALL = "all"
    """Every node that holds rows; each connection enters one of them, by chance."""


@dataclass(frozen=True)
class Distribution:
    """By which engine a trial's tables are spread, and over how many nodes. The first of its
    servers is the coordinator, which clients reach and which holds no rows; the nodes follow."""

    engine: str
    """A file of ``teiten.engines``."""
    nodes: int
    entry: ClientEntry = ClientEntry.COORDINATOR
