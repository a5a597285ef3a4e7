"""The bottleneck of a plateau (METHOD.md, Bottlenecks): a statement, or why there is none.

A statement needs a plateau, a ceiling of the resource that the readings come near to, and waits for
it in more than half of the active backends' time. Since two resources cannot both have more than
half, and a full write bandwidth and a commit latency exclude one another, at most one rule holds.

Where commits wait for the disk, one flush serves all who wait (group commit, since 9.2), so that
throughput goes on rising with the clients while the flushes do not: there the plateau is theirs.

Wait events by the resource that they wait for, in the names of PostgreSQL 9.6 to 18.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from statistics import fmean

import numpy as np

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.node_series import POSTGRES, find_series, waits_of
from teiten.model.bottleneck import (
    Abstained,
    Abstention,
    Ceilings,
    Consistent,
    Evidence,
    Finding,
    Readings,
    Resource,
)
from teiten.model.trial import FloatArray
from teiten.model.units import Share

RUNNING = "CPU"
"""Backends without a wait event."""
FOR_THE_CLIENT = "client:clientread"
"""The wait event of an active backend between two messages of a statement: not a server's
resource."""


class WaitGroup(StrEnum):
    RUNNING = "running"
    FLUSH = "flush"
    """WAL made durable, and those who queue behind the one who does it."""
    WRITE = "write"
    """WAL and data written without being made durable at once."""
    READ = "read"
    LOCK = "lock"
    OTHER = "other"


EVENTS = {
    WaitGroup.FLUSH: {
        "io:walsync",
        "io:walinitsync",
        "io:walsyncmethodassign",
        "lwlock:walwrite",
        "lwlock:walwritelock",
    },
    WaitGroup.WRITE: {
        "io:walwrite",
        "io:walinitwrite",
        "io:datafileextend",
        "io:datafileflush",
        "io:datafileimmediatesync",
        "io:datafilesync",
        "io:datafiletruncate",
        "io:datafilewrite",
        "io:buffilewrite",
        "io:slruflushsync",
        "io:slrusync",
        "io:slruwrite",
    },
    WaitGroup.READ: {
        "io:aioiocompletion",
        "io:aioiouringexecution",
        "io:aioiouringsubmit",
        "io:buffileread",
        "io:datafileprefetch",
        "io:datafileread",
        "io:slruread",
        "io:walread",
        "ipc:bufferio",
        "lwlock:bufferio",
        "lwlock:buffer_io",
    },
}
GROUPS = {event: group for group, events in EVENTS.items() for event in events}
LOCK_TYPES = ("lock:", "lwlock:", "lwlocknamed:", "lwlocktranche:", "bufferpin:", "buffer:")


def group_of(event: str) -> WaitGroup:
    """The group of ``Type:Event``; the case differs between versions (WALSync, WalSync)."""
    if event == RUNNING:
        return WaitGroup.RUNNING
    name = event.lower().replace("lwlocknamed:", "lwlock:").replace("lwlocktranche:", "lwlock:")
    if name in GROUPS:
        return GROUPS[name]
    return WaitGroup.LOCK if name.startswith(LOCK_TYPES) else WaitGroup.OTHER


def shares(waits: Mapping[str, float]) -> dict[WaitGroup, float]:
    """The part of the active backends' time in each group; empty where no backend was seen."""
    counted = {
        event: value
        for event, value in waits.items()
        if value > 0 and event.lower() != FOR_THE_CLIENT
    }
    total = sum(counted.values())
    if not total > 0:
        return {}
    by_group = dict.fromkeys(WaitGroup, 0.0)
    for event, value in counted.items():
        by_group[group_of(event)] += value / total
    return by_group


