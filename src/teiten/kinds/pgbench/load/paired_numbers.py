"""The numbers of a start from its paired transactions, and the metrics of each side; pure.

METHOD.md, Paired transactions. Both numbers are logarithms of B's speed over A's, so above 0 where
B is faster, and answer two questions:

*Throughput*: how much more does B do in its time? θ = ln[(Σn_B/Σt_B) / (Σn_A/Σt_A)], over whole
transactions and the time that servers were busy with them. Stalls count with all their length.

*Typical transaction*: how much faster is one like most? The median of ln(t_A/t_B) over pairs. A
stall counts like any other slow transaction, so that the number differs from the first where one
side has more of them, or longer ones.

A start is the unit of evidence: pairs within one share the layout of memory and files of their
servers, and are never n.

Where more than two servers take turns, each is compared with the base (A) by the transactions of
these two alone: ``paired_times`` makes a ``PairedTimes`` of each such comparison.

Each side's metrics are chosen so that their ratios are the two numbers: the ratio of TPS is the
throughput, that of the times of a typical transaction the other. So both are judged like any
metric.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from teiten.execute.client.histogram import LatencyHistogram
from teiten.kinds.pgbench.load.output import log_metrics
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
from teiten.model.pairs_check import StartNumbers
from teiten.model.starts import variance_of_a_second
from teiten.model.trial import FloatArray, Series
from teiten.model.units import Seconds

PARTS = 8
"""Into which a start is cut to see its variance within."""

BEFORE = OTHER_SERVER, SAME_SERVER, SAME_BATCH = 0, 1, 2
"""It was on the other server (or had done nothing yet); on the same, because orders are random; on
the same, within a batch."""

THIRD_SERVER = 3
"""It was on a server that is neither of the two compared."""
NO_SERVER = -1
"""A client's first transaction comes after none."""

ROUNDING = 1e-12
"""Tolerated rounding error of a sum of weights, as a share."""

Nanoseconds = npt.NDArray[np.unsignedinteger[Any]]
Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class PairedTimes:
    """Pairs of transactions of a start; one row for each pair."""

    start: Nanoseconds
    """Two columns, by server (A, B): when the transaction began, from the start of the load."""
    latency: Nanoseconds
    """Two columns."""
    failed: npt.NDArray[np.bool_]
    """Two columns: the transaction ended with an error."""
    first: Integers
    """The server that was first: 0 or 1."""
    before: Integers
    """The client's last action before the pair's first transaction, one of ``BEFORE``; of more than
    two servers, a number for what was just before each of the two transactions."""
    places: Integers | None = None
    """Two columns: the transaction's place among those of all servers, from 0; None of two servers,
    where ``first`` says it."""
    sides: int = 2
    """How many servers took turns."""

    @classmethod
    def of(cls, pairs: npt.NDArray[np.void]) -> PairedTimes:
        """The generator's array (execute.client.paired.Pairs)."""
        return cls(
            pairs["start"],
            pairs["latency"],
            pairs["sqlstate"] != b"",
            pairs["first"],
            _before(pairs["client"], pairs["first"], pairs["position"]),
        )

    def __len__(self) -> int:
        return len(self.first)

    def where(self, chosen: npt.NDArray[np.bool_]) -> PairedTimes:
        """Only these pairs."""
        return PairedTimes(
            self.start[chosen],
            self.latency[chosen],
            self.failed[chosen],
            self.first[chosen],
            self.before[chosen],
            None if self.places is None else self.places[chosen],
            self.sides,
        )

    def at(self, side: int, place: int) -> PairedTimes:
        """Only those in which a side had this place."""
        if self.places is None:
            return self.where(self.first == (side if place == 0 else 1 - side))
        return self.where(self.places[:, side] == place)


def paired_times(pairs: npt.NDArray[np.void]) -> tuple[PairedTimes, ...]:
    """The generator's array as comparisons of each further server with the first."""
    servers = pairs["latency"].shape[1]
    if servers == 2:
        return (PairedTimes.of(pairs),)
    order = np.argsort(pairs["start"], axis=1, kind="stable")
    places = np.argsort(order, axis=1)
    previous = _previous_servers(pairs["client"], pairs["position"], order)
    return tuple(_against_first(pairs, side, places, previous) for side in range(1, servers))


def throughput(times: PairedTimes) -> float:
    """θ. A failed transaction takes time and gives nothing. NaN where a side did nothing."""
    busy = times.latency.sum(axis=0, dtype=np.float64)
    done = (~times.failed).sum(axis=0)
    if not (done.all() and busy.all()):
        return math.nan
    return math.log(done[1] / busy[1]) - math.log(done[0] / busy[0])


def typical(times: PairedTimes) -> float:
    """The median of ln(t_A/t_B) over pairs of which none failed, both orders weighing alike.

    What was just before a transaction shifts its time: whether the client's last one was on the
    same server decides whether its process is still warm, and how the system's scheduler treats
    it. With A first the ratios are shifted one way and with B first the other; so that chance in
    the numbers of both does not shift the median, pairs of each past weigh half in each order. The
    median of all, because stalls are many and long: Hodges and Lehmann's centre, and the mean of
    each order's median, deviated more on a machine with other load. Exchanged servers have the
    opposite number. NaN where there is no pair.
    """
    whole = times.where(np.asarray(~times.failed.any(axis=1)))
    if not len(whole):
        return math.nan
    logs = np.log(whole.latency.astype(np.float64))
    return _weighted_median(logs[:, 0] - logs[:, 1], _weights(whole))


