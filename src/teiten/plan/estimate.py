"""Needs of a campaign: time, disk (on each storage class too) and memory, estimated before anything
is started.

The rates are assumptions on the careful side for one SSD of a small server; they size a campaign
and fill its forecast, and enter no result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from teiten.datasets.plan import build_seconds, data_bytes, is_laid_out, template_bytes
from teiten.kinds.contract import plan_of
from teiten.model.plan import ClusterKey, Needs, PlannedTrial, TemplateSpec, of_each_kind
from teiten.model.settings import size_setting
from teiten.model.storage import Part
from teiten.model.study import DataSet, Study, Workload
from teiten.model.units import GIB, MIB, Bytes, Seconds
from teiten.plan.cells import data_sets
from teiten.plan.sites.of import starts
from teiten.ways.registry import servers_of_a_start, sides_of_a_second, way_of

START_SECONDS = 0.6
"""Starting a server and connecting."""
END_SECONDS = 0.9
"""Collecting, checking, stopping, recording."""
STATEMENT_SECONDS = 0.1
"""Collecting, checking and recording a statement on a server that stays up."""
EMULATION_SECONDS = 0.1
"""Control groups and the network of one emulated node, made and removed."""
SLICE_SECONDS = 0.15
"""Overhead of a slice besides its measured seconds: starting pgbench and the telemetry, and ending
them."""
REHEARSAL_SECONDS = 1.5
"""Trying a server and a script once before the first trial."""

CHECKED_PER_SECOND = GIB
"""Bytes per second at which a limit of memory is read through once to see that it holds."""

PROFILE_SECONDS = 4.0
"""Attaching perf, and making stacks of its samples."""

CLIENT_BYTES = 8 * MIB
"""A backend, with what it caches of the catalogues, and its part of pgbench."""
OTHER_BYTES = 400 * MIB
"""Teiten, pgbench, and the server's own processes."""
IDLE_BYTES = 64 * MIB
"""The processes of a server that waits for its turn."""
PAGE_TABLE_SHARE = 512
"""Without huge pages each backend maps a page of 4 KiB by an entry of 8 bytes."""

LOG_BYTES = 64 * MIB
"""pgbench's transaction log on its way into the histogram, and the server's log."""
EVIDENCE_BYTES = 1 * MIB
"""Disk that a trial takes in the ledger and beside it."""
PROFILE_BYTES = 600 * MIB
"""perf's copies of stacks in one window, before they are folded."""
HEADROOM = 1.05


def trial_seconds(
    study: Study,
    workload: Workload,
    size: int,
    *,
    restores: bool = False,
    starts: bool = True,
    nodes: int = 1,
) -> Seconds:
    """Estimate the time of one trial on ``size`` bytes of data, its share of what all sides of a
    start have together; an open duration counts nothing.

    ``starts``: False where its servers are up from the pair before, or from another statement;
    ``nodes``: servers, started one by one.
    """
    measure = study.measure
    seconds: float = load_seconds(study, workload, warm=not starts)
    seconds += SLICE_SECONDS * way_of(measure).parts(measure)
    if not starts:
        ending = END_SECONDS if plan_of(workload.kind).lasts else STATEMENT_SECONDS
        return Seconds(seconds + ending)
    seconds += measure.settle / servers_of_a_start(study) + START_SECONDS * nodes + END_SECONDS
    if restores:
        seconds += size / COPY_RATE
    if measure.prewarm:
        seconds += prewarm_seconds(size)
    if measure.flame_graph:
        seconds += measure.flame_graph_window + PROFILE_SECONDS
    return Seconds(seconds)


def load_seconds(study: Study, workload: Workload, *, warm: bool = False) -> Seconds:
    """Compute a trial's share of the load of all sides that it is shared by: warm-up and measuring,
    the latter alone where a load that lasts finds a server that is ``warm``."""
    kind, measure = plan_of(workload.kind), study.measure
    if warm and kind.lasts and not way_of(measure).concurrent:
        measure = replace(measure, warmup=Seconds(0.0))
    alone = kind.load_seconds(measure, workload)
    return Seconds(alone / sides_of_a_second(study))


