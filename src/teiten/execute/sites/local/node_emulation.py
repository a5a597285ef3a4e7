"""A trial's nodes as machines of their own: a network between them, and control groups of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.executor import Facts
from teiten.execute.postgres.conf import Opening
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.os_linux import NodeReader, WithNode
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.execute.sites.local.node_network import ADDRESSES, NodeNetwork
from teiten.host.facts.disks import disk_numbers
from teiten.host.system.paths import Workdir
from teiten.model.nodes import NodeMachine
from teiten.model.plan import FIRST, Node

ALL = "all"
"""Databases and roles: who is in the network is a node of the trial."""
TRUST = "trust"


@dataclass(frozen=True)
class EmulatedNode:
    """One node's part of an emulation."""

    machine: NodeMachine
    limit: Limit
    address: str | None = None
    """By which the other nodes reach it; None where it has no network."""
    space: Path | None = None
    """Its network namespace."""

    @property
    def opening(self) -> Opening | None:
        """Its server is open to the nodes' addresses; nobody else is in their network."""
        if self.address is None:
            return None
        return Opening(self.address, str(ADDRESSES), ALL, ALL, TRUST, "reached by other nodes")

    def beside(self, reader: OsReader, server: int | None) -> OsReader:
        """Let another reader read beside it what the node has used; ``server``: a pid."""
        network = None if self.space is None else server
        return WithNode(reader, NodeReader(self.limit.groups, network))

    @property
    def facts(self) -> Facts:
        """For the ledger."""
        return {
            "address": self.address,
            "memory": self.machine.memory,
            "read": self.machine.read,
            "write": self.machine.write,
            "cpus": list(self.machine.cpus),
            "cgroup": self.limit.facts["cgroup"],
        }


@dataclass(frozen=True)
class TrialLimits:
    """Limits of a trial's servers and load programs: of all together, and of nodes that are
    machines of their own, in order; either may be missing."""

    limit: Limit | None = None
    nodes: tuple[EmulatedNode, ...] = ()
    network: NodeNetwork | None = None

    @classmethod
    def emulating(
        cls,
        workdir: Workdir,
        machines: Sequence[NodeMachine],
        folder: Path,
        limit: Limit | None = None,
    ) -> TrialLimits:
        """``folder``: where the nodes' clusters are. ``limit``: of all together.

        Raises MachineError where this system or its rights do not permit it; nothing is left then,
        of ``limit`` neither.
        """
        network: NodeNetwork | None = None
        limits: list[Limit] = []
        try:
            for machine in machines:
                limits.append(Limit.make(workdir, allowed(machine, folder)))  # noqa: PERF401 - those made are removed
            if machines[0].network:
                network = NodeNetwork.make(workdir, len(machines))
        except BaseException:
            for made in (*limits, *([] if limit is None else [limit])):
                made.remove()
            raise
        nodes = []
        for index, (machine, own) in enumerate(zip(machines, limits, strict=True)):
            address, space = (
                (None, None) if network is None else (network.address(index), network.space(index))
            )
            nodes.append(EmulatedNode(machine, own, address, space))
        return cls(limit, tuple(nodes), network)

    @property
    def groups(self) -> tuple[Path, ...]:
        """Control groups of all servers and load programs."""
        return () if self.limit is None else self.limit.groups

    def of_node(self, node: Node) -> EmulatedNode | None:
        return self.nodes[node - FIRST] if self.nodes else None

    def apply_to_io(self) -> None:
        """Hold each node's storage to its bandwidth: from now on is measured. Raises
        MachineError."""
        for node in self.nodes:
            node.limit.throttle.apply()

    def lift_from_io(self) -> None:
        """Let all storage be as fast as the machine's, for what is not measured. Raises
        MachineError."""
        for node in self.nodes:
            node.limit.throttle.lift()

    def remove(self) -> None:
        """Give all of it back, once the servers have ended; what cannot be removed stays noted."""
        for limit in (self.limit, *(node.limit for node in self.nodes)):
            if limit is not None:
                limit.remove()
        if self.network is not None:
            self.network.remove()


NO_LIMITS = TrialLimits()


def allowed(machine: NodeMachine, folder: Path) -> Allowed:
    """Derive the limits of a node. Raises MachineError where its storage cannot be limited."""
    disks = disk_numbers(folder)
    if (machine.read is not None or machine.write is not None) and len(disks) != 1:
        raise MachineError(
            f"the storage of nodes cannot be limited: {why_no_disk(disks, folder)}",
            "put the working folder (--workdir) on one disk; or leave out nodes.read, nodes.write",
        )
    disk = disks[0] if len(disks) == 1 else None
    return Allowed(machine.memory, machine.read, machine.write, disk, counted=True)


def why_no_disk(disks: Sequence[str], folder: Path) -> str:
    """Why there is no single disk below a folder."""
    return f"{folder} is on {f'{len(disks)} disks' if disks else 'no disk that Linux shows'}"
