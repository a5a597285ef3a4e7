"""How often campaigns of starts whose length follows from those before are wrong; simulated.

Noise is drawn: between starts of one server a deviation b, within a start the variance v of a
second, its eight parts independent or alike (a lag-1 correlation). The rules are Teiten's own. A
campaign ends with its verdict, after 300 s, or after 40 starts. ``python -m benchmarks.trust
lengths`` prints the table, with no effect and with 2 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.figures import row
from teiten.analysis.model.findings import Verdict, VerdictKind
from teiten.analysis.verdict.sequential import decide_sequentially, is_decided
from teiten.analysis.verdict.verdict import Rule
from teiten.model.metrics import Better
from teiten.model.starts import PairedStart, next_seconds, variance_of_a_second
from teiten.model.units import Share

RULE = Rule(Share(0.02), Share(0.05), Better.HIGHER)
"""Of campaigns of paired transactions, simulated and real."""
FIXED = 4.0
"""Seconds of a start besides its load."""
BUDGET, MOST = 300.0, 40
PARTS = 8


@dataclass(frozen=True)
class Machine:
    """Its noise."""

    between: float
    within: float
    alike: float = 0.0
    """The correlation of a part with the one before."""

    def start(self, effect: float, seconds: float, random: np.random.Generator) -> PairedStart:
        own = effect + random.normal(0, self.between * math.sqrt(2))
        parts = random.normal(0, math.sqrt(self.within / seconds * PARTS), PARTS)
        for at in range(1, PARTS):
            fresh = math.sqrt(1 - self.alike**2)
            parts[at] = self.alike * parts[at - 1] + fresh * parts[at]
        inside = (own + parts).tolist()
        number = math.fsum(inside) / PARTS
        return PairedStart(number, variance_of_a_second(inside, seconds), seconds, FIXED)


MACHINES = (
    Machine(0.002, 0.001),
    Machine(0.005, 0.001),
    Machine(0.01, 0.001),
    Machine(0.012, 0.004),
    Machine(0.005, 0.02),
    Machine(0.005, 0.02, alike=0.6),
)


def campaign(
    machine: Machine, effect: float, random: np.random.Generator
) -> tuple[Verdict, int, float]:
    """The verdict, after how many starts, and the seconds."""
    starts: list[PairedStart] = []
    spent = 0.0
    verdict = decide_sequentially([], RULE)
    while len(starts) < MOST:
        seconds = next_seconds(starts)
        if spent + seconds + FIXED > BUDGET:
            break
        spent += seconds + FIXED
        starts.append(machine.start(effect, seconds, random))
        verdict = decide_sequentially([start.number for start in starts], RULE)
        if is_decided(verdict):
            break
    return verdict, len(starts), spent


def rows(campaigns: int, seed: int) -> Iterator[str]:
    random = np.random.default_rng(seed)
    yield "| b | √v | alike | truth | different | equivalent | undecided | starts | median time |"
    yield "|---" * 9 + "|"
    for machine in MACHINES:
        for effect in (0.0, 0.02):
            outcomes = [campaign(machine, math.log1p(effect), random) for _ in range(campaigns)]
            kinds = Counter(verdict.kind for verdict, _, _ in outcomes)
            equal = kinds[VerdictKind.EQUIVALENT] / campaigns
            open_ = kinds[VerdictKind.INCONCLUSIVE] / campaigns
            starts = np.mean([count for _, count, _ in outcomes])
            time = np.median([spent for _, _, spent in outcomes])
            cells = (
                *(f"{machine.between:.1%}", f"{math.sqrt(machine.within):.1%}", machine.alike),
                *(f"{effect:.0%}", f"{1 - equal - open_:.1%}", f"{equal:.1%}", f"{open_:.1%}"),
                *(f"{starts:.1f}", f"{time:.0f} s"),
            )
            yield row(*cells)
