"""The measurement of one trial of a probe, statement by statement, its form in the ledger, and the
numbers of the trial.

A trial's facts hold it under ``MEASUREMENT``: the JSON of a ``ProbeMeasurement``, compressed and in
base64, in which the statements are columns, and a column with one value throughout is that value.
``measurement_of(trial.facts)`` is the only way back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from functools import cache
from statistics import fmean, median, median_grouped
from typing import Any

from pydantic import TypeAdapter

from teiten.kinds.probes.metrics import (
    CHECKPOINT_TIME,
    CLIENTS_TIME,
    COMMIT_TIME,
    FROM_BUFFERS,
    FROM_DISK,
    FROM_OS_CACHE,
    PROBE_TIME,
    PROBE_TPS,
    SWEEP_PER_GIB,
    ProbeMeasure,
)
from teiten.kinds.probes.model import BLOCK, Probe, Take
from teiten.model.trial import pack, unpack
from teiten.model.units import GIB, Bytes, Seconds

MEASUREMENT = "measurement"
"""The key in a trial's facts."""
FORM = 1
"""Raise it when the stored form is another one."""


class PageOrigin(StrEnum):
    """Where a statement's page came from, as measured."""

    BUFFERS = "buffers"
    OS_CACHE = "os-cache"
    """Read from outside the buffers, while the backend's process read nothing from a disk."""
    DISK = "disk"
    OUTSIDE = "outside"
    """Not in the buffers; where else is not known, as the process could not be asked."""


@dataclass(frozen=True)
class Timed:
    """One statement that was timed. Counts are of its execution, not of its planning."""

    page: int
    """The number of the page that it asks for, from 0."""
    seconds: Seconds
    """EXPLAIN's Execution Time: no parsing, no planning, no sending."""
    hit: int
    read: int
    dirtied: int
    written: int
    """Shared blocks, as EXPLAIN (BUFFERS) counts them."""
    read_seconds: Seconds | None = None
    """The part of it in which blocks were read (track_io_timing); None where none were read."""
    disk_bytes: int | None = None
    """Bytes that the backend's process read from disks meanwhile (/proc/PID/io); None where the
    process cannot be asked."""
    wal_records: int | None = None
    wal_images: int | None = None
    """Full-page images."""
    wal_bytes: int | None = None
    """All three: None before PostgreSQL 13."""
    commit_seconds: Seconds | None = None
    """The time of the COMMIT after it, seen from the client; None where it has none."""
    swept: int | None = None
    """By how much the usage counts of all buffers together sank during it: what a clock sweep took
    from them. None where they were not watched."""

    @property
    def origin(self) -> PageOrigin:
        if not self.read:
            return PageOrigin.BUFFERS
        if self.disk_bytes is None:
            return PageOrigin.OUTSIDE
        return PageOrigin.DISK if self.disk_bytes else PageOrigin.OS_CACHE


@dataclass(frozen=True)
class OfStep:
    """A step, and the part whose turn it was."""

    step: str
    part: str
    """The one of ``Probe.parts``, as the probe's file has it; empty in a probe without."""


@dataclass(frozen=True)
class MeasuredStep(OfStep):
    """The statements of one step, in the order of their execution."""

    pages: int
    """The number of pages of the part of the table from which the statements' pages were drawn."""
    statements: tuple[Timed, ...]


@dataclass(frozen=True)
class Buffers:
    """All shared buffers at a moment."""

    usage: tuple[int, ...]
    """How many have the usage count 0, 1, … 5; those that hold no page are not among them."""
    unused: int
    dirty: int


@dataclass(frozen=True)
class Where:
    """Where the pages of a part of a table are at a moment."""

    table: str
    pages: int
    """The number of pages of the part."""
    in_buffers: int
    in_os_cache: int | None
    """Pages of which every byte is in the page cache; None where that cannot be measured."""

    @property
    def buffers_share(self) -> float:
        return self.in_buffers / self.pages if self.pages else 0.0

    @property
    def os_cache_share(self) -> float | None:
        if self.in_os_cache is None:
            return None
        return self.in_os_cache / self.pages if self.pages else 0.0


@dataclass(frozen=True)
class Seen:
    """The state at a moment: before and after what is timed, and where a step requires one."""

    moment: str
    """``before``, ``after`` (of the step), or ``required``."""
    step: str
    part: str
    buffers: Buffers
    where: Where
    """Where the pages of the step's part are."""
    held: bool = True
    """Whether the state that the step requires was reached."""


@dataclass(frozen=True)
class ExecutedOnce(OfStep):
    """A statement that was executed once, such as a scan."""

    seconds: Seconds
    """Seen from the client."""


@dataclass(frozen=True)
class Accounted:
    """Counts of pg_stat_io for client backends during a step, in one of its contexts: of tables and
    indexes alone."""

    context: str
    """``normal``, ``bulkread``, …"""
    reads: int
    """Operations from 18 on; before, blocks."""
    read_bytes: int
    evictions: int
    """Buffers that were taken from other pages."""
    reuses: int
    """Buffers that were taken again from the ring."""


