"""Whole comparisons by Teiten's own rules, with effects that are known: when they decide, how often
they are wrong, and how often their intervals hold the truth; on real servers.

    python -m benchmarks.pairs.comparisons RECORD [--comparisons 2] [--effects 0,0.01,0.02,0.05]
                  [--scripts "range read,wait,longer row"] [--budget 5] [--minutes 60]

A comparison is a campaign of `teiten ab` without its report: two new servers of one version, starts
of both, each restarted before, of 8 s and then as long as pays, until each of the two numbers is
decided or the budget (minutes) is spent. B has so much more work, by what twice the work was seen
to cost here; effect 0 is a null. All go round in turn, so that whatever the machine does meets each
alike.

RECORD has a line of JSON for each start, with the load average; started again, it goes on from
there, in the middle of a comparison too. Printed: the tables.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.figures import row
from benchmarks.pairs.experiments import Line, of_start
from benchmarks.pairs.lengths import RULE
from benchmarks.pairs.servers import BASE_ROWS, Pair, more_rows, two_servers
from benchmarks.pairs.tables import NUMBERS
from benchmarks.records import keep, kept, record_parser, within
from teiten.analysis.model.findings import Verdict, VerdictKind
from teiten.analysis.verdict.sequential import decide_sequentially, is_decided
from teiten.host.system.paths import Workdir
from teiten.model.starts import PairedStart, next_seconds, variance_of_a_second

SCRIPTS = ("range read", "wait", "longer row")
CLIENTS = 2
CALIBRATIONS, CALIBRATION_SECONDS = 3, 6.0
"""Of each script: starts in which B has twice the work."""
WITHOUT_TYPICAL = frozenset({"wait"})
"""A server waits whole milliseconds: most transactions have nothing of a small effect."""


def main() -> None:
    parser = record_parser(__doc__, minutes=60.0)
    parser.add_argument("--comparisons", type=int, default=2, help="of each script and effect")
    parser.add_argument("--effects", default="0,0.01,0.02,0.05")
    parser.add_argument("--scripts", default=",".join(SCRIPTS))
    parser.add_argument("--budget", type=float, default=5.0, help="minutes of a comparison")
    parser.add_argument("--server", default="18")
    given = parser.parse_args()
    effects = [float(effect) for effect in given.effects.split(",")]
    asked = list(itertools.product(range(given.comparisons), given.scripts.split(","), effects))
    for number, script, effect in within(given.minutes, asked):
        carry_out(given, number, script, effect)
    print("\n".join(tables(kept(given.record), 60 * given.budget)))


def carry_out(given: argparse.Namespace, number: int, script: str, effect: float) -> None:
    """What is still to do of a comparison."""
    own = {"comparison": number, "script": script, "effect": effect}
    budget = 60 * given.budget
    if is_over(of_one(kept(given.record), own), budget) and calibrated(given.record, script):
        return
    with two_servers(given.server, Workdir(given.workdir)) as pair:
        while not calibrated(given.record, script):
            line = start(pair, script, 2 * BASE_ROWS, CALIBRATION_SECONDS)
            keep(given.record, {"calibration": script, **line})
        share = share_of(kept(given.record), script)
        rows = round(BASE_ROWS * (1 + effect / share))
        while not is_over(lines := of_one(kept(given.record), own), budget):
            seconds = next_seconds([as_start(line, "throughput") for line in lines])
            keep(given.record, {**own, "rows": rows, **start(pair, script, rows, seconds)})


def start(pair: Pair, script: str, rows: int, seconds: float) -> Line:
    """One start of both servers; ``fixed``: what it takes beside its load."""
    began = time.monotonic()
    pair.restart()
    seed = int(time.time_ns() % 1_000_000_000)
    pair.run_pairs(script, CLIENTS, 1.0, seed + 1, pin=True)
    fixed = time.monotonic() - began
    settings = more_rows(rows)
    result = pair.run_pairs(script, CLIENTS, seconds, seed, settings=settings, pin=True)
    load = os.getloadavg()[0]
    return {"seconds": seconds, "fixed": fixed, "load": load, **of_start(result)}


def calibrated(record: Path, script: str) -> bool:
    calibrations = [line for line in kept(record) if line.get("calibration") == script]
    return len(calibrations) >= CALIBRATIONS


def share_of(lines: Iterable[Line], script: str) -> float:
    """By how much twice the work makes a transaction longer."""
    log_ratios = [-line["throughput"] for line in lines if line.get("calibration") == script]
    return math.expm1(float(np.median(log_ratios)))


def of_one(lines: Iterable[Line], own: Line) -> list[Line]:
    return [line for line in lines if all(line.get(key) == own[key] for key in own)]


def as_start(line: Line, number: str) -> PairedStart:
    within = variance_of_a_second(line[f"parts_{number}"], line["seconds"])
    return PairedStart(line[number], within, line["seconds"], line["fixed"])


def spent(starts: Iterable[Line]) -> float:
    """Seconds."""
    return math.fsum(line["seconds"] + line["fixed"] for line in starts)


def is_over(starts: list[Line], budget: float) -> bool:
    """Both numbers are decided, or another start would not end within the budget (seconds)."""
    if starts and all(is_decided(verdict(starts, number)) for number in NUMBERS):
        return True
    fixed = float(np.median([line["fixed"] for line in starts])) if starts else 0.0
    after = next_seconds([as_start(line, "throughput") for line in starts]) + fixed
    return spent(starts) + after > budget


def verdict(starts: list[Line], number: str) -> Verdict:
    return decide_sequentially([line[number] for line in starts], RULE)


def decided_after(starts: list[Line], number: str) -> list[Line]:
    """The starts until this number was decided; all of them where it was not."""
    for count in range(2, len(starts) + 1):
        if is_decided(verdict(starts[:count], number)):
            return starts[:count]
    return starts


def tables(lines: list[Line], budget: float) -> Iterator[str]:
    """A row for each script, effect and number, of the comparisons that are over."""
    yield (
        "| script | B's cost | number | comparisons | decided | median (s) | called different"
        " | equivalent | intervals that hold the truth | mean | load average |"
    )
    yield "|---" * 11 + "|"
    own = [line for line in lines if "comparison" in line]
    for script, effect in dict.fromkeys((line["script"], line["effect"]) for line in own):
        of_both = of_one(own, {"script": script, "effect": effect})
        numbers = dict.fromkeys(line["comparison"] for line in of_both)
        every = [of_one(of_both, {"comparison": number}) for number in numbers]
        over = [comparison for comparison in every if is_over(comparison, budget)]
        for number in NUMBERS if over else ():
            if effect and number == "typical" and script in WITHOUT_TYPICAL:
                continue
            yield _row(script, effect, number, over)
    loads = [line["load"] for line in lines]
    if loads:
        low, middle, high = np.quantile(loads, (0.1, 0.5, 0.9))
        yield f"\nload average, deciles: {low:.1f}, {middle:.1f}, {high:.1f}; {len(loads)} starts"


def _row(script: str, effect: float, number: str, comparisons: list[list[Line]]) -> str:
    truth = -math.log1p(effect)
    until = [decided_after(comparison, number) for comparison in comparisons]
    verdicts = [verdict(starts, number) for starts in until]
    seconds = [
        spent(starts) if is_decided(judged) else math.inf
        for starts, judged in zip(until, verdicts, strict=True)
    ]
    median, decided = float(np.median(seconds)), sum(map(math.isfinite, seconds))
    kinds = [judged.kind for judged in verdicts]
    equal = kinds.count(VerdictKind.EQUIVALENT)
    effects = [judged.effect for judged in verdicts if judged.effect is not None]
    held = sum(math.log(effect.low) <= truth <= math.log(effect.high) for effect in effects)
    mean = np.mean([np.mean([line[number] for line in starts]) for starts in until])
    load = np.median([start["load"] for comparison in comparisons for start in comparison])
    cells = (
        *(script, f"{effect:.0%}", number, len(comparisons), decided),
        f"{median:.0f}" if math.isfinite(median) else "–",
        *(decided - equal, equal, f"{held} of {len(effects)}", f"{mean:+.2%}", f"{load:.1f}"),
    )
    return row(*cells)


if __name__ == "__main__":
    main()
