"""Limits of what a trial's servers and load programs may use of this machine, while they run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.node_emulation import EmulatedNode, NodeEmulation
from teiten.model.plan import FIRST, Node


@dataclass(frozen=True)
class TrialLimits:
    """A limit of all together, and what makes machines of their own of nodes; either may be
    missing."""

    limit: Limit | None = None
    emulation: NodeEmulation | None = None

    @property
    def groups(self) -> tuple[Path, ...]:
        """Control groups of all servers and load programs."""
        return () if self.limit is None else self.limit.groups

    def of_node(self, node: Node) -> EmulatedNode | None:
        return None if self.emulation is None else self.emulation.nodes[node - FIRST]

    def apply_to_io(self) -> None:
        if self.emulation is not None:
            self.emulation.apply_io_limits()

    def lift_from_io(self) -> None:
        if self.emulation is not None:
            self.emulation.lift_io_limits()

    def remove(self) -> None:
        """Give all of it back, once the servers have ended."""
        if self.limit is not None:
            self.limit.remove()
        if self.emulation is not None:
            self.emulation.remove()


NO_LIMITS = TrialLimits()
