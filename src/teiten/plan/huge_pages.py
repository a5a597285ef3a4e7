"""Whether the huge pages that ``huge_pages=on`` needs are reserved; pure.

A server without them does not start, so that the plan says so, with the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from teiten.errors import MachineError
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.settings import count_setting, size_setting
from teiten.model.units import KIB, MIB

NAME = "huge_pages"
SHARE_BESIDE_BUFFERS = 0.03
"""Descriptors, the buffers' hash table and what else grows with shared_buffers."""
BYTES_BESIDE = 32 * MIB
"""WAL buffers, and what grows with nothing."""
BYTES_PER_CONNECTION = 64 * KIB
"""Locks, process slots, statistics."""


def shared_memory(settings: Mapping[str, str]) -> int:
    """About the bytes of shared memory that a server takes; rather too many than too few."""
    buffers = size_setting(settings, "shared_buffers")
    connections = count_setting(settings, "max_connections")
    return int(
        buffers * (1 + SHARE_BESIDE_BUFFERS) + BYTES_BESIDE + connections * BYTES_PER_CONNECTION
    )


def check_huge_pages(plan: Plan, facts: HostFacts) -> None:
    """Raise MachineError where a trial demands huge pages that are not there."""
    demanding = [
        settings
        for settings in (dict(trial.settings) for trial in plan.trials)
        if settings.get(NAME, "").lower() == "on" and not settings.get("huge_page_size")
    ]
    if not demanding:
        return
    memory = facts.memory
    if memory.huge_page_size is None or memory.huge_pages_free is None:
        raise MachineError(
            f"{NAME}=on: {facts.system} tells of no huge pages that could be reserved",
            f"leave it out, or use {NAME}=try",
        )
    needed = max(math.ceil(shared_memory(one) / memory.huge_page_size) for one in demanding)
    free = memory.huge_pages_free
    if needed <= free:
        return
    reserved = memory.huge_pages_total or 0
    size = memory.huge_page_size // KIB
    raise MachineError(
        f"{NAME}=on needs about {needed} huge pages of {size} kB; {free} are free"
        f" ({reserved} are reserved): the server would not start",
        f"reserve them: sysctl -w vm.nr_hugepages={reserved - free + needed}, or use {NAME}=try",
    )
