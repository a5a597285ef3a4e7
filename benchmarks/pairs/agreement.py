"""Whether the ways of loading two servers agree: real effects, by clients, beside CPU time.

    python -m benchmarks.pairs.agreement RECORD [--rounds 6] [--seconds 3] [--minutes 60]
                                         [--effects NAME ...] [--clients 1,2,4,8]

For each effect and number of clients, in each round and in random order: turns of pgbench (one
server loaded, then the other: the classic way), paired transactions, and in step. Both servers are
up and not restarted in between, so that all ways meet the same processes, memory and files. Of each
way: ln(B/A) of throughput, and of the servers' CPU time per transaction (their backends', as the
postmaster counts them once they have ended).

RECORD has a line of JSON for each round of an effect and number of clients; started again, it goes
on from there. Printed: the table of docs/concepts/trust.md.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.figures import mean_interval, row
from benchmarks.pairs.experiments import Line
from benchmarks.pairs.servers import DEFAULTS, Pair, two_servers
from benchmarks.pairs.tables import groups
from benchmarks.records import keep, kept, record_parser, within
from benchmarks.servers import cpu_seconds
from teiten.host.system.paths import Workdir
from teiten.kinds.pgbench.load.paired_numbers import PairedTimes, numbers
from teiten.model.settings import ABOUT_FLUSHES

CLASSIC, PAIRS, IN_STEP = WAYS = ("classic", "pairs", "in step")
TURNS = 2
"""Of each server in a round of the classic way."""


@dataclass(frozen=True)
class Effect:
    """Two servers that differ in what is named."""

    a: str
    b: str
    script: str
    settings: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})
    """Of the sessions of A and of B."""


VERSIONS = ("wheel:16", "wheel:18")
EFFECTS = {
    "versions, one row": Effect(*VERSIONS, "select-only"),
    "versions, 10,000 rows": Effect(*VERSIONS, "range read"),
    "versions, update": Effect(*VERSIONS, "tpcb-like"),
    "build (-Os, -O2)": Effect("18", "wheel:18", "range read"),
    "setting (log_statement)": Effect(
        "18", "18", "select-only", ({"log_statement": "none"}, {"log_statement": "all"})
    ),
    "planted stalls": Effect("18", "18", "stall", ({"teiten.stalls": "0"}, {"teiten.stalls": "2"})),
    "disk (synchronous_commit)": Effect(
        *("18", "18", "tpcb-like"),
        ({"synchronous_commit": "on"}, {"synchronous_commit": "off"}),
    ),
}


def main() -> None:
    parser = record_parser(__doc__, minutes=60.0)
    parser.add_argument("--effects", nargs="+", choices=EFFECTS, default=list(EFFECTS))
    parser.add_argument("--clients", default="1,2,4,8")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each server in each way")
    given = parser.parse_args()
    clients = [int(count) for count in given.clients.split(",")]
    for name in given.effects:
        measure(given, name, clients)
    print("\n".join(table(kept(given.record))))


def measure(given: argparse.Namespace, name: str, clients: list[int]) -> None:
    """What is still to do of an effect, round by round."""
    effect = EFFECTS[name]
    done = [line for line in kept(given.record) if line["effect"] == name]
    missing = [
        (number, count)
        for number in range(given.rounds)
        for count in clients
        if not any((line["round"], line["clients"]) == (number, count) for line in done)
    ]
    if not missing:
        return
    with two_servers(effect.a, Workdir(given.workdir), effect.b) as pair:
        for number, count in within(given.minutes / len(given.effects), missing):
            own = {"effect": name, "round": number, "clients": count, "cores": os.cpu_count()}
            keep(given.record, {**own, **one_round(pair, effect, count, given.seconds)})


def one_round(pair: Pair, effect: Effect, clients: int, seconds: float) -> Line:
    """Each way once, in random order."""
    line: Line = {}
    for way in random.sample(WAYS, len(WAYS)):
        seed = time.time_ns() % 1_000_000_000
        line[way] = RUNS[way](pair, effect, clients, seconds, seed)
    return {**line, "load": os.getloadavg()[0]}


def in_turns(pair: Pair, effect: Effect, clients: int, seconds: float, seed: int) -> list[float]:
    """ln(B/A) of pgbench's throughput, and of CPU time per transaction."""
    work, cpu = np.zeros(2), np.zeros(2)
    settings = settings_of(effect)
    for turn in range(TURNS):
        for side in random.sample((0, 1), 2):
            before = cpu_seconds(pair.clusters[side])
            tps = pair.run_pgbench(
                side,
                effect.script,
                clients,
                seconds / TURNS,
                seed=seed + turn,
                threads=min(2, clients),
                settings=settings[side],
            )
            work[side] += tps * seconds / TURNS
            cpu[side] += cpu_seconds(pair.clusters[side]) - before
    return [log_ratio(work), log_ratio(cpu / work)]


