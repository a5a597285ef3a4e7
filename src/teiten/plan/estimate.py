"""What a campaign needs: time, disk and memory, before anything is started."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from teiten.model.plan import Needs, PlannedTrial, TemplateSpec
from teiten.model.study import DataSet, Measure, Study, Workload, WorkloadKind
from teiten.model.units import MIB, Bytes, Seconds
from teiten.plan import volumes
from teiten.plan.settings import size_setting

START_SECONDS = 0.6
"""Starting a server and connecting."""
END_SECONDS = 0.9
"""Collecting, checking, stopping, recording."""
REHEARSAL_SECONDS = 1.5
"""Trying a server and a script once before the first trial."""

CLIENT_BYTES = 8 * MIB
"""A backend, with what it caches of the catalogues, and its part of pgbench."""
OTHER_BYTES = 400 * MIB
"""Teiten, pgbench, and the server's own processes."""
PAGE_TABLE_SHARE = 512
"""Without huge pages each backend maps a page of 4 KiB by an entry of 8 bytes."""

LOG_BYTES = 64 * MIB
"""pgbench's transaction log on its way into the histogram, and the server's log."""
EVIDENCE_BYTES = 1 * MIB
"""What a trial leaves in the ledger and beside it."""
CLUSTER_BYTES = 48 * MIB
"""An empty cluster with its first WAL segment, beyond its data."""
HEADROOM = 1.05


@dataclass(frozen=True)
class TrialTime:
    """The seconds of a trial by step."""

    restore: Seconds
    prewarm: Seconds
    load: Seconds
    """Settling, warm-up and measuring."""
    fixed: Seconds
    """Starting, collecting, checking, stopping."""

    @property
    def total(self) -> Seconds:
        return Seconds(self.restore + self.prewarm + self.load + self.fixed)


def trial_time(
    measure: Measure, size: int, *, restores: bool, load: Seconds | None = None
) -> TrialTime:
    """The time of one trial on ``size`` bytes of data; an open duration counts nothing.

    ``load``: warm-up and measuring, where that is not the measure's.
    """
    if load is None:
        load = Seconds((measure.warmup or 0.0) + (measure.duration or 0.0))
    return TrialTime(
        restore=volumes.restore_seconds(size) if restores else Seconds(0.0),
        prewarm=volumes.prewarm_seconds(size) if measure.prewarm else Seconds(0.0),
        load=Seconds(measure.settle + load),
        fixed=Seconds(START_SECONDS + END_SECONDS),
    )


def estimate(
    study: Study,
    trials: Sequence[PlannedTrial],
    templates: Sequence[TemplateSpec],
    ready: Collection[str] = (),
) -> Needs:
    """What the trials of a sized study need of the machine.

    ``ready``: fingerprints of templates that exist already; they cost neither time nor disk.
    """
    missing = [template for template in templates if template.fingerprint not in ready]
    return Needs(
        seconds=Seconds(_preparing(trials, missing) + sum(_trial_times(study, trials))),
        measured_seconds=Seconds(sum(_measured(study, trial) for trial in trials)),
        disk=_disk(study, trials, missing),
        memory=_memory(trials),
    )


def disk_of_data(installations: int, workloads: Iterable[Workload]) -> Bytes:
    """Templates and clones of these workloads, for as many installations; WAL not included."""
    sets: dict[DataSet, bool] = {}
    for workload in workloads:
        sets[workload.data] = sets.get(workload.data, False) or not workload.changes_data
    sizes = {data: volumes.data_bytes(data) + CLUSTER_BYTES for data in sets}
    templates = sum(sizes.values())
    kept = sum(size for data, size in sizes.items() if sets[data])
    return Bytes(installations * (templates + kept) + max(sizes.values(), default=0))


def _measured(study: Study, trial: PlannedTrial) -> float:
    workload = study.workload(trial.cell.workload)
    if workload.kind is WorkloadKind.QUERIES:
        return volumes.QUERY_SECONDS * workload.runs
    return study.measure.duration or 0.0


def _preparing(trials: Sequence[PlannedTrial], missing: Sequence[TemplateSpec]) -> float:
    kinds = {
        (trial.template.fingerprint, trial.settings, trial.cell.workload, trial.query_mode)
        for trial in trials
    }
    built = sum(volumes.build_seconds(template.data) for template in missing)
    return built + REHEARSAL_SECONDS * len(kinds)


def _trial_times(study: Study, trials: Sequence[PlannedTrial]) -> Iterable[float]:
    cloned: set[tuple[str, int]] = set()
    for trial in trials:
        workload = study.workload(trial.cell.workload)
        cluster = (trial.template.fingerprint, trial.copy)
        restores = workload.changes_data or cluster not in cloned
        if not workload.changes_data:
            cloned.add(cluster)
        else:
            cloned.discard(cluster)
        size = volumes.data_bytes(trial.template.data)
        load = volumes.load_seconds(study.measure, workload)
        yield trial_time(study.measure, size, restores=restores, load=load).total


def _disk(study: Study, trials: Sequence[PlannedTrial], missing: Sequence[TemplateSpec]) -> Bytes:
    kept: dict[tuple[str, int], int] = {}
    changed = 0
    wal = 0
    for trial in trials:
        workload = study.workload(trial.cell.workload)
        size = int(trial.template.expected_bytes)
        if workload.changes_data:
            changed = max(changed, size)
        else:
            kept[trial.template.fingerprint, trial.copy] = size
        load = (study.measure.warmup or 0.0) + (study.measure.duration or 0.0)
        limit = size_setting(dict(trial.settings), "max_wal_size")
        data = volumes.data_bytes(trial.template.data)
        wal = max(wal, min(limit, volumes.wal_bytes(workload, data, load)))
    clones = changed + sum(kept.values())
    built = sum(template.expected_bytes for template in missing)
    return Bytes(int((built + clones + wal + LOG_BYTES + EVIDENCE_BYTES * len(trials)) * HEADROOM))


def _memory(trials: Sequence[PlannedTrial]) -> Bytes:
    return Bytes(max((_trial_memory(trial) for trial in trials), default=OTHER_BYTES))


def _trial_memory(trial: PlannedTrial) -> int:
    buffers = size_setting(dict(trial.settings), "shared_buffers")
    mapped = min(buffers, volumes.data_bytes(trial.template.data))
    each = CLIENT_BYTES + mapped // PAGE_TABLE_SHARE
    return int(buffers * 1.02) + trial.clients * each + OTHER_BYTES
