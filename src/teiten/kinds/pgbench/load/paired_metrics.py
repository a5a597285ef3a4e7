"""Numbers, series and histogram of each side from the pairs of a start; pure.

Each side's numbers are chosen so that their ratios are the two numbers of the start: the ratio of
TPS is the throughput, that of the times of a typical transaction the other. So both are judged like
any metric.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from teiten.execute.client.histogram import LatencyHistogram
from teiten.kinds.pgbench.load.paired_numbers import (
    PairedTimes,
    carry_over,
    numbers,
    parts,
)
from teiten.kinds.pgbench.load.result import log_metrics
from teiten.kinds.pgbench.metrics import (
    CARRY_OVER_THROUGHPUT,
    CARRY_OVER_TYPICAL,
    LATENCY_MEAN,
    LATENCY_TYPICAL,
    MEAN_BY_TYPICAL,
    TPS,
    WITHIN,
)
from teiten.model.metrics import MEASURED_SECONDS, SERVER_CPU, TRANSACTIONS
from teiten.model.paired_starts import variance_of_a_second
from teiten.model.trial import Series
from teiten.model.units import Seconds

OTHERS = "cpu_other_share"
OURS = "teiten_cpu_share"
NANOSECONDS = 1e9
"""In a second."""


@dataclass(frozen=True)
class SideNumbers:
    """Numbers of one side in a start."""

    metrics: dict[str, float]
    series: Series
    histogram: LatencyHistogram


def of_sides(
    times: PairedTimes, clients: int, seconds: float
) -> tuple[SideNumbers, SideNumbers] | None:
    """A's and B's; None where a side completed nothing.

    ``seconds``: wall time of the load. TPS are those of as many clients that do nothing else: their
    number by the mean time of a transaction, failed ones' time included.
    """
    of_start = numbers(times)
    if math.isnan(of_start.throughput) or math.isnan(of_start.typical):
        return None
    left = carry_over(times)
    shared = {
        MEASURED_SECONDS.name: seconds,
        WITHIN.name: variance_of_a_second([part.throughput for part in parts(times)], seconds),
        CARRY_OVER_THROUGHPUT.name: math.exp(left.throughput),
        CARRY_OVER_TYPICAL.name: math.exp(left.typical),
    }
    middle = _middle(times)
    typical = (middle * math.exp(of_start.typical / 2), middle * math.exp(-of_start.typical / 2))
    a, b = (_side(times, side, clients, typical[side], shared) for side in (0, 1))
    return a, b


def without_other_server(
    metrics: Mapping[str, float], of_other_side: Mapping[str, float]
) -> dict[str, float]:
    """Telemetry of a side without the processor time of the other side's server, which is neither a
    stranger's nor Teiten's own.

    Where processes are told apart by their parents, a server that Teiten started is counted as
    Teiten's, else as a stranger's: its time is taken from Teiten's first, and the rest of it from
    the strangers'.
    """
    own = dict(metrics)
    left = of_other_side.get(SERVER_CPU, 0.0)
    for name in (OURS, OTHERS):
        if name in own:
            taken = min(own[name], left)
            own[name] -= taken
            left -= taken
    return own


def _middle(times: PairedTimes) -> float:
    """Seconds between the two sides' typical transactions: the median of the pairs' geometric
    means."""
    whole = times.latency[~times.failed.any(axis=1)].astype(np.float64)
    return float(np.exp(np.median(np.log(whole).mean(axis=1)))) / NANOSECONDS


def _side(
    times: PairedTimes, side: int, clients: int, typical: float, shared: Mapping[str, float]
) -> SideNumbers:
    done = ~times.failed[:, side]
    latency = times.latency[:, side]
    count = int(done.sum())
    mean = float(latency.sum(dtype=np.float64)) / count / NANOSECONDS
    histogram = LatencyHistogram()
    histogram.record(latency[done].astype(np.int64) // 1000)
    metrics = {
        **log_metrics(histogram, 1.0),
        **shared,
        TPS.name: clients / mean,
        TRANSACTIONS.name: float(count),
        "failed_transactions": float(len(done) - count),
        LATENCY_MEAN.name: mean,
        LATENCY_TYPICAL.name: typical,
        MEAN_BY_TYPICAL.name: mean / typical,
    }
    series = _series(times, side, clients, Seconds(shared[MEASURED_SECONDS.name]))
    return SideNumbers(metrics, series, histogram)


def _series(times: PairedTimes, side: int, clients: int, seconds: Seconds) -> Series:
    """Return TPS and mean latency of the transactions that began in each whole second."""
    whole = max(1, math.floor(seconds))
    second = np.minimum(times.start[:, side] // int(NANOSECONDS), whole).astype(np.int64)
    done = ~times.failed[:, side]
    busy = np.bincount(second, times.latency[:, side], minlength=whole + 1)[:whole] / NANOSECONDS
    failed = np.bincount(second, ~done, minlength=whole + 1)[:whole]
    count = np.bincount(second, done, minlength=whole + 1)[:whole]
    with np.errstate(divide="ignore", invalid="ignore"):
        tps = np.where(busy > 0, clients * count / busy, np.nan)
        latency = np.where(count > 0, busy / count, np.nan)
    return Series(
        "pgbench",
        np.arange(1, whole + 1, dtype=np.float64),
        {TPS.name: tps, LATENCY_MEAN.name: latency, "failed": failed.astype(np.float64)},
    )