def side_by_side(in_step: bool) -> Callable[[Pair, Effect, int, float, int], list[float]]:
    """A way of the native generator."""

    def run(pair: Pair, effect: Effect, clients: int, seconds: float, seed: int) -> list[float]:
        before = np.array([cpu_seconds(cluster) for cluster in pair.clusters])
        result = pair.run_pairs(
            *(effect.script, clients, 2 * seconds, seed),
            settings=settings_of(effect),
            in_step=in_step,
            pin=not in_step,
        )
        after = np.array([cpu_seconds(cluster) for cluster in pair.clusters])
        times = PairedTimes.of(result.pairs)
        return [numbers(times).throughput, log_ratio(after - before)]

    return run


RUNS = {CLASSIC: in_turns, PAIRS: side_by_side(in_step=False), IN_STEP: side_by_side(in_step=True)}


def settings_of(effect: Effect) -> tuple[Mapping[str, str], Mapping[str, str]]:
    first, second = effect.settings
    return {**DEFAULTS, **first}, {**DEFAULTS, **second}


def log_ratio(values: npt.NDArray[np.float64]) -> float:
    return math.log(values[1] / values[0])


def offered_way(effect: Effect, clients: int, cores: int) -> str:
    """The way that Teiten takes where none is asked for."""
    if any(ABOUT_FLUSHES.intersection(settings) for settings in effect.settings):
        return CLASSIC
    return PAIRS if clients <= cores else IN_STEP


def table(lines: list[Line]) -> Iterator[str]:
    """A row for each effect and number of clients; B's speed over A's, of each way."""
    yield (
        "| effect | clients | rounds | classic | pairs | in step | CPU, classic | CPU, pairs"
        " | CPU, in step | offered | agrees with classic |"
    )
    yield "| --- |" + " --: |" * 8 + " --- | --- |"
    agreeing: list[bool] = []
    for (name, clients), own in groups(lines, "effect", "clients"):
        if len(own) < 2:
            continue
        offered = offered_way(EFFECTS[own[0]["effect"]], own[0]["clients"], own[0]["cores"])
        speed = {way: mean_interval([line[way][0] for line in own]) for way in WAYS}
        cost = {way: mean_interval([-line[way][1] for line in own]) for way in WAYS}
        low, high = speed[offered][1:]
        agrees = low <= speed[CLASSIC][2] and speed[CLASSIC][1] <= high
        if offered != CLASSIC:
            agreeing.append(agrees)
        agreement = "–" if offered == CLASSIC else "yes" if agrees else "**no**"
        cells = (*(ratio(*speed[way]) for way in WAYS), *(ratio(*cost[way]) for way in WAYS))
        yield row(name, clients, len(own), *cells, offered, agreement)
    if agreeing:
        loads = [line["load"] for line in lines]
        yield (
            f"\nthe offered way agrees with the classic one in {sum(agreeing)} of {len(agreeing)};"
            f" load average, median: {np.median(loads):.1f}"
        )


def ratio(mean: float, low: float, high: float) -> str:
    return f"{math.exp(mean):.3f} ± {(math.exp(high) - math.exp(low)) / 2:.3f}"


if __name__ == "__main__":
    main()