@dataclass(frozen=True)
class StepIo(OfStep):
    """Reads during one step, as the kernel and the server account them."""

    calls: int | None
    """Reads that the step's own process asked the kernel for (/proc/PID/io); None where the
    process cannot be asked, here and in the next three."""
    called_bytes: int | None
    """Bytes that the reads of ``calls`` returned, from the page cache or a disk."""
    worker_calls: int | None
    """Reads that the I/O workers asked the kernel for (from 18 on; before there are none)."""
    worker_bytes: int | None
    accounted: tuple[Accounted, ...] = ()
    """Empty before 16."""


@dataclass(frozen=True)
class WithClients(OfStep):
    """A step under one number of clients."""

    clients: int
    transactions: int
    tps: float
    latency: Seconds
    """Mean, of pgbench."""
    hit: int
    read: int
    """Shared blocks of the table and its indexes meanwhile."""


@dataclass(frozen=True)
class Checkpointed(OfStep):
    """One CHECKPOINT."""

    seconds: Seconds
    """Seen from the client."""
    dirty: int
    """Buffers that were dirty before it."""
    written: int
    """Buffers that it wrote."""


@dataclass(frozen=True)
class ProbeMeasurement:
    """All that a trial measured of its probe."""

    probe: str
    memory: Bytes
    """In force: the limit, or the machine's."""
    shared_buffers: Bytes
    """The shared_buffers that the server had."""
    measured: tuple[MeasuredStep, ...] = ()
    seen: tuple[Seen, ...] = ()
    executed: tuple[ExecutedOnce, ...] = ()
    with_clients: tuple[WithClients, ...] = ()
    checkpoints: tuple[Checkpointed, ...] = ()
    io: tuple[StepIo, ...] = ()
    """Reads of the steps that measure or execute."""
    settings: tuple[tuple[str, str], ...] = ()
    """Parameters that decide how pages are read (``states.TOLD``), as far as this server has
    them, as SHOW tells them."""

    @property
    def buffers(self) -> int:
        return self.shared_buffers // BLOCK

    @property
    def statements(self) -> list[Timed]:
        """List the timed statements of all steps."""
        return [statement for step in self.measured for statement in step.statements]

    def step(self, name: str) -> tuple[MeasuredStep, ...]:
        """List the measurements of a step, one for each part."""
        return tuple(step for step in self.measured if step.step == name)


def around(statement: Timed, buffers: int) -> float:
    """How often a clock sweep went around all buffers during a statement, about: what it took from
    the usage counts, by the number of buffers."""
    return (statement.swept or 0) / buffers


def share_of(statements: Iterable[Timed], origin: PageOrigin) -> float | None:
    """The share of statements whose page came from there; None without statements, and of those
    from outside the buffers where it is not known of one."""
    origins = [statement.origin for statement in statements]
    asked = origin in (PageOrigin.OS_CACHE, PageOrigin.DISK)
    if not origins or (asked and PageOrigin.OUTSIDE in origins):
        return None
    return origins.count(origin) / len(origins)


# In the ledger


def packed(measurement: ProbeMeasurement) -> str:
    """For a trial's facts."""
    without = tuple(replace(step, statements=()) for step in measurement.measured)
    table = {**asdict(replace(measurement, measured=without)), "form": FORM}
    for row, step in zip(table["measured"], measurement.measured, strict=True):
        row["statements"] = _columns(step.statements)
    return pack(json.dumps(table, separators=(",", ":")))


def measurement_of(facts: Mapping[str, Any]) -> ProbeMeasurement | None:
    """Read the measurement in a trial's facts; None where there is nothing that can be read."""
    text = facts.get(MEASUREMENT)
    if not text:
        return None
    try:
        table = json.loads(unpack(str(text)))
        if table.pop("form") != FORM:
            return None
        for step in table["measured"]:
            step["statements"] = _rows(step["statements"])
        return _adapter().validate_python(table)
    except (ValueError, KeyError, TypeError):
        return None


@cache
def _adapter() -> TypeAdapter[ProbeMeasurement]:
    return TypeAdapter(ProbeMeasurement)


def _columns(rows: Sequence[Timed]) -> dict[str, Any]:
    """``{"rows": 3, "page": [4, 1, 7], "hit": 1}``"""
    columns: dict[str, Any] = {"rows": len(rows)}
    for name in (field.name for field in fields(Timed)) if rows else ():
        values = [getattr(row, name) for row in rows]
        columns[name] = values[0] if values.count(values[0]) == len(values) else values
    return columns


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    count = int(columns.pop("rows"))
    whole = {
        name: value if isinstance(value, list) else [value] * count
        for name, value in columns.items()
    }
    return [{name: values[at] for name, values in whole.items()} for at in range(count)]


# The numbers of a trial


