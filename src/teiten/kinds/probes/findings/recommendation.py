"""The recommendation on the size of the buffers: what is slower, and for what there is no room.

A size is ruled out where it was decided to be slower than another in a probe that shows how memory
is used (working sets, or pages after a scan), and where the connections that were asked for need
more than it leaves. Nothing else counts for it: the probes of single mechanisms say why. With it
stands the memory that trials had, how it is known, and where working sets no longer fit into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from teiten.analysis.model.observations import without
from teiten.kinds.probes.findings.effects import all_known
from teiten.kinds.probes.measurement import PageOrigin, ProbeMeasurement, share_of
from teiten.kinds.probes.model import BLOCK, PROBE, probes_of
from teiten.kinds.probes.results import Cliff, MemoryKnown, ProbeResult, Recommendation, Room
from teiten.kinds.probes.thresholds import CLIFF, OWN_OF_A_CONNECTION, PAGE_TABLE_SHARE
from teiten.model.memory import checked_limits, memory_of
from teiten.model.plan import Context, Plan
from teiten.model.settings import size_setting
from teiten.model.trial import Event
from teiten.model.units import Bytes


@dataclass(frozen=True)
class Wanted:
    """Needs of the user's workload, as they were stated, or else from the servers' settings."""

    working_set: Bytes | None
    connections: int | None
    work_mem: Bytes
    huge_pages: bool = False


def recommendations(plan: Plan, results: Sequence[ProbeResult]) -> Iterator[Recommendation]:
    """One for each context without its probe; none of fewer than two sizes."""
    for context in dict.fromkeys(without(result.context, PROBE) for result in results):
        mine = [result for result in results if without(result.context, PROBE) == context]
        recommendation = _recommendation(context, mine, _wanted(plan, context, mine))
        if recommendation is not None:
            yield recommendation


def _wanted(plan: Plan, context: Context, results: Sequence[ProbeResult]) -> Wanted:
    """Take the greatest need that a workload states; of work_mem else the servers' setting."""
    workloads = dict.fromkeys(result.workload for result in results)
    options = [probes_of(plan.study.workload(name)) for name in workloads]
    settings = [_settings(plan, name, context) for name in workloads]
    return Wanted(
        max(option.working_set or Bytes(0) for option in options) or None,
        max(option.connections or 0 for option in options) or None,
        max(option.work_mem or Bytes(0) for option in options)
        or max(size_setting(values, "work_mem") for values in settings),
        huge_pages=all(values.get("huge_pages") == "on" for values in settings),
    )


def _settings(plan: Plan, workload: str, context: Context) -> dict[str, str]:
    for trial in plan.trials:
        here = without(trial.cell.context(plan.study.contrast), PROBE)
        if trial.cell.workload == workload and here == context:
            return dict(trial.settings)
    return {}


def room_of(side: str, size: Bytes, memory: Bytes, wanted: Wanted) -> Room:
    tables = 0 if wanted.huge_pages else size // PAGE_TABLE_SHARE
    for_each = Bytes(OWN_OF_A_CONNECTION + wanted.work_mem + tables)
    left = Bytes(max(0, memory - size))
    needed = None if wanted.connections is None else Bytes(wanted.connections * for_each)
    return Room(side, size, left, for_each, left // for_each, needed)


def _recommendation(
    context: Context, results: Sequence[ProbeResult], wanted: Wanted
) -> Recommendation | None:
    known = {side.side: side.shared_buffers for probe in results for side in probe.sides}
    sizes = dict(sorted(known.items(), key=lambda size: size[1]))  # no probe needs to have them all
    if len(set(sizes.values())) < 2:
        return None
    memory = max(side.memory for probe in results for side in probe.sides)
    rooms = tuple(room_of(side, size, memory, wanted) for side, size in sizes.items())
    beaten = {side for result in results if result.tells_of_memory for side in result.beaten}
    threatened = tuple(room.side for room in rooms if room.threatens)
    out = beaten | set(threatened)
    return Recommendation(
        context=context,
        memory=memory,
        rooms=rooms,
        connections=wanted.connections,
        work_mem=wanted.work_mem,
        working_set=wanted.working_set,
        threatened=threatened,
        left=tuple(side for side in sizes if side not in out),
        decided=bool(beaten),
    )


def memories_of(
    plan: Plan, workloads: Iterable[str], events: Iterable[Event]
) -> Iterator[MemoryKnown]:
    """Each that trials of the workloads have, the smallest first; that of a server of which nobody
    knows on which machine it runs is not known either."""
    mine = set(workloads)
    checked = checked_limits(events)
    elsewhere = plan.servers_elsewhere
    trials = [
        trial
        for trial in plan.trials
        if trial.cell.workload in mine and trial.cell.server not in elsewhere
    ]
    known = {(memory_of(plan.study, trial), trial.memory_limit is not None) for trial in trials}
    for memory, limited in sorted(known):
        check = checked.get(memory, {}) if limited else {}
        yield MemoryKnown(memory, limited, check.get("read"), check.get("stayed"))


def cliff_of(trials: Sequence[ProbeMeasurement], step: str) -> Cliff | None:
    """Find the cliff among the parts of one step. None with fewer than two parts, or where it is
    not known what came from the disk."""
    by_trial = [
        sorted(filter(lambda part: part.statements, trial.step(step)), key=lambda part: part.pages)
        for trial in trials
    ]
    from_disk = [
        all_known(share_of(part.statements, PageOrigin.DISK) for part in parts)
        for parts in by_trial
    ]
    if not from_disk or any(len(shares) < 2 for shares in from_disk):
        return None
    sizes = [Bytes(part.pages * BLOCK) for part in by_trial[0]]
    past = [[share >= CLIFF for share in shares] for shares in from_disk]
    safe = min([*trial, True].index(True) for trial in past)
    beyond = max(len(trial) - [*reversed(trial), False].index(False) for trial in past)
    return Cliff(sizes[safe - 1] if safe else None, sizes[beyond] if beyond < len(sizes) else None)
