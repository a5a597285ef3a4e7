"""Findings of a campaign on where files lie: by placement what each storage did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

Context = tuple[tuple[str, str], ...]


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
    """Share that an emulated device reached of the limit to which it came nearest."""

    @property
    def load(self) -> float:
        """How near the device was to what it can: requests that a limit holds back have not reached
        an emulated one yet, so that its time says nothing of it."""
        return self.busy if self.of_limit is None else self.of_limit


@dataclass(frozen=True)
class PlacementRow:
    """One placement."""

    level: str
    trials: int
    tps: float
    """Median."""
    relative: float | None
    """To the first placement's."""
    storages: tuple[StorageUse, ...]
    bottleneck: str | None
    """The storage class that the trials are consistent with being limited by."""

    @property
    def read(self) -> float:
        """B/s of all storage classes."""
        return sum(storage.read for storage in self.storages)

    @property
    def written(self) -> float:
        return sum(storage.written for storage in self.storages)


class Direction(StrEnum):
    READ = "read"
    WRITTEN = "written"


@dataclass(frozen=True)
class PlacementResult:
    """All placements of a workload at one combination of the other factors."""

    workload: str
    context: Context
    rows: tuple[PlacementRow, ...]
    """In the study's order; the first one is what the others are compared with."""
    correlations: Mapping[Direction, float]
    """Pearson's, of the logarithms of TPS and of the bandwidth of all storages together, one point
    for each placement; missing where there are too few of these, or one transferred nothing."""
    followed: Direction | None
    """The one of the two that TPS went with; None where neither or both did."""