DOMINANT = 0.5
"""A group of waits with more than this share of the active backends' time."""
NEAR = 0.9
"""The share of a ceiling from which a bandwidth or a rate of requests is near it."""
NEAR_FSYNCS = 0.7
"""A commit writes more than the ceiling's 8 kB, above all after a checkpoint."""
FLAT = 0.1
"""By how much flushes may still rise from one load to the next on their plateau."""
MOST_BANDWIDTH = 0.5
"""The share of the write ceiling below which a wait for WAL is one for latency."""
BUSY = 0.05
"""Idle share below which the processors are the limit."""
IDLE = 0.2
"""Idle share above which they are not."""
CLIENT_BOUND = 0.95
"""The busy share, as in the check of a trial, from which the load generator had no time left."""
PRESSURE_OF_IO = 0.25
"""Time in which some task waited for a disk, below which pressure objects. The kernel counts the
one backend that flushes, not those that wait for its flush."""
PRESSURE_OF_CPU = 0.5
"""Time in which some task waited for a core, below which pressure objects, as a share of the time
in which one of the clients cannot have one; as many clients as cores fill them without any
waiting."""
BLOCK = 8192
RISING = 0.02
"""A hit ratio that rises by more from the smallest load on objects to reads as the limit."""

Waits = Mapping[WaitGroup, float]


def judge(readings: Readings, ceilings: Ceilings | None) -> Finding:
    """The one resource that the plateau is consistent with, or an abstention with its reason."""
    if not readings.plateau:
        return _while_rising(readings, ceilings)
    if ceilings is None:
        return Abstained(Abstention.NO_CEILINGS, ())
    if readings.generator is not None and readings.generator >= CLIENT_BOUND:
        return Consistent(Resource.CLIENT, (("generator_share", readings.generator),))
    waits = shares(readings.waits)
    if not waits:
        return Abstained(Abstention.NO_WAITS, ())
    rule = _rule(waits)
    if rule is None:
        most = max(waits, key=lambda group: waits[group])
        return Abstained(Abstention.NO_DOMINANT_WAIT, ((f"waits_{most.value}", waits[most]),))
    return rule(readings, ceilings, waits)


def _while_rising(readings: Readings, ceilings: Ceilings | None) -> Finding:
    """Throughput still grows: only flushes can have reached their plateau."""
    waits = shares(readings.waits)
    before, now = readings.fsyncs_before, readings.fsyncs
    flat = before is not None and now is not None and now <= (1 + FLAT) * before
    if ceilings is not None and waits and flat and waits[WaitGroup.FLUSH] > DOMINANT:
        finding = _write(readings, ceilings, waits)
        if isinstance(finding, Consistent) and finding.resource is Resource.COMMIT_LATENCY:
            evidence = (*finding.evidence, *_known("fsyncs_before", before))
            return Consistent(Resource.COMMIT_LATENCY, evidence)
    return Abstained(Abstention.NO_PLATEAU, ())


def _rule(waits: Waits) -> Callable[[Readings, Ceilings, Waits], Finding] | None:
    if waits[WaitGroup.RUNNING] > DOMINANT:
        return _cpu
    if waits[WaitGroup.FLUSH] + waits[WaitGroup.WRITE] > DOMINANT:
        return _write
    if waits[WaitGroup.READ] > DOMINANT:
        return _read
    return _lock if waits[WaitGroup.LOCK] > DOMINANT else None


def _cpu(readings: Readings, ceilings: Ceilings, waits: Waits) -> Finding:
    idle = _idle(readings, ceilings)
    if idle is None:
        return _not_seen(waits, WaitGroup.RUNNING)
    evidence = (
        ("idle_share", idle),
        ("cores", ceilings.cores),
        ("waits_running", waits[WaitGroup.RUNNING]),
        *_known("pressure_cpu", readings.pressure_cpu),
    )
    waiting = max(0.0, 1 - ceilings.cores / max(readings.clients, 1.0))
    holds = idle < BUSY and _pressed(readings.pressure_cpu, PRESSURE_OF_CPU * waiting)
    return _found(Resource.CPU, evidence, holds)


