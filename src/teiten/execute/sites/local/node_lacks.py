"""Parts of emulated nodes that this machine, or its rights, do not permit; makes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.sites.local.limit import require_limits
from teiten.execute.sites.local.limit_files import Allowed
from teiten.execute.sites.local.node_emulation import why_no_disk
from teiten.host.facts.cgroups import hierarchies
from teiten.host.facts.disks import disk_numbers
from teiten.host.system.namespaces import why_no_namespaces
from teiten.model.nodes import EmulatedNodes, Lack, NodePart


def lacks(nodes: EmulatedNodes, folder: Path) -> tuple[Lack, ...]:
    """The parts that cannot be emulated, each with the reason. ``folder``: of clusters."""
    return tuple(lack for lack in _lacks(nodes, folder) if lack[0] in nodes.asked)


def throttles_buffered_writes() -> bool:
    """Whether a limit of writing also holds for what the kernel writes later from the page cache:
    version 2 knows whose pages those are (cgroup-v2.rst, Writeback)."""
    return any(hierarchy.version == 2 for hierarchy in hierarchies("io"))


def _lacks(nodes: EmulatedNodes, folder: Path) -> Iterator[Lack]:
    reason = why_no_namespaces()
    if reason is not None:
        yield NodePart.NETWORK, reason
    if not hasattr(os, "sched_setaffinity"):
        yield NodePart.CPUS, "this system cannot pin processes to processors"
    memory = _unlimited(Allowed(memory=nodes.memory))
    if memory is not None:
        yield NodePart.MEMORY, memory
    disks = disk_numbers(folder)
    storage = why_no_disk(disks, folder) if len(disks) != 1 else None
    storage = storage or _unlimited(Allowed(read=nodes.read, write=nodes.write))
    if storage is not None:
        yield NodePart.STORAGE, storage


def _unlimited(allowed: Allowed) -> str | None:
    """Why nothing can be limited so."""
    try:
        require_limits(allowed)
    except MachineError as error:
        return error.message
    return None
