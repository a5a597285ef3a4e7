"""The numbers of a trial, from what it measured; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from teiten.kinds.probes.measurement import (
    PageOrigin,
    ProbeMeasurement,
    Timed,
    around,
    share_of,
)
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
from teiten.kinds.probes.model import Probe, Take
from teiten.model.units import GIB, Seconds

SWEPT = 0.5
"""A statement during which this part of all buffers lost a usage count, has swept."""


def metrics_of(probe: Probe, measurement: ProbeMeasurement) -> dict[str, float]:
    """Only those that were measured."""
    return {name: value for name, value in _numbers(probe, measurement) if value is not None}


def numbers_for_claims(measurement: ProbeMeasurement) -> Iterator[tuple[str, float]]:
    """List what claims may speak of besides metrics: the numbers of ``ProbeMeasure``, and the mean
    times by clients."""
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
    usual = median(statement.seconds for statement in others)
    return Seconds(
        median((statement.seconds - usual) / around(statement, buffers) for statement in swept)
    )


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
    return fmean(seconds) if take is Take.MEAN else median(seconds)
