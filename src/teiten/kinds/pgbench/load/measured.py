"""From a trial's slices to one number per metric, one set of series and one histogram.

METHOD.md, One number per trial: the number is the plain mean of the slices, because stalls are part
of what is measured. Where a workload only reads, their trimmed mean stands beside it. Percentiles
are of all transactions, never trimmed.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.probes.postgres import TOTALS
from teiten.execute.probes.sampler import Sampling
from teiten.kinds.pgbench.load.output import PgbenchResult
from teiten.kinds.pgbench.load.process import ERRORS_FILE, OUTPUT_FILE
from teiten.kinds.pgbench.metrics import LATENCY_MEAN, LATENCY_STDDEV, PERCENTILES, TPS, TRIMMED
from teiten.model.metrics import (
    STORAGE_READ,
    STORAGE_WRITTEN,
    of_any_node,
    with_wal_per_transaction,
)
from teiten.model.starts import trimmed_at_each_end
from teiten.model.storage import READ, WRITTEN, is_of_storage
from teiten.model.trial import FloatArray, Gathered, Series
from teiten.model.units import Seconds


@dataclass(frozen=True)
class Slice:
    """One slice that was measured; a trial that is not cut has one."""

    started_at: float
    """Seconds since the epoch."""
    result: PgbenchResult
    sampling: Sampling


def gather(
    slices: Sequence[Slice], gathered: Gathered, duration: Seconds, *, trimmed: bool
) -> None:
    """Gather all slices. ``duration``: planned seconds; ``trimmed``: as ``pooled_metrics``."""
    results = [part.result for part in slices]
    latencies = pooled_latencies([result.latencies for result in results])
    metrics = pooled_metrics(
        [{**part.sampling.metrics, **part.result.metrics} for part in slices],
        latencies,
        trimmed=trimmed,
    )
    gathered.metrics = with_wal_per_transaction(metrics) | _of_storages(metrics)
    gathered.series = pooled_series(
        [(part.result.series, *part.sampling.series) for part in slices], duration
    )
    gathered.histogram = latencies.encode() if latencies is not None else ""
    gathered.facts |= {
        "command": results[0].command,
        "pgbench_output": "\n".join(result.output for result in results),
        "pgbench_cpu_seconds": sum(result.cpu_seconds for result in results),
    }
    if len(slices) > 1:
        names = (TPS.name, LATENCY_MEAN.name)
        gathered.facts["slices"] = [
            {
                "started_at": part.started_at,
                **{name: part.result.metrics.get(name) for name in names},
            }
            for part in slices
        ]


def _of_storages(metrics: Mapping[str, float]) -> dict[str, float]:
    """Compute what all storage classes transferred for a transaction, where there are any."""
    tps = metrics.get(TPS.name, 0.0)
    per_transaction = {}
    for name, column in ((STORAGE_READ.name, READ), (STORAGE_WRITTEN.name, WRITTEN)):
        rates = [value for metric, value in metrics.items() if is_of_storage(metric, column)]
        if rates and tps > 0:
            per_transaction[name] = sum(rates) / tps
    return per_transaction


def join_outputs(folders: Sequence[Path], evidence: Path) -> None:
    """One file of each stream, and the script, in ``evidence`` in place of a folder per slice."""
    for name in (OUTPUT_FILE, ERRORS_FILE):
        parts = [folder / name for folder in folders if (folder / name).exists()]
        if parts:
            (evidence / name).write_bytes(b"\n".join(part.read_bytes() for part in parts))
    for path in folders[0].iterdir() if folders[0].is_dir() else ():
        if path.name not in (OUTPUT_FILE, ERRORS_FILE):
            path.replace(evidence / path.name)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


SECONDS, TRANSACTIONS, GREATEST = "measured_seconds", "transactions", "latency_max"
SUMS = frozenset(
    {
        *(SECONDS, TRANSACTIONS, "failed_transactions", "retried_transactions", "retries"),
        *("context_switches", "client_context_switches", "disk_read_bytes", "disk_written_bytes"),
        *("own_disk_read_bytes", "own_disk_written_bytes", "own_received_bytes", "own_sent_bytes"),
        *TOTALS,
    }
)
"""Metrics that count: of several slices the sum. The others are means over time."""

Metrics = Mapping[str, float]


def trimmed_mean(values: Sequence[float]) -> float:
    """Without the least and the greatest (``model.starts.TRIM``); of one or more values."""
    cut = trimmed_at_each_end(len(values))
    kept = sorted(values)[cut : len(values) - cut]
    return math.fsum(kept) / len(kept)


def pooled_metrics(
    slices: Sequence[Metrics], latencies: LatencyHistogram | None, *, trimmed: bool
) -> dict[str, float]:
    """The metrics of a trial from those of its slices. ``latencies``: of all logged transactions;
    ``trimmed``: whether TPS and mean latency have their trimmed means beside them, where there are
    slices enough to leave some out."""
    if len(slices) == 1:
        return dict(slices[0])
    names = dict.fromkeys(name for part in slices for name in part)
    pooled = {name: _pooled(name, slices) for name in names}
    result = {name: value for name, value in pooled.items() if value is not None}
    result |= dict(_latencies(slices, latencies))
    if trimmed and trimmed_at_each_end(len(slices)):
        for name, metric in TRIMMED.items():
            if all(name in part for part in slices):
                result[metric.name] = trimmed_mean([part[name] for part in slices])
    return result


def pooled_series(slices: Sequence[Sequence[Series]], duration: Seconds) -> tuple[Series, ...]:
    """One series of each source, slices of ``duration`` following each other without a gap."""
    begins = _beginnings(slices, duration)
    parts: dict[str, list[tuple[float, Series]]] = {}
    for begin, all_of_slice in zip(begins, slices, strict=True):
        for series in all_of_slice:
            parts.setdefault(series.source, []).append((begin, series))
    return tuple(_joined(source, of_source) for source, of_source in parts.items())


def pooled_latencies(slices: Sequence[LatencyHistogram | None]) -> LatencyHistogram | None:
    """The latencies of all slices; None where one has none."""
    result = LatencyHistogram()
    for part in slices:
        if part is None:
            return None
        result.add(part)
    return result


def _pooled(name: str, slices: Sequence[Metrics]) -> float | None:
    """None where a sum would lack a part."""
    if of_any_node(name) in SUMS:
        complete = all(name in part for part in slices)
        return math.fsum(part[name] for part in slices) if complete else None
    if name == GREATEST:
        return max(part[name] for part in slices if name in part)
    return _weighted(name, slices, TRANSACTIONS if name == LATENCY_MEAN.name else SECONDS)


def _weighted(name: str, slices: Sequence[Metrics], by: str) -> float | None:
    having = [part for part in slices if name in part]
    weight = math.fsum(part.get(by, 0.0) for part in having)
    if weight <= 0:
        return None
    return math.fsum(part[name] * part.get(by, 0.0) for part in having) / weight


def _latencies(
    slices: Sequence[Metrics], latencies: LatencyHistogram | None
) -> Iterator[tuple[str, float]]:
    if latencies is not None and latencies.count:
        greatest = max(part.get(GREATEST, 0.0) for part in slices)
        for name, percent in PERCENTILES[:-1]:
            yield name, min(latencies.value_at(percent) / 1e6, greatest)
    needed = (LATENCY_MEAN.name, LATENCY_STDDEV.name, TRANSACTIONS)
    if all(name in part for part in slices for name in needed):
        yield LATENCY_STDDEV.name, _deviation(slices)


def _deviation(slices: Sequence[Metrics]) -> float:
    """Standard deviation of all latencies, from each slice's own and its mean."""
    count = math.fsum(part[TRANSACTIONS] for part in slices)
    if count <= 0:
        return math.nan
    moments = [
        (part[TRANSACTIONS], part[LATENCY_MEAN.name], part[LATENCY_STDDEV.name]) for part in slices
    ]
    mean = math.fsum(n * first for n, first, _ in moments) / count
    square = math.fsum(n * (first**2 + spread**2) for n, first, spread in moments) / count
    return math.sqrt(max(0.0, square - mean**2))


def _beginnings(slices: Sequence[Sequence[Series]], duration: Seconds) -> list[float]:
    """When each slice begins on the common axis: none before the last sample of the one before."""
    result, at = [], 0.0
    for all_of_slice in slices:
        result.append(at)
        ends = [float(series.seconds[-1]) for series in all_of_slice if series.seconds.size]
        at += max(float(duration), *ends, 0.0)
    return result


def _joined(source: str, parts: Sequence[tuple[float, Series]]) -> Series:
    names = dict.fromkeys(name for _, series in parts for name in series.columns)
    seconds: FloatArray = np.concatenate([begin + series.seconds for begin, series in parts])
    columns = {
        name: np.concatenate(
            [series.columns.get(name, np.full(series.seconds.shape, np.nan)) for _, series in parts]
        )
        for name in names
    }
    return Series(source, seconds, columns)