def _write(readings: Readings, ceilings: Ceilings, waits: Waits) -> Finding:
    """Bandwidth where it is full; else latency where it is not and the flushes dominate."""
    if readings.written is None:
        return _not_seen(waits, WaitGroup.FLUSH, WaitGroup.WRITE)
    flushes = waits[WaitGroup.FLUSH]
    ceiling = _write_ceiling(readings, ceilings)
    used = readings.written / ceiling
    if used >= MOST_BANDWIDTH:
        idle = _idle(readings, ceilings)
        evidence = (
            ("written", readings.written),
            ("write_ceiling", ceiling),
            ("waits_write", flushes + waits[WaitGroup.WRITE]),
            *_known("idle_share", idle),
            *_known("pressure_io", readings.pressure_io),
        )
        holds = used >= NEAR and idle is not None and idle > IDLE
        pressed = _pressed(readings.pressure_io, PRESSURE_OF_IO)
        return _found(Resource.WRITE_BANDWIDTH, evidence, holds and pressed)
    if flushes <= DOMINANT or readings.fsyncs is None:
        return _not_seen(waits, WaitGroup.FLUSH, WaitGroup.WRITE)
    evidence = (
        ("fsyncs", readings.fsyncs),
        ("fsync_ceiling", ceilings.fsyncs),
        ("waits_flush", flushes),
        ("written", readings.written),
        ("write_ceiling", ceiling),
    )
    holds = readings.fsyncs >= NEAR_FSYNCS * ceilings.fsyncs
    return _found(Resource.COMMIT_LATENCY, evidence, holds)


def _write_ceiling(readings: Readings, ceilings: Ceilings) -> float:
    """Choose the ceiling of the pattern that waits show, in bytes per second: WAL is written in
    sequence, data files here and there."""
    of_wal = sum(value for event, value in readings.waits.items() if "wal" in event.lower())
    of_data = sum(value for event, value in readings.waits.items() if "datafile" in event.lower())
    if of_wal >= of_data:
        return ceilings.sequential_write
    return ceilings.random_writes * BLOCK


def _read(readings: Readings, ceilings: Ceilings, waits: Waits) -> Finding:
    """Near the ceiling of bandwidth or of requests, whichever is nearer."""
    if readings.read is None or readings.reads is None:
        return _not_seen(waits, WaitGroup.READ)
    used = max(readings.read / ceilings.sequential_read, readings.reads / ceilings.random_reads)
    before, now = readings.hit_ratio_below, readings.hit_ratio
    rising = before is not None and now is not None and now > before + RISING
    evidence = (
        ("read", readings.read),
        ("read_ceiling", ceilings.sequential_read),
        ("reads", readings.reads),
        ("reads_ceiling", ceilings.random_reads),
        ("waits_read", waits[WaitGroup.READ]),
        *_known("hit_ratio", now),
        *_known("hit_ratio_below", before),
    )
    return _found(Resource.READ, evidence, used >= NEAR and not rising)


def _lock(readings: Readings, ceilings: Ceilings, waits: Waits) -> Finding:
    """Locks have no ceiling of their own: that of the processors must be far."""
    idle = _idle(readings, ceilings)
    if idle is None:
        return _not_seen(waits, WaitGroup.LOCK)
    evidence = (
        ("waits_lock", waits[WaitGroup.LOCK]),
        ("idle_share", idle),
        ("cores", ceilings.cores),
    )
    return _found(Resource.LOCK, evidence, idle > IDLE)


def _idle(readings: Readings, ceilings: Ceilings) -> float | None:
    """Compute the idle share of the processor time that programs can get here, which a quota makes
    less than the cores; None where it was not seen."""
    if readings.cpu_cores is None:
        return None
    return max(0.0, 1 - readings.cpu_cores / ceilings.cores)


def _pressed(pressure: float | None, least: float) -> bool:
    """Not every kernel counts pressure; where it does, it must not object."""
    return pressure is None or pressure >= least


def _found(resource: Resource, evidence: Evidence, holds: bool) -> Finding:
    if holds:
        return Consistent(resource, evidence)
    return Abstained(Abstention.BELOW_CEILING, evidence)