def estimate(
    study: Study,
    trials: Sequence[PlannedTrial],
    templates: Sequence[TemplateSpec],
    ready: Collection[str] = (),
) -> Needs:
    """Estimate what the trials of a sized study need of the machine.

    ``ready``: fingerprints of templates that exist already; they cost neither time nor disk.
    """
    missing = [template for template in templates if template.fingerprint not in ready]
    storages = storage_needs(study, trials)
    preparing, of_trials = _preparing(study, trials, missing), sum(_trial_times(study, trials))
    measured = sum(_measured(study, trial) for trial in trials)
    sequential = study.measure.sequential
    if sequential is not None and sequential.budget is not None:
        within = min(of_trials, max(0.0, sequential.budget - preparing))
        of_trials, measured = within, measured * within / of_trials
    return Needs(
        seconds=Seconds(preparing + of_trials),
        measured_seconds=Seconds(measured),
        disk=Bytes(_disk(study, trials, missing) + working_folder_needs(study, storages)),
        memory=_memory(study, trials),
        directories=(
            *(
                (place, Bytes(int(_clusters(study, trials, place) * HEADROOM)))
                for place in dict.fromkeys(trial.directory for trial in trials)
                if place is not None
            ),
            *folder_needs(study, storages),
        ),
        storages=storages,
    )


def disk_of_data(study: Study, installations: int) -> Bytes:
    """Templates and clones of a study's workloads, for as many installations; WAL not included."""
    sets: dict[DataSet, bool] = {}
    for workload in study.workloads:
        for data in data_sets(study, workload):
            sets[data] = sets.get(data, False) or not study.restores(workload)
    sizes = {data: template_bytes(data) for data in sets}
    templates = sum(sizes.values())
    kept = sum(size for data, size in sizes.items() if sets[data])
    return Bytes(installations * (templates + kept) + max(sizes.values(), default=0))


def _measured(study: Study, trial: PlannedTrial) -> float:
    workload = study.workload(trial.cell.workload)
    alone = plan_of(workload.kind).measured_seconds(study.measure, workload)
    return alone / sides_of_a_second(study)


def _preparing(
    study: Study, trials: Sequence[PlannedTrial], missing: Sequence[TemplateSpec]
) -> float:
    rehearsed = of_each_kind(study.measure, trials)
    built = sum(build_seconds(template.data) for template in missing)
    limits = {limit for trial in trials for limit in trial.memory_limits}
    return built + REHEARSAL_SECONDS * len(rehearsed) + sum(limits) / CHECKED_PER_SECOND


def _trial_times(study: Study, trials: Sequence[PlannedTrial]) -> Iterable[float]:
    cloned: set[tuple[object, ...]] = set()
    started: set[tuple[int, ...]] = set()
    for trial in trials:
        workload = study.workload(trial.cell.workload)
        clusters = {(trial.cluster_of(node), trial.directory) for node, _ in trial.nodes}
        changed = study.restores(workload) or trial.placement is not None
        restores = changed or not clusters <= cloned
        if not changed:
            cloned |= clusters
        else:
            cloned -= clusters
        start = (trial.restart, trial.copy)
        starts = not trial.restart or start not in started
        started.add(start)
        size, nodes = _data_bytes(trial), len(trial.templates)
        seconds = trial_seconds(
            study, workload, size, restores=restores, starts=starts, nodes=nodes
        )
        yield seconds + (_emulation(trial) + _relinking(study, trial) if starts else 0.0)


def _relinking(study: Study, trial: PlannedTrial) -> float:
    """Linking the servers of a round in another order, where their objects were kept."""
    if not study.measure.rounds:
        return 0.0
    return sum(template.installation.relink_seconds or 0.0 for template in trial.templates)


def _emulation(trial: PlannedTrial) -> float:
    """Making machines of a trial's nodes, and reading their files anew, which left the page
    cache. What is read before the measurement is not held to a node's bandwidth."""
    if not trial.machines:
        return 0.0
    return EMULATION_SECONDS * len(trial.machines) + prewarm_seconds(_data_bytes(trial))


