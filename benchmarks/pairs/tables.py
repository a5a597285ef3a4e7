"""The tables of what was kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.figures import mean_interval, row
from benchmarks.pairs.experiments import Line
from benchmarks.pairs.servers import BASE_ROWS
from teiten.model.starts import (
    PairedStart,
    spread,
    variance_of_a_second,
    wall_seconds,
)

NUMBERS = ("throughput", "typical")


def tables(lines: Iterable[Line]) -> str:
    """Markdown, of the experiments that were run."""
    known = list(lines)
    made = {
        "deviation": of_deviation,
        "effects": of_effects,
        "carried": of_carried,
        "starts": of_starts,
        "pgbench": of_pgbench,
    }
    sections = []
    for name, table in made.items():
        own = [line for line in known if line["experiment"] == name]
        if own:
            sections += [f"## {name}", "", *table(own), ""]
    return "\n".join(sections)


def groups(lines: list[Line], *keys: str) -> Iterator[tuple[tuple[object, ...], list[Line]]]:
    for group in dict.fromkeys(tuple(line.get(key) for key in keys) for line in lines):
        yield group, [line for line in lines if tuple(line.get(key) for key in keys) == group]


def deviation_of(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def mean_of(values: list[float]) -> str:
    if len(values) < 2:
        return "–"
    mean, _, high = mean_interval(values)
    return f"{mean:+.2%} ± {high - mean:.2%}"


def values(lines: list[Line], key: str, **where: object) -> list[float]:
    return [
        line[key]
        for line in lines
        if key in line and all(line.get(name) == value for name, value in where.items())
    ]


def of_deviation(lines: list[Line]) -> Iterator[str]:
    yield (
        "| script | clients | way | starts | throughput | typical | slices/throughput"
        " | slices/typical | mean of throughput | mean of typical |"
    )
    yield "|---" * 10 + "|"
    for (script, clients), own in groups(lines, "script", "clients"):
        slices = values(own, "throughput", way="slices")
        cells = [script, clients, "slices", len(slices), f"{deviation_of(slices):.2%}"]
        yield row(*cells, "–", 1, "–", mean_of(slices), "–")
        for way in ("pairs", "pinned pairs"):
            both = [values(own, number, way=way) for number in NUMBERS]
            deviations = [deviation_of(log_ratios) for log_ratios in both]
            ratios = [f"{deviation_of(slices) / deviation:.1f}" for deviation in deviations]
            cells = [
                script,
                clients,
                way,
                len(both[0]),
                *[f"{deviation:.2%}" for deviation in deviations],
            ]
            yield row(*cells, *ratios, *map(mean_of, both))


SHORT = "pinned pairs"
"""The way that the short table shows beside slices: it is Teiten's own."""


def of_deviation_in_short(lines: list[Line]) -> Iterator[str]:
    """A row for each script: deviations by clients, and how often they go into slices'."""
    yield (
        "| script, clients | starts | slices of 1 s | throughput | typical transaction"
        " | slices ÷ throughput | slices ÷ typical |"
    )
    yield "| --- |" + " --: |" * 6
    for (script,), own in groups(lines, "script"):
        of_clients = [mine for _, mine in groups(own, "clients")]
        clients = [mine[0]["clients"] for mine in of_clients]
        slices, *deviations = (
            [deviation_of(values(mine, number, way=way)) for mine in of_clients]
            for way, number in (("slices", "throughput"), *((SHORT, name) for name in NUMBERS))
        )
        shares = (
            [of_slices / deviation for of_slices, deviation in zip(slices, by_clients, strict=True)]
            for by_clients in deviations
        )
        yield row(
            f"{script}, {_by_clients(clients, 'd')}",
            min(len(values(mine, "throughput", way=SHORT)) for mine in of_clients),
            *(
                f"{_by_clients([100 * deviation for deviation in by_clients], '.2g')} %"
                for by_clients in (slices, *deviations)
            ),
            *(_by_clients(by_clients, ".0f") for by_clients in shares),
        )


def _by_clients(numbers: Iterable[float], form: str) -> str:
    return " / ".join(f"{number:{form}}" for number in numbers)


def of_effects(lines: list[Line]) -> Iterator[str]:
    yield "| script | more | starts | expected | throughput | typical |"
    yield "|---" * 6 + "|"
    for (script,), of_script in groups(lines, "script"):
        twice = values(of_script, "typical", rows=2 * BASE_ROWS)
        share = math.exp(-float(np.median(twice))) - 1 if twice else math.nan
        for (rows,), own in groups(of_script, "rows"):
            more = int(str(rows)) / BASE_ROWS - 1
            means = [mean_of(values(own, number)) for number in NUMBERS]
            yield row(script, f"{more:.0%}", len(own), f"{-math.log1p(share * more):+.2%}", *means)


def of_carried(lines: list[Line]) -> Iterator[str]:
    yield (
        "| script | way | starts | ms | throughput | typical | second is faster: throughput"
        " | typical |"
    )
    yield "|---" * 8 + "|"
    for (script, way), own in groups(lines, "script", "way"):
        keys = (*NUMBERS, "order_throughput", "order_typical")
        mean = f"{np.mean(values(own, 'mean_ms')):.3f}"
        yield row(script, way, len(own), mean, *[mean_of(values(own, key)) for key in keys])


def of_starts(lines: list[Line]) -> Iterator[str]:
    yield "| script | starts | F (s) | number | deviation | within, of 1 s | between (b) | W (s) |"
    yield "|---" * 8 + "|"
    for (script,), own in groups(lines, "script"):
        fixed = float(np.median(values(own, "fixed")))
        for number in NUMBERS:
            log_ratios = values(own, number)
            if len(log_ratios) < 2:
                continue
            known = spread(
                [
                    PairedStart(
                        line[number],
                        variance_of_a_second(line[f"parts_{number}"], line["seconds"]),
                        line["seconds"],
                    )
                    for line in own
                ]
            )
            cells = [script, len(own), f"{fixed:.1f}", number, f"{deviation_of(log_ratios):.2%}"]
            cells += [f"{math.sqrt(known.within):.2%}", f"{known.between:.2%}"]
            yield row(*cells, f"{wall_seconds(fixed, known):.0f}")


def of_pgbench(lines: list[Line]) -> Iterator[str]:
    yield "| script | clients | runs | pgbench (TPS) | this (TPS) | ratio |"
    yield "|---" * 6 + "|"
    for (script, clients), own in groups(lines, "script", "clients"):
        logs = [math.log(line["pairs"] / line["pgbench"]) for line in own]
        tps = [f"{np.median(values(own, way)):.0f}" for way in ("pgbench", "pairs")]
        yield row(script, clients, len(own), *tps, mean_of(logs))
