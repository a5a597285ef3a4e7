"""The volumes of data: the disk that clusters need on each storage class, by where their parts lie,
and the costs of moving and writing a data set; pure.

The rates are assumptions on the careful side for one SSD of a small server; they size a campaign
and fill its forecast, and enter no result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from teiten.datasets.plan import data_bytes
from teiten.model.plan import PlannedTrial
from teiten.model.settings import size_setting
from teiten.model.storage import Part
from teiten.model.study import Study, Workload
from teiten.model.units import GIB, MIB, Bytes, Seconds

SHARES: Mapping[Part, float] = {Part.TABLES: 1.0, Part.INDEXES: 0.6}
"""Shares of the template's size, at most; both together have no more than all of it."""
DATA_BYTES = Bytes(96 * MIB)
"""Size of a data directory without tables, indexes and WAL."""
WAL_BYTES = Bytes(256 * MIB)
"""Besides what a trial writes: files that are there before."""
MEASURED_BYTES = Bytes(GIB // 2)
"""Disk that measuring a storage takes, before any cluster is there."""
HEADROOM = 1.1


def storage_needs(study: Study, trials: Iterable[PlannedTrial]) -> tuple[tuple[str, Bytes], ...]:
    """By the name of each storage class that a placement uses: one trial's clusters at a time."""
    most: dict[str, float] = defaultdict(float)
    for trial in trials:
        needed: dict[str, float] = defaultdict(float)
        for name, size in _of_trial(study, trial):
            needed[name] += size
        for name, size in needed.items():
            most[name] = max(most[name], size, MEASURED_BYTES)
    names = [storage_class.name for storage_class in study.storage if storage_class.name in most]
    return tuple((name, Bytes(int(most[name] * HEADROOM))) for name in names)


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


def _of_trial(study: Study, trial: PlannedTrial) -> Iterator[tuple[str, float]]:
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
    data = Bytes(sum(data_bytes(template.data) for template in trial.templates))
    wal = min(limit, wal_bytes(workload, data, load))
    yield placement.of(Part.WAL), float(WAL_BYTES + wal)


COPY_RATE = 400 * MIB
"""Bytes per second of restoring a cluster without reflinks."""
PREWARM_RATE = 1 * GIB
WAL_RATE = 60 * MIB
"""Bytes of WAL per second that updates are expected to write at most."""


def restore_seconds(size: int) -> Seconds:
    return Seconds(size / COPY_RATE)


def prewarm_seconds(size: int) -> Seconds:
    return Seconds(size / PREWARM_RATE)


def wal_bytes(workload: Workload, size: int, seconds: float) -> Bytes:
    """Bound a trial's WAL: every page once in full after the CHECKPOINT, then the changes."""
    if not workload.changes_data:
        return Bytes(64 * MIB)
    return Bytes(size + int(WAL_RATE * seconds))
