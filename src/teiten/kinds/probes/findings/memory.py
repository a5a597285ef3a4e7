"""The memory that trials had, and how it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from teiten.kinds.probes.results import MemoryKnown
from teiten.model.memory import memory_of
from teiten.model.plan import Plan
from teiten.model.trial import Event

LIMIT_CHECKED = "memory-limit"
"""The event of a limit that was seen to hold (``execute.sites.local.limit_check``)."""


def memories_of(
    plan: Plan, workloads: Iterable[str], events: Iterable[Event]
) -> Iterator[MemoryKnown]:
    """Each that trials of the workloads have, the smallest first; that of a server of which nobody
    knows on which machine it runs is not known either."""
    mine = set(workloads)
    checked = {
        event.detail["memory"]: event.detail
        for event in events
        if event.kind == LIMIT_CHECKED and "memory" in event.detail
    }
    elsewhere = plan.servers_elsewhere
    trials = [
        trial
        for trial in plan.trials
        if trial.cell.workload in mine and trial.cell.server not in elsewhere
    ]
    known = {(memory_of(plan.study, trial), trial.memory_limit is not None) for trial in trials}
    for memory, limited in sorted(known):
        found = checked.get(memory, {}) if limited else {}
        yield MemoryKnown(
            memory, limited, found.get("read"), found.get("stayed"), found.get("cgroup")
        )
