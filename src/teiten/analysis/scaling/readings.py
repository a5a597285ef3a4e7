"""Readings of one level, from its trials: the mean of the trials' own means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import numpy as np

from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.node_series import POSTGRES, find_series, waits_of
from teiten.model.bottleneck import Readings
from teiten.model.trial import FloatArray
from teiten.model.units import Share

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