def _not_seen(waits: Waits, *groups: WaitGroup) -> Abstained:
    seen = tuple((f"waits_{group.value}", waits[group]) for group in groups)
    return Abstained(Abstention.NOT_SEEN, seen)


def _known(name: str, value: float | None) -> Evidence:
    return () if value is None else ((name, value),)


DISK = "disk:"

Of = Callable[[TrialView], float]
"""A number of a trial; NaN where it was not seen."""


def read(
    trials: Sequence[TrialView],
    below: Sequence[TrialView],
    before: Sequence[TrialView],
    *,
    clients: float,
    plateau: bool,
    cores: int,
    threads: Mapping[int, int],
    client_cores: int | None = None,
) -> Readings:
    """The readings of a level.

    ``below``: the trials of the smallest load; ``before``: of the next smaller one. ``cores``:
    online, of which the shares are. ``threads``: of the load generator, by the trial's number.
    ``client_cores``: those of the load generator's host, where that is another.
    """

    def generator(trial: TrialView) -> float:
        if client_cores is None:
            used = cores * trial.metric("pgbench_cpu_share")
        else:
            used = client_cores * trial.metric("client_pgbench_cpu_share")
        return used / threads[trial.number]

    def busy(trial: TrialView) -> float:
        shares = (trial.metric(f"cpu_{state}_share") for state in ("user", "system"))
        return cores * sum(shares)

    return Readings(
        plateau=plateau,
        clients=clients,
        waits=dict(sorted(waits_of(trials).items())),
        cpu_cores=_level(trials, busy),
        generator=_share(trials, generator),
        written=_level(trials, lambda trial: _rate(trial, "disk_written_bytes")),
        read=_level(trials, lambda trial: _rate(trial, "disk_read_bytes")),
        reads=_level(trials, lambda trial: _series_mean(trial, DISK, "reads_per_second")),
        fsyncs=_level(trials, _fsyncs),
        fsyncs_before=_level(before, _fsyncs),
        hit_ratio=_share(trials, _hit_ratio),
        hit_ratio_below=_share(below, _hit_ratio),
        pressure_io=_share(trials, lambda trial: _series_mean(trial, "os", "pressure_io_share")),
        pressure_cpu=_share(trials, lambda trial: _series_mean(trial, "os", "pressure_cpu_share")),
    )


def _level(trials: Sequence[TrialView], of: Of) -> float | None:
    values = [value for value in map(of, trials) if math.isfinite(value)]
    return fmean(values) if values else None


def _share(trials: Sequence[TrialView], of: Of) -> Share | None:
    value = _level(trials, of)
    return None if value is None else Share(value)


def _rate(trial: TrialView, name: str) -> float:
    seconds = trial.metric("measured_seconds")
    return trial.metric(name) / seconds if seconds > 0 else math.nan


def _fsyncs(trial: TrialView) -> float:
    return _series_mean(trial, POSTGRES, "wal_syncs_per_second")


def _hit_ratio(trial: TrialView) -> float:
    """In the second half of the window: connections that begin find the catalogs in memory, and
    the more of them there are, the higher that lifts the ratio of the whole."""
    hit, read = (
        _series_mean(trial, POSTGRES, f"blocks_{what}_per_second", since=0.5)
        for what in ("hit", "read")
    )
    return hit / (hit + read) if hit + read > 0 else math.nan


def _series_mean(trial: TrialView, source: str, column: str, *, since: float = 0.0) -> float:
    """The mean of a column; of several sources (disks) the sum of their means.

    ``since``: which share of the window is left out at its beginning.
    """
    whole = find_series(trial, source)
    several = (
        [whole]
        if whole is not None
        else [series for series in trial.series if series.source.startswith(source)]
    )
    means = [
        _mean(series.columns[column][int(since * len(series.columns[column])) :])
        for series in several
        if column in series.columns
    ]
    return math.fsum(means) if means else math.nan


def _mean(values: FloatArray) -> float:
    present = values[np.isfinite(values)]
    return float(present.mean()) if len(present) else math.nan