def numbers(times: PairedTimes) -> StartNumbers:
    """Both."""
    return StartNumbers(throughput(times), typical(times))


def carry_over(times: PairedTimes) -> StartNumbers:
    """By how much B seems faster than it is because of what servers leave behind for the next: the
    work of their background processes, caches, heat.

    Each server's own time is compared between the turns in which it was first and those in which it
    was second, or later. What this does to both sides alike, the random order takes out; of what it
    does to A more than to B, the mean over all places (of two: half) is in the numbers. NaN where
    one place is missing.
    """
    a, b = (_later_than_first(times, side) for side in (0, 1))
    return StartNumbers(a.throughput - b.throughput, a.typical - b.typical)


def parts(times: PairedTimes, count: int = PARTS) -> list[StartNumbers]:
    """The numbers of parts of equal time, in order; those without pairs of both are left out."""
    begun = times.start.min(axis=1)
    if not len(begun):
        return []
    edges = np.linspace(0.0, float(begun.max()) + 1.0, count + 1)
    of = np.searchsorted(edges, begun, side="right") - 1
    of_parts = [numbers(times.where(of == part)) for part in range(count)]
    return [
        part for part in of_parts if not (math.isnan(part.throughput) or math.isnan(part.typical))
    ]


def _later_than_first(times: PairedTimes, side: int) -> StartNumbers:
    """By how much a side is slower, as the mean over all places, than in the first place."""
    first, *later = (times.at(side, place) for place in range(times.sides))
    if not all(len(chosen) for chosen in (first, *later)):
        return StartNumbers(math.nan, math.nan)
    return StartNumbers(
        sum(_log_mean(turns, side) - _log_mean(first, side) for turns in later) / times.sides,
        sum(_log_median(turns, side) - _log_median(first, side) for turns in later) / times.sides,
    )


def _log_mean(times: PairedTimes, side: int) -> float:
    """Compute ln of a side's whole time by its transactions that did not fail; NaN without any."""
    done = int((~times.failed[:, side]).sum())
    return math.log(times.latency[:, side].sum(dtype=np.float64) / done) if done else math.nan


def _log_median(times: PairedTimes, side: int) -> float:
    done = times.latency[~times.failed[:, side], side]
    return float(np.log(np.median(done))) if len(done) else math.nan


def _weights(times: PairedTimes) -> FloatArray:
    """Weigh pairs so that both orders count alike for each past, where both are there."""
    weights = np.ones(len(times))
    for before in np.unique(times.before):
        orders = [(times.before == before) & (times.first == first) for first in (0, 1)]
        counts = [int(order.sum()) for order in orders]
        if all(counts):
            for order, count in zip(orders, counts, strict=True):
                weights[order] = sum(counts) / 2 / count
    return weights


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Half of the weight lies on each side; between two values where just half is up to one."""
    order = np.argsort(values)
    sums = weights[order].cumsum()
    half, least = sums[-1] / 2, sums[-1] * ROUNDING
    low, high = np.searchsorted(sums, (half - least, half + least))
    return float(values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2


def _before(client: Integers, first: Integers, position: Integers) -> Integers:
    """A client's pairs stand in the order in which it ran them; it ended each on its second."""
    order = np.argsort(client, kind="stable")
    follows = client[order][1:] == client[order][:-1]
    same = follows & (first[order][1:] != first[order][:-1])
    before = np.full(len(client), OTHER_SERVER)
    before[order[1:][same]] = SAME_SERVER
    before[position > 0] = SAME_BATCH
    return before


def _previous_servers(client: Integers, position: Integers, order: Integers) -> Integers:
    """The server of a client's transaction before; ``order``: each turn's servers, in order."""
    of_client = np.argsort(client, kind="stable")
    last = np.full(len(client), NO_SERVER)
    follows = client[of_client][1:] == client[of_client][:-1]
    last[of_client[1:][follows]] = order[of_client[:-1][follows], -1]
    by_place = np.column_stack((last, order[:, :-1]))
    previous = np.empty_like(by_place)
    np.put_along_axis(previous, order, by_place, axis=1)
    within = position > 0
    previous[within] = np.arange(order.shape[1])
    return previous


def _against_first(
    pairs: npt.NDArray[np.void], side: int, places: Integers, previous: Integers
) -> PairedTimes:
    """The transactions of one server and of the first. Turns weigh alike with those in which both
    have exchanged who came first, and what was before each: the same server, the other, a third."""
    own, both = np.array([0, side]), [0, side]
    here = previous[:, both]
    kinds = np.where(here == own, SAME_SERVER, OTHER_SERVER)
    kinds[(here != own) & (here != own[::-1]) & (here != NO_SERVER)] = THIRD_SERVER
    places = places[:, both]
    first = (places[:, 1] < places[:, 0]).astype(np.int64)
    rows = np.arange(len(pairs))
    before = kinds[rows, first] * (THIRD_SERVER + 1) + kinds[rows, 1 - first]
    return PairedTimes(
        pairs["start"][:, both],
        pairs["latency"][:, both],
        pairs["sqlstate"][:, both] != b"",
        first,
        before,
        places,
        pairs["latency"].shape[1],
    )


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
    """The base's and each further side's, of their comparisons with it in so many ``seconds`` of
    wall time; None where a side completed nothing. TPS are those of as many clients that do nothing
    else: their number by the mean time of a transaction, failed ones' time included."""
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
    """Telemetry of a side without the processor time of the other sides' servers. A server is
    counted as Teiten's where processes are told apart by their parents, else as a stranger's: its
    time is taken from Teiten's first, and the rest of it from the strangers'."""
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