def _data_bytes(trial: PlannedTrial) -> Bytes:
    """Sum the data of all nodes, in bytes."""
    return Bytes(sum(data_bytes(template.data) for template in trial.templates))


def _disk(study: Study, trials: Sequence[PlannedTrial], missing: Sequence[TemplateSpec]) -> Bytes:
    """In the working folder: templates, logs, evidence, and the clusters that are not elsewhere."""
    built = sum(template.expected_bytes for template in missing if starts(template.installation))
    making = (data_bytes(template.data) for template in missing if is_laid_out(template.data))
    # while one template is laid out its tables are there twice; the clusters come after that
    clusters = max(_clusters(study, trials, None), max(making, default=0))
    evidence = LOG_BYTES + EVIDENCE_BYTES * len(trials)
    if study.measure.flame_graph:
        evidence += PROFILE_BYTES
    return Bytes(int((built + clusters + evidence) * HEADROOM))


def _clusters(study: Study, trials: Sequence[PlannedTrial], place: str | None) -> int:
    """The clones of one folder, with the WAL that the largest trial writes."""
    kept: dict[ClusterKey, int] = {}
    changed = 0
    wal = 0
    for trial in trials:
        if (
            trial.directory != place
            or trial.placement is not None
            or not starts(trial.template.installation)
        ):
            continue
        workload = study.workload(trial.cell.workload)
        sizes = {
            trial.cluster_of(node): int(template.expected_bytes) for node, template in trial.nodes
        }
        if study.restores(workload):
            changed = max(changed, sum(sizes.values()))
        else:
            kept |= sizes
        load = study.measure.longest_load
        limit = size_setting(dict(trial.settings), "max_wal_size") * len(trial.templates)
        wal = max(wal, min(limit, wal_bytes(workload, _data_bytes(trial), load)))
    return sum(kept.values()) + servers_of_a_start(study) * (changed + wal)


def _memory(study: Study, trials: Sequence[PlannedTrial]) -> Bytes:
    """Estimate the memory of the most demanding servers that run at the same time, and of the
    clients of one of them, or of all where they are loaded at the same time."""
    together: dict[tuple[int, int], dict[int, PlannedTrial]] = {}
    for trial in trials:
        start = (trial.restart, 0 if trial.restart else trial.number)
        servers = together.setdefault(start, {})
        known = servers.setdefault(trial.copy, trial)
        if _load_memory(study, trial) > _load_memory(study, known):
            servers[trial.copy] = trial
    most = max((_memory_of_pair(study, pair.values()) for pair in together.values()), default=0)
    return Bytes(most + OTHER_BYTES)


def _memory_of_pair(study: Study, pair: Collection[PlannedTrial]) -> int:
    own = [trial for trial in pair if starts(trial.template.installation)]
    if not own:  # pgbench alone; buffers are there already
        return 0
    if any(trial.memory_limits for trial in own):  # which the page cache fills as well
        return sum(sum(trial.memory_limits) or within(study, trial) for trial in own)
    servers = sum(_buffers(trial) for trial in own)
    loads = [_load_memory(study, trial) for trial in own]
    if way_of(study.measure).concurrent:
        return servers + sum(loads)
    idle = sum(len(trial.templates) for trial in own) - 1
    return servers + max(loads) + idle * IDLE_BYTES


def within(study: Study, trial: PlannedTrial) -> Bytes:
    """The memory of a trial's servers under their load, without any page cache."""
    idle = IDLE_BYTES * len(trial.templates)
    return Bytes(_buffers(trial) + _load_memory(study, trial) + idle)


def _buffers(trial: PlannedTrial) -> int:
    """Shared buffers of all nodes, with their descriptors."""
    of_one = int(size_setting(dict(trial.settings), "shared_buffers") * 1.02)
    return of_one * len(trial.templates)


