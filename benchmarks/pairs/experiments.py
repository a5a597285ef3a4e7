"""What is run: each experiment yields what one start of each way gave, as lines to keep."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.pairs.servers import Pair, more_rows
from teiten.execute.client.paired import PairedResult
from teiten.kinds.pgbench.load.measured import trimmed_mean
from teiten.kinds.pgbench.load.paired_numbers import PairedTimes, carry_over, numbers, parts

Line = dict[str, Any]
READS = ("select-only", "range read")
SCRIPTS = (*READS, "tpcb-like")
CLIENTS = (1, 2, 4)
SLICE_SECONDS = 1.0
ROWS = (10_100, 10_200, 10_500, 20_000)
BATCHES = (1, 20)
WAYS: dict[str, Line] = {
    **{f"k = {batch}": {"batch": batch} for batch in BATCHES},
    **{f"k = {batch}, pinned": {"batch": batch, "pin": True} for batch in BATCHES},
    **{f"in step, k = {batch}": {"batch": batch, "in_step": True} for batch in BATCHES},
}


def deviation(pair: Pair, seconds: float, seed: int) -> Iterator[Line]:
    """Each script and number of clients: pairs of transactions, and slices of pgbench."""
    for clients in CLIENTS:
        for script in SCRIPTS:
            ways = [paired, pinned, sliced]
            random.shuffle(ways)
            for way in ways:
                yield way(pair, script, clients, seconds, seed)


def effects(pair: Pair, seconds: float, seed: int) -> Iterator[Line]:
    """B has more rows to read, or longer to wait."""
    for script in ("range read", "wait"):
        for rows in ROWS:
            more = more_rows(rows)
            yield {"rows": rows, **started(pair, script, 2, seconds, seed, settings=more, pin=True)}


def carried(pair: Pair, seconds: float, seed: int) -> Iterator[Line]:
    """A against A by the number of transactions on one server before the other."""
    for script in ("select-only", "tpcb-like"):
        for way, options in WAYS.items():
            yield {"way": way, **started(pair, script, 4, seconds, seed, **options)}


def starts(pair: Pair, seconds: float, seed: int) -> Iterator[Line]:
    """Both servers start anew each time."""
    for script in ("select-only", "range read"):
        began = time.monotonic()
        pair.restart()
        pair.run_pairs(script, 2, 1.0, seed + 1)
        fixed = time.monotonic() - began
        yield {"fixed": fixed, **started(pair, script, 2, seconds, seed, pin=True)}


def pgbench(pair: Pair, seconds: float, seed: int) -> Iterator[Line]:
    """The generator and pgbench on the same server, one after the other in random order."""
    for script in SCRIPTS:
        for clients, threads in ((1, 1), (4, 1), (16, 2)):
            ways = ["pairs", "pgbench"]
            random.shuffle(ways)
            line: Line = {"script": script, "clients": clients}
            for way in ways:
                if way == "pgbench":
                    line[way] = pair.run_pgbench(
                        0, script, clients, seconds, seed=seed, threads=threads
                    )
                else:
                    result = pair.run_pairs(
                        script, clients, seconds, seed, sides=(0,), threads=threads
                    )
                    line[way] = result.summary["pairs"] / result.summary["seconds"]
            yield line


EXPERIMENTS = {
    experiment.__name__: experiment for experiment in (deviation, effects, carried, starts, pgbench)
}


def started(
    pair: Pair, script: str, clients: int, seconds: float, seed: int, **options: Any
) -> Line:
    """One start of the generator."""
    result = pair.run_pairs(script, clients, seconds, seed, **options)
    return {"script": script, "clients": clients, **of_start(result)}


def paired(pair: Pair, script: str, clients: int, seconds: float, seed: int) -> Line:
    return {"way": "pairs", **started(pair, script, clients, seconds, seed)}


def pinned(pair: Pair, script: str, clients: int, seconds: float, seed: int) -> Line:
    return {"way": "pinned pairs", **started(pair, script, clients, seconds, seed, pin=True)}


def of_start(result: PairedResult) -> Line:
    times = PairedTimes.of(result.pairs)
    whole, order = numbers(times), carry_over(times)
    inside = parts(times)
    return {
        "pairs": len(times),
        "throughput": whole.throughput,
        "typical": whole.typical,
        "order_throughput": order.throughput,
        "order_typical": order.typical,
        "parts_throughput": [part.throughput for part in inside],
        "parts_typical": [part.typical for part in inside],
        "mean_ms": float(times.latency.mean()) / 1e6,
    }


def sliced(pair: Pair, script: str, clients: int, seconds: float, seed: int) -> Line:
    """As a trial of slices: turns of a second, each side's trimmed mean (plain for updates)."""
    tps: tuple[list[float], list[float]] = ([], [])
    for turn in range(round(seconds / 2 / SLICE_SECONDS)):
        for side in random.sample((0, 1), 2):
            threads = max(1, clients // 2)
            rate = pair.run_pgbench(
                side, script, clients, SLICE_SECONDS, seed=seed + turn, threads=threads
            )
            tps[side].append(rate)
    mean = trimmed_mean if script in READS else lambda values: math.fsum(values) / len(values)
    throughput = math.log(mean(tps[1]) / mean(tps[0]))
    return {"way": "slices", "script": script, "clients": clients, "throughput": throughput}
