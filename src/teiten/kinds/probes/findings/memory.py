"""The memory that trials had, how it is known, and where working sets no longer fit into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from teiten.kinds.probes.measurement import MeasuredStep, PageOrigin, ProbeMeasurement, share_of
from teiten.kinds.probes.model import BLOCK
from teiten.kinds.probes.results import Cliff, MemoryKnown
from teiten.kinds.probes.thresholds import CLIFF
from teiten.model.memory import memory_of
from teiten.model.plan import Plan
from teiten.model.trial import Event
from teiten.model.units import Bytes

LIMIT_CHECKED = "memory-limit"
"""The event of a limit that was seen to hold (``execute.sites.local.checks``)."""


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


def cliff_of(trials: Sequence[ProbeMeasurement], step: str) -> Cliff | None:
    """Find the cliff among the parts of one step. None with fewer than two parts, or where it is
    not known what came from the disk."""
    each = [_parts(trial, step) for trial in trials]
    if not each or any(len(parts) < 2 or not _known(parts) for parts in each):
        return None
    sizes = [Bytes(one.pages * BLOCK) for one in each[0]]
    firsts = [_first(parts) for parts in each]
    safe, beyond = min(firsts), max(firsts)
    return Cliff(sizes[safe - 1] if safe else None, sizes[beyond] if beyond < len(sizes) else None)


def _parts(trial: ProbeMeasurement, step: str) -> list[MeasuredStep]:
    found = [one for one in trial.step(step) if one.statements]
    return sorted(found, key=lambda one: one.pages)


def _known(parts: Iterable[MeasuredStep]) -> bool:
    return not any(share_of(part.statements, PageOrigin.OUTSIDE) for part in parts)


def _first(parts: Sequence[MeasuredStep]) -> int:
    """Where that part stands from which on all read from the disk; their number for none."""
    at = len(parts)
    while at and (share_of(parts[at - 1].statements, PageOrigin.DISK) or 0.0) >= CLIFF:
        at -= 1
    return at
