"""Numbers, series and histogram of each side from the pairs of a start; pure.

Each side's numbers are chosen so that their ratios are the two numbers of the start: the ratio of
TPS is the throughput, that of the times of a typical transaction the other. So both are judged like
any metric.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from teiten.execute.client.histogram import LatencyHistogram
from teiten.kinds.pgbench.load.output import log_metrics
from teiten.kinds.pgbench.load.paired_numbers import (
    PairedTimes,
    carry_over,
    numbers,
    parts,
)
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
from teiten.model.starts import variance_of_a_second
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
    comparisons: Sequence[PairedTimes], clients: int, seconds: float
) -> tuple[SideNumbers, ...] | None:
    """The base's and each further side's; None where a side completed nothing.

    ``comparisons``: of each further side with the base. ``seconds``: wall time of the load. TPS are
    those of as many clients that do nothing else: their number by the mean time of a transaction,
    failed ones' time included.
    """
    of_start = [numbers(times) for times in comparisons]
    if any(math.isnan(speeds.throughput) or math.isnan(speeds.typical) for speeds in of_start):
        return None
    own = [_of_comparison(times, seconds) for times in comparisons]
    faster = [0.0, *(speeds.typical for speeds in of_start)]
    base, middle = sum(faster) / len(faster), _middle(comparisons)
    columns = [(comparisons[0], 0), *((times, 1) for times in comparisons)]
    return tuple(
        _side(times, column, clients, middle * math.exp(base - speed), beside)
        for (times, column), speed, beside in zip(
            columns, faster, (_of_base(own), *own), strict=True
        )
    )


def _of_comparison(times: PairedTimes, seconds: float) -> dict[str, float]:
    """Numbers of a comparison as a whole, which its new side has."""
    left = carry_over(times)
    return {
        MEASURED_SECONDS.name: seconds,
        WITHIN.name: variance_of_a_second([part.throughput for part in parts(times)], seconds),
        CARRY_OVER_THROUGHPUT.name: math.exp(left.throughput),
        CARRY_OVER_TYPICAL.name: math.exp(left.typical),
    }


def _of_base(comparisons: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The base's numbers: those of a single comparison, and of several the greatest variance."""
    if len(comparisons) == 1:
        return comparisons[0]
    return {
        MEASURED_SECONDS.name: comparisons[0][MEASURED_SECONDS.name],
        WITHIN.name: max(comparison[WITHIN.name] for comparison in comparisons),
    }


def without_other_servers(
    metrics: Mapping[str, float], of_other_sides: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    """Telemetry of a side without the processor time of the other sides' servers, which is neither
    a stranger's nor Teiten's own.

    Where processes are told apart by their parents, a server that Teiten started is counted as
    Teiten's, else as a stranger's: its time is taken from Teiten's first, and the rest of it from
    the strangers'.
    """
    own = dict(metrics)
    left = sum(other_side.get(SERVER_CPU, 0.0) for other_side in of_other_sides)
    for name in (OURS, OTHERS):
        if name in own:
            taken = min(own[name], left)
            own[name] -= taken
            left -= taken
    return own


def _middle(comparisons: Sequence[PairedTimes]) -> float:
    """Seconds between the sides' typical transactions: the median of the geometric means of the
    transactions with the same parameters."""
    base, *others = comparisons
    latency = np.column_stack((base.latency, *(times.latency[:, 1] for times in others)))
    failed = np.any([times.failed.any(axis=1) for times in comparisons], axis=0)
    whole = latency[~failed].astype(np.float64)
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
