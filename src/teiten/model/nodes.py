"""Nodes of a trial that are emulated as machines of their own: what each of them has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from teiten.model.units import Bytes


class NodePart(StrEnum):
    """Part of a machine that a node has for itself."""

    NETWORK = "network"
    """A network namespace with an address: the nodes reach one another by TCP."""
    MEMORY = "memory"
    """A limit in which the server is with the page cache of its files."""
    CPUS = "cpus"
    STORAGE = "storage"
    """A bandwidth of reading, of writing."""


Lack = tuple[NodePart, str]
"""Part that cannot be emulated, and why not."""


@dataclass(frozen=True)
class EmulatedNodes:
    """Machine that a study asks for each node of its trials; None: what the whole machine has."""

    memory: Bytes | None = None
    """Memory of the server and the page cache of its files; the load generator is outside."""
    cpus: int | None = None
    """Processors; the nodes have their own as far as the machine has enough."""
    read: Bytes | None = None
    """Bytes per second from storage."""
    write: Bytes | None = None
    """Bytes per second to storage."""
    insist: bool = False
    """Rather no campaign than one in which a part is not emulated."""
    lacking: tuple[Lack, ...] = ()
    """The parts of it that the machine cannot emulate: nodes have the whole machine's."""

    def lacks(self, part: NodePart) -> bool:
        return any(lacking == part for lacking, _ in self.lacking)

    @property
    def asked(self) -> tuple[NodePart, ...]:
        """The parts that the study speaks of; each node has a network in any case."""
        parts = {
            NodePart.NETWORK: True,
            NodePart.MEMORY: self.memory is not None,
            NodePart.CPUS: self.cpus is not None,
            NodePart.STORAGE: self.read is not None or self.write is not None,
        }
        return tuple(part for part, wanted in parts.items() if wanted)

    @property
    def in_force(self) -> bool:
        """Whether any part is emulated."""
        return any(not self.lacks(part) for part in self.asked)

    @property
    def memory_in_force(self) -> Bytes | None:
        return None if self.lacks(NodePart.MEMORY) else self.memory

    def without(self, lacks: Iterable[Lack]) -> EmulatedNodes:
        """Mark as lacking those of the asked parts that the machine cannot emulate."""
        return replace(self, lacking=tuple(lack for lack in lacks if lack[0] in self.asked))


@dataclass(frozen=True)
class NodeMachine:
    """Machine of one node of a trial, as planned; what is None or empty is not emulated."""

    network: bool
    memory: Bytes | None = None
    read: Bytes | None = None
    write: Bytes | None = None
    cpus: tuple[int, ...] = ()
    """The processors that its server is pinned to."""
