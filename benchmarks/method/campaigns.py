"""Simulated campaigns judged by each rule, counted over many chunks of simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.figures import percent
from benchmarks.method.designs import Design, simulate
from benchmarks.method.noise import Array
from benchmarks.method.rules import ALPHA, Said, fixed, reports, sequential

EFFECTS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05)
"""By which share the new server is truly slower."""
CHUNK = 2_000

SETS = Design(seconds=300, blocks=3, levels=1, adjacent=False)
"""The reports: three sets of 300 s."""
PAIRS = Design(seconds=60, blocks=12, levels=1, adjacent=True)
"""Teiten in the same machine time, where it spends all of it."""
SWEEP_OF_SETS = Design(seconds=300, blocks=3, levels=8, adjacent=False)
SWEEP_OF_PAIRS = Design(seconds=30, blocks=5, levels=8, adjacent=True)
"""Eight levels in a quarter of the reports' machine time."""


@dataclass
class Tally:
    """How often a rule said what of a given truth."""

    campaigns: int = 0
    differs: int = 0
    slower: int = 0
    equivalent: int = 0
    covers: int = 0
    pairs: int = 0
    has_interval: bool = False

    def add(self, verdicts: Said) -> None:
        self.campaigns += len(verdicts.differs)
        self.differs += int(verdicts.differs.sum())
        self.slower += int(verdicts.slower.sum())
        self.equivalent += int(verdicts.equivalent.sum())
        self.pairs += int(verdicts.pairs.sum())
        if verdicts.covers is not None:
            self.has_interval = True
            self.covers += int(verdicts.covers.sum())

    def share(self, count: int) -> float:
        return count / self.campaigns


Rule = Callable[[Array, float], Said]
"""Logarithms of the metric, (campaigns, blocks, levels, 2), and the truth."""


def _differences(cells: Array, truth: float) -> Array:
    """d of each block and level: (campaigns, blocks, levels)."""
    differences: Array = cells[..., 1] - cells[..., 0] + truth
    return differences


def one_level(rule: Rule) -> Rule:
    return lambda cells, truth: rule(_differences(cells, truth)[:, :, 0], truth)


def over_levels(cells: Array, truth: float) -> Said:
    """The primary verdict: block means over the levels, sequentially."""
    differences = _differences(cells, truth)
    return sequential(differences.mean(axis=2), truth, levels=differences.shape[2])


def any_level(cells: Array, truth: float) -> Said:
    """Whether any of K levels is said to differ, each at α/K."""
    differences = _differences(cells, truth)
    levels = differences.shape[2]
    return _any(sequential(differences[:, :, at], truth, ALPHA / levels) for at in range(levels))


def reports_mean(cells: Array, truth: float) -> Said:
    """The reports' rule on the mean over the levels of the sets' medians."""
    medians = np.median(cells, axis=1).mean(axis=1)
    return reports(np.repeat(medians[:, None, :], cells.shape[1], axis=1), truth)


def reports_any(cells: Array, truth: float) -> Said:
    return _any(reports(cells[:, :, at, :], truth) for at in range(cells.shape[2]))


def _any(single: Iterator[Said]) -> Said:
    levels = list(single)
    differs = np.any([level.differs for level in levels], axis=0)
    return Said(
        differs,
        np.any([level.slower for level in levels], axis=0),
        np.all([level.equivalent for level in levels], axis=0),
        None,
        np.stack([level.pairs for level in levels]).max(axis=0),
    )


Rules = Mapping[str, tuple[Design, Rule]]

SINGLE: Rules = {
    "Teiten, sequential": (PAIRS, one_level(sequential)),
    "Teiten, fixed": (PAIRS, one_level(fixed)),
    "reports": (SETS, lambda cells, truth: reports(cells[:, :, 0, :], truth)),
}
SWEEP: Rules = {
    "Teiten, overall": (SWEEP_OF_PAIRS, over_levels),
    "Teiten, any of 8 levels": (SWEEP_OF_PAIRS, any_level),
    "reports, mean of 8 levels": (SWEEP_OF_SETS, reports_mean),
    "reports, any of 8 levels": (SWEEP_OF_SETS, reports_any),
}

Tallies = dict[tuple[str, float], Tally]
"""By rule and true effect."""


def count(rules: Rules, kind: str, campaigns: int, seed: int) -> Tallies:
    """Judge ``campaigns`` simulations of each design, every true effect on the same noise."""
    tallies: Tallies = {(name, effect): Tally() for name in rules for effect in EFFECTS}
    for chunk in range(0, campaigns, CHUNK):
        size = min(CHUNK, campaigns - chunk)
        for design in dict.fromkeys(design for design, _ in rules.values()):
            random = np.random.default_rng([seed, chunk, *kind.encode()])
            cells = simulate(design, kind, size, random)
            for name, (of, rule) in rules.items():
                for effect in EFFECTS if of is design else ():
                    tallies[name, effect].add(rule(cells, float(np.log1p(-effect))))
    return tallies


COLUMNS = (
    *("false alarms", "interval holds the truth", "2 % found"),
    *("2 % missed as “no difference”", "pairs"),
)


def cells(tallies: Tallies, name: str) -> list[str]:
    """A rule's numbers in the order of COLUMNS."""
    none, two = tallies[name, 0.0], tallies[name, 0.02]
    covered = min(tally.share(tally.covers) for tally in (tallies[name, e] for e in EFFECTS))
    return [
        percent(none.share(none.differs)),
        percent(covered) if two.has_interval else "none",
        percent(two.share(two.slower)),
        percent(two.share(two.equivalent)),
        f"{two.share(two.pairs):.1f}",
    ]