SWEPT = 0.5
"""A statement during which this part of all buffers lost a usage count, has swept."""
EXPLAIN_STEP = Seconds(1e-6)
"""The step of EXPLAIN's times: three decimals of a millisecond."""


def metrics_of(probe: Probe, measurement: ProbeMeasurement) -> dict[str, float]:
    """Only those that were measured."""
    return {name: value for name, value in _numbers(probe, measurement) if value is not None}


def numbers_for_claims(measurement: ProbeMeasurement) -> Iterator[tuple[str, float]]:
    """List what claims may speak of besides metrics: ``ProbeMeasure``, mean times by clients."""
    by_origin: dict[str, list[float]] = {}
    for step in measurement.measured:
        if step.statements and step.part:
            mean = fmean(statement.seconds for statement in step.statements)
            yield f"{ProbeMeasure.PART}:{step.part}", mean
        for statement in step.statements:
            by_origin.setdefault(statement.origin, []).append(statement.seconds)
    for origin, seconds in by_origin.items():
        yield f"{ProbeMeasure.ORIGIN}:{origin}", fmean(seconds)
    for once in measurement.executed:
        yield f"{ProbeMeasure.EXECUTED}:{once.step}", once.seconds
    for run in measurement.with_clients:
        yield f"{CLIENTS_TIME}:{run.clients}", run.latency


def sweeps(statements: Sequence[Timed], buffers: int) -> tuple[list[Timed], list[Timed]]:
    """The statements that swept, and those that did not."""
    swept = [statement for statement in statements if around(statement, buffers) >= SWEPT]
    return swept, [statement for statement in statements if around(statement, buffers) < SWEPT]


def sweep_seconds(statements: Sequence[Timed], buffers: int) -> Seconds | None:
    """Find the time that one sweep around all buffers adds to a statement; None where no statement
    swept, or all did."""
    swept, others = sweeps(statements, buffers)
    if not swept or not others:
        return None
    usual = median_of([statement.seconds for statement in others])
    return Seconds(
        median((statement.seconds - usual) / around(statement, buffers) for statement in swept)
    )


def median_of(seconds: Sequence[float]) -> Seconds:
    """The median, interpolated among times that EXPLAIN prints alike: a page in the buffers takes a
    few of its steps, so that the plain median would move by a tenth at once. Times that all differ
    have their plain median."""
    from_below = median_grouped(seconds, EXPLAIN_STEP)
    from_above = -median_grouped([-time for time in seconds], EXPLAIN_STEP)
    return Seconds((from_below + from_above) / 2)


def _numbers(probe: Probe, measurement: ProbeMeasurement) -> Iterator[tuple[str, float | None]]:
    yield PROBE_TIME.name, _number(probe, measurement)
    statements = measurement.statements
    yield COMMIT_TIME.name, _commit(statements)
    for metric, origin in (
        (FROM_BUFFERS, PageOrigin.BUFFERS),
        (FROM_OS_CACHE, PageOrigin.OS_CACHE),
        (FROM_DISK, PageOrigin.DISK),
    ):
        yield metric.name, share_of(statements, origin)
    once = sweep_seconds(statements, measurement.buffers)
    if once is not None:
        yield SWEEP_PER_GIB.name, once / (measurement.shared_buffers / GIB)
    times = [checkpoint.seconds for checkpoint in measurement.checkpoints]
    yield CHECKPOINT_TIME.name, median(times) if times else None
    if measurement.with_clients:
        yield PROBE_TPS.name, max(measurement.with_clients, key=lambda run: run.clients).tps


def _number(probe: Probe, measurement: ProbeMeasurement) -> float | None:
    """``PROBE_TIME``: over several parts, the mean of their numbers."""
    checkpoints = [
        checkpoint.seconds
        for checkpoint in measurement.checkpoints
        if checkpoint.step == probe.number_of
    ]
    runs = [run for run in measurement.with_clients if run.step == probe.number_of]
    if checkpoints:
        return _taken(probe.take, checkpoints)
    if runs:
        most = max(run.clients for run in runs)
        return fmean(run.latency for run in runs if run.clients == most)
    parts = [
        _of_part(probe.take, part.statements, measurement.buffers)
        for part in measurement.step(probe.number_of)
        if part.statements
    ]
    known = [part for part in parts if part is not None]
    return fmean(known) if known else None


def _of_part(take: Take, statements: Sequence[Timed], buffers: int) -> float | None:
    if take is Take.SWEEP:
        return sweep_seconds(statements, buffers)
    if take is Take.COMMIT:
        return _commit(statements)
    return _taken(take, [statement.seconds for statement in statements])


def _commit(statements: Sequence[Timed]) -> float | None:
    times = [
        statement.commit_seconds for statement in statements if statement.commit_seconds is not None
    ]
    return median(times) if times else None


def _taken(take: Take, seconds: Sequence[float]) -> float:
    return fmean(seconds) if take is Take.MEAN else median_of(seconds)
