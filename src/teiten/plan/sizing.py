"""Sizes that a study leaves to the machine, derived from its facts; pure.

Whatever moves from minute to minute (free memory, load) decides nothing here, so that two runs on
one machine get the same sizes; only the free disk bounds the scale, in coarse steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from teiten.datasets.plan import data_bytes
from teiten.datasets.plan import plan_of as plan_of_data
from teiten.factors.registry import rules
from teiten.kinds.contract import plan_of
from teiten.model.facts import HostFacts
from teiten.model.memory import memory_of
from teiten.model.quantities import exact_size
from teiten.model.settings import SPARE_CONNECTIONS
from teiten.model.study import Measure, Study, Workload
from teiten.model.units import GIB, MIB, Bytes, Seconds
from teiten.plan.cells import data_sets, most_clients
from teiten.plan.checks import least_memory
from teiten.plan.durations import (
    begun,
    bounded,
    installations,
    overhead,
    target,
    trials_of_all_levels,
)
from teiten.plan.estimate import disk_of_data, wal_bytes
from teiten.plan.ordering import with_sides
from teiten.ways.registry import way_of

DATA_SHARE_OF_MEMORY = 0.15
BUFFERS_FOR_DATA = 1.25
"""Shared buffers by data: all of it, the catalogues, and room for what updates add."""
SHARE_OF_FREE_DISK = 0.5
OVERHEAD_SHARE_OF_TARGET = 0.5
"""Restoring, starting and building may take this share of a campaign's time, at most."""

SHORTEST, LONGEST = 10, 300
"""Seconds of a trial whose duration is derived; 300 s are the reports' (2021 §4.4)."""
LONGEST_OF_PAIRS = 60
"""The longest trial of a sequential design: more pairs average the noise that it would."""
USUAL_CONNECTIONS = 500
"""2021 §4.3.4."""


def size(study: Study, facts: HostFacts) -> Study:
    """The study with every open value filled in: clients, scale, duration, warm-up, settings."""
    sized = replace(begun(study), machine_memory=facts.memory.total)
    way = way_of(sized.measure)
    sized = replace(sized, measure=way.sized(sized.measure, facts.cpu.logical))
    for factor in rules():
        sized = factor.sized(sized, facts)
    sized = with_sides(sized)
    sized = _with_scale(_for_memory(sized), facts)
    sized = replace(sized, measure=_timed(sized))
    measure = bounded(sized)
    blocks = measure.blocks * sized.starts_of_all
    sized = replace(sized, measure=replace(measure, blocks=blocks))
    settings = (
        setting
        if setting.value is not None
        else replace(setting, value=_DERIVATIONS[setting.name](sized))
        for setting in sized.settings
    )
    return replace(sized, settings=tuple(settings))


def _for_memory(study: Study) -> Study:
    """With the sizes of tables that are shares of the memory in force."""
    memory = memory_of(study)
    workloads = (
        replace(workload, data=plan_of_data(workload.data.kind).for_memory(workload.data, memory))
        for workload in study.workloads
    )
    return replace(study, workloads=tuple(workloads))


def _with_scale(study: Study, facts: HostFacts) -> Study:
    if all(workload.data.scale is not None for workload in study.workloads):
        return study
    kinds = {workload.data.kind for workload in study.workloads if workload.data.scale is None}
    scales = min((plan_of_data(kind).scales for kind in sorted(kinds)), key=min)
    for scale in reversed(scales):
        workloads = _at_scale(study, scale)
        if _fits(replace(study, workloads=workloads), facts):
            return replace(study, workloads=workloads)
    return replace(study, workloads=_at_scale(study, scales[0]))


def _at_scale(study: Study, scale: float) -> tuple[Workload, ...]:
    return tuple(
        workload
        if workload.data.scale is not None
        else replace(workload, data=plan_of_data(workload.data.kind).at_scale(workload.data, scale))
        for workload in study.workloads
    )


def _fits(study: Study, facts: HostFacts) -> bool:
    largest = _largest_data(study)
    disk = disk_of_data(study, installations(study)) + 2 * largest
    return (
        largest <= least_memory(study) * DATA_SHARE_OF_MEMORY
        and disk <= facts.disk.free * SHARE_OF_FREE_DISK
        and overhead(study) <= target(study) * OVERHEAD_SHARE_OF_TARGET
    )


def _timed(study: Study) -> Measure:
    """Duration and warm-up: what the target leaves for each trial."""
    measure = study.measure
    if not any(plan_of(workload.kind).lasts for workload in study.workloads):
        return replace(measure, duration=Seconds(0.0), warmup=Seconds(0.0))
    measure = way_of(measure).timed(measure, study.sides_of_a_start or 1)
    duration = measure.duration
    if duration is None:
        trials = max(1, study.measure.blocks * trials_of_all_levels(study))
        left = (target(study) - overhead(study)) / trials - measure.settle
        share = left / 1.1 if measure.warmup is None else left - measure.warmup
        longest = LONGEST if measure.sequential is None else LONGEST_OF_PAIRS
        whole = min(longest, max(SHORTEST, math.floor(share)))
        # of slices each a whole number of seconds, as pgbench needs it
        duration = Seconds(float(max(1, whole // measure.slices) * measure.slices))
    warmup = _warmup(duration) if measure.warmup is None else measure.warmup
    return replace(measure, duration=duration, warmup=warmup)


def _warmup(duration: Seconds) -> Seconds:
    """A tenth of the duration, from 1 to 30 whole seconds."""
    return Seconds(float(min(30, max(1, math.ceil(duration / 10)))))


def _largest_data(study: Study) -> Bytes:
    sets = (data for workload in study.workloads for data in data_sets(study, workload))
    return Bytes(max(map(data_bytes, sets)))


def _shared_buffers(study: Study) -> str:
    step = 64 * MIB
    needed = math.ceil(_largest_data(study) * BUFFERS_FOR_DATA / step) * step
    return exact_size(max(128 * MIB, needed))


def _work_mem(study: Study) -> str:
    share = least_memory(study) // 8 // most_clients(study)
    return exact_size(_power_of_two_below(share, (4 * MIB, GIB)))


def _maintenance_work_mem(study: Study) -> str:
    return exact_size(_power_of_two_below(least_memory(study) // 16, (64 * MIB, 2 * GIB)))


def _max_wal_size(study: Study) -> str:
    """Twice and a half what a trial may write: a checkpoint begins at about half of the setting."""
    measure = study.measure
    written = max(
        wal_bytes(workload, data_bytes(workload.data), measure.longest_load)
        for workload in study.workloads
    )
    return exact_size(max(2, math.ceil(2.5 * written / GIB)) * GIB)


def _max_connections(study: Study) -> str:
    needed = most_clients(study) + SPARE_CONNECTIONS
    return str(max(USUAL_CONNECTIONS, math.ceil(needed / 100) * 100))


_DERIVATIONS = {
    "shared_buffers": _shared_buffers,
    "work_mem": _work_mem,
    "maintenance_work_mem": _maintenance_work_mem,
    "max_wal_size": _max_wal_size,
    "max_connections": _max_connections,
}
"""``study.values.SIZED_SETTINGS``."""


def _power_of_two_below(value: int, bounds: Sequence[int]) -> int:
    least, most = bounds
    return min(most, max(least, 1 << max(0, value.bit_length() - 1)))