def _load_memory(study: Study, trial: PlannedTrial) -> int:
    """The servers' processes that work for the load, and the buffers that each has mapped."""
    buffers = size_setting(dict(trial.settings), "shared_buffers")
    mapped = [min(buffers, data_bytes(template.data)) for template in trial.templates]
    processes = plan_of(study.workload(trial.cell.workload).kind).processes(trial)
    return sum(
        processes * (CLIENT_BYTES + buffers_of_node // PAGE_TABLE_SHARE)
        for buffers_of_node in mapped
    )


SHARES: Mapping[Part, float] = {Part.TABLES: 1.0, Part.INDEXES: 0.6}
"""Shares of the template's size, at most; both together have no more than all of it."""
DATA_BYTES = Bytes(96 * MIB)
"""Size of a data directory without tables, indexes and WAL."""
WAL_BYTES = Bytes(256 * MIB)
"""Besides what a trial writes: files that are there before."""
MEASURED_BYTES = Bytes(GIB // 2)
"""Disk that measuring a storage takes, before any cluster is there."""
STORAGE_HEADROOM = 1.1


def storage_needs(study: Study, trials: Iterable[PlannedTrial]) -> tuple[tuple[str, Bytes], ...]:
    """By the name of each storage class that a placement uses: one trial's clusters at a time."""
    most: dict[str, float] = defaultdict(float)
    for trial in trials:
        needed: dict[str, float] = defaultdict(float)
        for name, size in _on_storages(study, trial):
            needed[name] += size
        for name, size in needed.items():
            most[name] = max(most[name], size, MEASURED_BYTES)
    names = [storage_class.name for storage_class in study.storage if storage_class.name in most]
    return tuple((name, Bytes(int(most[name] * STORAGE_HEADROOM))) for name in names)


def folder_needs(study: Study, needs: Iterable[tuple[str, Bytes]]) -> Iterator[tuple[str, Bytes]]:
    """List the needs of storage classes by their folder: an emulated device takes its whole size
    where its file is."""
    for name, size in needs:
        storage_class, emulation = study.storage_class(name), study.storage_class(name).emulation
        if storage_class.path:
            yield storage_class.path, size if emulation is None else emulation.size


def working_folder_needs(study: Study, needs: Iterable[tuple[str, Bytes]]) -> int:
    """Sum what emulated devices take in Teiten's own folder, in bytes."""
    used = (study.storage_class(name) for name, _ in needs)
    own = (storage_class.emulation for storage_class in used if not storage_class.path)
    return sum(emulation.size for emulation in own if emulation is not None)


def _on_storages(study: Study, trial: PlannedTrial) -> Iterator[tuple[str, float]]:
    placement = trial.placement
    if placement is None:
        return
    size = sum(template.expected_bytes for template in trial.templates)
    tables, indexes = placement.of(Part.TABLES), placement.of(Part.INDEXES)
    if tables == indexes:
        yield tables, float(size)
    else:
        yield tables, size * SHARES[Part.TABLES]
        yield indexes, size * SHARES[Part.INDEXES]
    yield placement.of(Part.DATA), float(DATA_BYTES)
    load = (study.measure.warmup or 0.0) + (study.measure.duration or 0.0)
    limit = size_setting(dict(trial.settings), "max_wal_size")
    workload = study.workload(trial.cell.workload)
    wal = min(limit, wal_bytes(workload, _data_bytes(trial), load))
    yield placement.of(Part.WAL), float(WAL_BYTES + wal)


COPY_RATE = 400 * MIB
"""Bytes per second of restoring a cluster without reflinks."""
PREWARM_RATE = 1 * GIB
WAL_RATE = 60 * MIB
"""Bytes of WAL per second that updates are expected to write at most."""


def prewarm_seconds(size: int) -> Seconds:
    return Seconds(size / PREWARM_RATE)


def wal_bytes(workload: Workload, size: int, seconds: float) -> Bytes:
    """Bound a trial's WAL: every page once in full after the CHECKPOINT, then the changes."""
    if not workload.changes_data:
        return Bytes(64 * MIB)
    return Bytes(size + int(WAL_RATE * seconds))
