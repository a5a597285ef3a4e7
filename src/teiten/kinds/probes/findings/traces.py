"""Traces of what changed between two servers, as a campaign saw them beside the time.

A trace is one number of each trial. It is told where the two servers' trials do not overlap in it
and their means are apart (``thresholds.SEEN_APART``); else it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from teiten.kinds.probes.findings.tried import Tried
from teiten.kinds.probes.measurement import PageOrigin, ProbeMeasurement, StepIo, Timed, share_of
from teiten.kinds.probes.model import BLOCK
from teiten.kinds.probes.results import Trace, TraceSeen
from teiten.kinds.probes.thresholds import SEEN_APART

Take = Callable[[ProbeMeasurement], float | None]


@dataclass(frozen=True)
class _Of:
    """How a trace is taken of a trial; None where it was not measured."""

    trace: Trace
    take: Take
    executed: bool
    """Whether it is of what is executed once, such as a scan; else of the statements that are
    timed."""


def traces_of(
    old: Mapping[int, Tried], new: Mapping[int, Tried], *, executed: bool
) -> Iterator[TraceSeen]:
    """Those that differ. ``executed``: only those of what is executed once."""
    for rule in TRACES:
        if executed and not rule.executed:
            continue
        before, after = _values(rule, old), _values(rule, new)
        if before and after and apart(before, after):
            yield TraceSeen(rule.trace, fmean(before), fmean(after))


def _values(rule: _Of, trials: Mapping[int, Tried]) -> list[float]:
    """List a trace's values in all trials; empty where it was not measured in one of them."""
    values = [rule.take(trial.measurement) for trial in trials.values()]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def apart(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the trials of two servers, one number of each, have nothing in common."""
    overlap = max(before) >= min(after) and max(after) >= min(before)
    old, new = fmean(before), fmean(after)
    return not overlap and abs(old - new) >= SEEN_APART * max(old, new)


def _statements(measurement: ProbeMeasurement) -> list[Timed]:
    return [statement for step in measurement.measured for statement in step.statements]


def _share(origin: PageOrigin) -> Take:
    def take(measurement: ProbeMeasurement) -> float | None:
        statements = _statements(measurement)
        known = share_of(statements, PageOrigin.OUTSIDE) == 0
        return share_of(statements, origin) if known else None

    return take


def _reading(measurement: ProbeMeasurement) -> float | None:
    """Find the mean time of a statement's reads; None where nothing was read, or not timed."""
    statements = _statements(measurement)
    if all(statement.read_seconds is None for statement in statements):
        return None
    return fmean(statement.read_seconds or 0.0 for statement in statements)


def _not_reading(measurement: ProbeMeasurement) -> float | None:
    """The rest of it, where it is a part."""
    reading = _reading(measurement)
    if reading is None:
        return None
    return fmean(statement.seconds for statement in _statements(measurement)) - reading


def _wal(measurement: ProbeMeasurement) -> float | None:
    """Find the mean bytes of WAL of a statement; None where none writes any, or of one it is
    not known."""
    written = [statement.wal_bytes for statement in _statements(measurement)]
    known = [size for size in written if size is not None]
    return fmean(known) if known and any(known) and len(known) == len(written) else None


def _scans(measurement: ProbeMeasurement) -> list[StepIo]:
    executed = {once.step for once in measurement.executed}
    return [reads for reads in measurement.io if reads.step in executed]


def _read_size(measurement: ProbeMeasurement) -> float | None:
    """Bytes for each read that the kernel was asked for. I/O workers read signals too, and of reads
    by io_uring the kernel tells nothing to a process: there it is what the server counts."""
    calls = total = 0
    for scan in _scans(measurement):
        if scan.calls is None or scan.called_bytes is None:
            return None
        counted = sum(account.read_bytes for account in scan.accounted)
        if scan.worker_calls or scan.called_bytes < counted / 2:  # a look at it reads a little too
            calls, total = calls + sum(account.reads for account in scan.accounted), total + counted
        else:
            calls, total = calls + scan.calls, total + scan.called_bytes
    return total / calls if calls else None


def _by_workers(measurement: ProbeMeasurement) -> float | None:
    """The share of what was read."""
    own = workers = 0
    for scan in _scans(measurement):
        if scan.called_bytes is None or scan.worker_bytes is None:
            return None
        own, workers = own + scan.called_bytes, workers + scan.worker_bytes
    return workers / (own + workers) if own + workers else None


def _kept(measurement: ProbeMeasurement) -> float | None:
    """Bytes of what was scanned that are in the buffers after it, and were not before."""
    executed = {once.step for once in measurement.executed}
    sums = {
        moment: [
            seen.where.in_buffers
            for seen in measurement.seen
            if seen.step in executed and seen.moment == moment
        ]
        for moment in ("before", "after")
    }
    return float((sum(sums["after"]) - sum(sums["before"])) * BLOCK) if sums["after"] else None


TRACES: tuple[_Of, ...] = (
    _Of(Trace.FROM_BUFFERS, _share(PageOrigin.BUFFERS), executed=False),
    _Of(Trace.FROM_DISK, _share(PageOrigin.DISK), executed=False),
    _Of(Trace.READING, _reading, executed=False),
    _Of(Trace.NOT_READING, _not_reading, executed=False),
    _Of(Trace.WAL, _wal, executed=False),
    _Of(Trace.READ_SIZE, _read_size, executed=True),
    _Of(Trace.BY_WORKERS, _by_workers, executed=True),
    _Of(Trace.KEPT, _kept, executed=True),
)
