"""From the trials of placements to what each storage did, and what limits each placement. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import correlation, median

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.observations import without
from teiten.kinds.pgbench.metrics import TPS
from teiten.model.plan import Context, Level, Plan
from teiten.model.storage import (
    BUSY,
    QUEUE,
    READ,
    READS,
    WRITES,
    WRITTEN,
    Emulation,
    storage_metric,
)

PLACEMENT = "placement"
BUSY_ENOUGH = 0.7
"""A storage that is less loaded is not what a placement waits for."""
AHEAD = 1.5
"""So much more loaded than any other it must be."""
FEWEST = 5
"""Placements from which a correlation is told: each may be left out, and four remain."""
STRONG, LEAD = 0.8, 0.1
"""A correlation that counts, and by how much it must exceed the other one."""
COLUMNS = {"read": READ, "written": WRITTEN, "reads": READS, "writes": WRITES, "busy": BUSY,
           "queue": QUEUE}  # fmt: skip
_LIMITED = {
    "read_iops": "reads",
    "write_iops": "writes",
    "read_bandwidth": "read",
    "write_bandwidth": "written",
}


@dataclass(frozen=True)
class StorageUse:
    """Use of one storage class in the trials of one placement: medians of their means."""

    storage: str
    read: float
    """B/s"""
    written: float
    """B/s"""
    reads: float
    """Requests per second."""
    writes: float
    """Requests per second."""
    busy: float
    """Share of the time in which the device had a request."""
    queue: float
    """Mean number of requests that waited or were served."""
    of_limit: float | None = None
    """Share that an emulated device reached of the limit to which it came nearest; None without
    limits."""

    @property
    def load(self) -> float:
        """How near the device was to what it can: requests that a limit holds back have not reached
        an emulated one yet, so that its time says nothing of it."""
        return self.busy if self.of_limit is None else self.of_limit


@dataclass(frozen=True)
class PlacementRow:
    """One placement."""

    level: str
    tps: float
    """Median."""
    relative: float | None
    """To the study's first placement's; None where that has no counted trial."""
    storages: tuple[StorageUse, ...]
    bottleneck: str | None
    """The storage class that the trials are consistent with being limited by."""

    def total(self, direction: Direction) -> float:
        """B/s of all storage classes."""
        rates: Iterator[float] = (getattr(use, direction.value) for use in self.storages)
        return sum(rates)


class Direction(StrEnum):
    READ = "read"
    WRITTEN = "written"


@dataclass(frozen=True)
class PlacementResult:
    """All placements of a workload at one combination of the other factors."""

    workload: str
    context: Context
    rows: tuple[PlacementRow, ...]
    """In the study's order, those that have a counted trial; the study's first is what the others
    are compared with."""
    correlations: Mapping[Direction, float]
    """Pearson's, of the logarithms of TPS and of the bandwidth of all storages together, one point
    for each placement; missing where there are too few of these, or one transferred nothing."""
    followed: Direction | None
    """The one of the two that TPS went with; None where neither or both did."""


def placements(
    plan: Plan, trials: Sequence[TrialView], workloads: Sequence[str]
) -> tuple[PlacementResult, ...]:
    """Compare placements by workload and other factors; nothing without the factor placement."""
    factor = plan.study.factor(PLACEMENT)
    if factor is None:
        return ()
    emulations = {known.name: known.emulation for known in plan.study.storage}
    groups: dict[Level, dict[str, list[TrialView]]] = {}
    for trial in trials:
        if trial.counts and trial.workload in workloads:
            others = without(trial.levels, PLACEMENT)
            level = dict(trial.levels)[PLACEMENT]
            groups.setdefault((trial.workload, others), {}).setdefault(level, []).append(trial)
    results = []
    for (workload, context), by_level in groups.items():
        rows = tuple(_rows(factor.levels, by_level, emulations))
        if rows:
            known = correlations(rows) if len(rows) >= FEWEST else {}
            results.append(PlacementResult(workload, context, rows, known, followed(rows)))
    return tuple(sorted(results, key=lambda result: workloads.index(result.workload)))


def _rows(
    levels: Sequence[str],
    by_level: Mapping[str, Sequence[TrialView]],
    emulations: Mapping[str, Emulation | None],
) -> Iterator[PlacementRow]:
    first = _middle(by_level.get(levels[0], ()), TPS.name)
    for level in levels:
        trials = by_level.get(level, ())
        tps = _middle(trials, TPS.name)
        if tps is None:
            continue
        uses = tuple(_uses(trials, emulations))
        relative = tps / first if first else None
        yield PlacementRow(level, tps, relative, uses, bottleneck(uses))


def _uses(
    trials: Sequence[TrialView], emulations: Mapping[str, Emulation | None]
) -> Iterator[StorageUse]:
    for name, emulation in emulations.items():
        numbers = {
            field: value
            for field, column in COLUMNS.items()
            if (value := _middle(trials, storage_metric(name, column))) is not None
        }
        if len(numbers) == len(COLUMNS):
            limits = () if emulation is None else emulation.limits
            shares = (numbers[_LIMITED[limited]] / limit for limited, limit in limits)
            yield StorageUse(name, **numbers, of_limit=max(shares, default=None))


def bottleneck(uses: Sequence[StorageUse]) -> str | None:
    """The storage that is loaded, and much more so than the others; None where none is."""
    ranked = sorted(uses, key=lambda use: use.load, reverse=True)
    if not ranked or ranked[0].load < BUSY_ENOUGH:
        return None
    if len(ranked) > 1 and ranked[0].load < AHEAD * ranked[1].load:
        return None
    return ranked[0].storage


def correlations(rows: Sequence[PlacementRow]) -> dict[Direction, float]:
    """Correlate TPS with the bandwidth of all storages, both as logarithms, over the placements."""
    by_direction = {}
    for direction in Direction:
        values = [row.total(direction) for row in rows]
        positive = all(value > 0 for value in values) and all(row.tps > 0 for row in rows)
        if not positive or len(set(values)) < 2:
            continue
        points = [math.log(value) for value in values]
        tps = [math.log(row.tps) for row in rows]
        if len(set(tps)) > 1:
            by_direction[direction] = correlation(points, tps)
    return by_direction


def followed(rows: Sequence[PlacementRow]) -> Direction | None:
    """The bandwidth that TPS went with, clearly more than with the other, and with any placement
    left out as well: one that is far from all others makes every correlation high."""
    if len(rows) < FEWEST:
        return None
    without_one = [[*rows[:at], *rows[at + 1 :]] for at in range(len(rows))]
    directions = {_followed(correlations(some)) for some in (rows, *without_one)}
    return directions.pop() if len(directions) == 1 else None


def _followed(values: Mapping[Direction, float]) -> Direction | None:
    if len(values) < len(Direction):
        return next((direction for direction, value in values.items() if value >= STRONG), None)
    best, second = sorted(Direction, key=lambda direction: values[direction], reverse=True)
    clear = values[best] >= STRONG and values[best] >= values[second] + LEAD
    return best if clear else None


def _middle(trials: Sequence[TrialView], metric: str) -> float | None:
    values = [trial.metrics[metric] for trial in trials if metric in trial.metrics]
    finite = [value for value in values if math.isfinite(value)]
    return median(finite) if finite else None
