"""Every number of a campaign's counted trials, by where it was measured: the one table of evidence.

A number has a place (a workload and levels of its factors), a quantity (a metric, or what a kind
reads from a trial beside its metrics) and, where the quantity has parts, a part (a step, a table of
a plan). At its place it has one value for each block. What is not there has one answer for all who
ask:

- a **level** that the workload does not have is refused (``UnmetError``), and so is a factor that a
  question does not name although the workload varies it; a factor that is not varied has nothing
  to be named, so that its ``first`` and ``last`` level are the study's own setting, and its only
  level is every trial's;
- a **NaN** is no number: the block has no value of this quantity;
- a **block** without a value is not there, and a ratio is made of the blocks that both sides have;
  a planned place without any counted trial has no blocks;
- **zero, negative and infinite** values are there, and have no logarithm: NaN, so that nothing can
  be said (``logarithm``); a server that did nothing at all would win if they were left out.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from teiten.analysis.model.claims import FIRST, LAST, MIDDLE
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.predicate import UnmetError
from teiten.model.plan import Context, Level, Plan
from teiten.model.progress import GivenBlocks, times_of
from teiten.model.study import SERVER

Blocks = Mapping[int, float]
"""Block to value; blocks of one number that a collection gave at different times are different."""
LevelOf = Mapping[str, str]
"""Factor to level."""


@dataclass(frozen=True)
class _Cell:
    """The counted trials of one combination of a workload's levels."""

    level: Level
    """Without that of the contrasted factor."""
    levels: LevelOf
    trials: Mapping[int, Mapping[str, float]]
    """Block to the numbers of its trial."""


@dataclass(frozen=True)
class EvidenceTable:
    """The numbers of one campaign, in base units (seconds, bytes, shares from 0 to 1)."""

    plan: Plan
    observations: Sequence[Observation]
    """The trials that count."""
    starts: Mapping[int, int] | None = None
    """The first block of those that share a start of their servers, by block, of the starts that
    are complete; None where each block has its own."""
    given: GivenBlocks = field(default_factory=dict)
    """The blocks that the campaign has from a collection."""
    _read: list[set[Level]] = field(default_factory=list, init=False, repr=False, compare=False)
    """The levels noted for each ``noting_levels``."""

    @contextmanager
    def noting_levels(self) -> Iterator[set[Level]]:
        """Yield a set that collects the levels at which numbers are read."""
        read: set[Level] = set()
        self._read.append(read)
        try:
            yield read
        finally:
            self._read.pop()

    @cached_property
    def _cells(self) -> Mapping[str, Sequence[_Cell]]:
        contrast = self.plan.study.contrast
        trials: dict[tuple[Level, str], dict[int, Mapping[str, float]]]
        trials = defaultdict(dict)
        for trial in self.observations:
            level = trial.workload, trial.context
            trials[level, trial.side][self._number(level, trial.block)] = trial.metrics
        cells: dict[str, list[_Cell]] = defaultdict(list)
        for (level, side), blocks in trials.items():
            workload, context = level
            cells[workload].append(_Cell(level, {**dict(context), contrast: side}, blocks))
        return cells

    def _number(self, level: Level, block: int) -> int:
        """The block's own number: that of the plan, beyond all of it where a collection gave the
        block later than at first."""
        return block + self._later(self.given.get(level, {}).get(block, 1))

    def _later(self, time: int) -> int:
        return (time - 1) * self.plan.study.measure.blocks

    @cached_property
    def _starts(self) -> Mapping[int, int] | None:
        """``starts`` by the blocks' own numbers."""
        if self.starts is None:
            return None
        later = [self._later(time) for time in times_of(self.given) or {1}]
        return {block + by: first + by for block, first in self.starts.items() for by in later}

    @cached_property
    def _levels(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        planned: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for cell in self.plan.cells:
            for name, level in cell.levels:
                planned[cell.workload][name].add(level)
        orders = {factor.name: factor.levels for factor in self.plan.study.factors}
        return {
            workload: {
                name: tuple(level for level in orders.get(name, sorted(levels)) if level in levels)
                for name in dict.fromkeys((*orders, *of_workload))
                if (levels := of_workload.get(name))
            }
            for workload, of_workload in planned.items()
        }

    def levels(self, workload: str) -> Mapping[str, tuple[str, ...]]:
        """The planned levels of each factor of a workload, in the study's order; empty for a
        workload without trials."""
        return self._levels.get(workload, {})

    def level(self, workload: str, factor: str, named: str) -> str:
        """A level by its name, or as ``first``, ``middle`` (of an odd number) or ``last``.

        Raises UnmetError for a level that the workload does not have.
        """
        levels = self.levels(workload).get(factor, ())
        if named in levels:
            return named
        if named in (FIRST, LAST):
            if not levels:
                raise UnmetError("factor", factor=factor)
            return levels[0 if named == FIRST else -1]
        if named == MIDDLE and len(levels) > 2 and len(levels) % 2:
            return levels[len(levels) // 2]
        raise UnmetError("contrast", factor=factor, levels=named)

    def place(self, workload: str, named: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Levels by their names; without those of factors that the workload does not vary.

        Raises UnmetError for a level that the workload does not have.
        """
        known = self.levels(workload)
        return {
            factor: self.level(workload, factor, level)
            for factor, level in named
            if factor in known or not self._is_setting(factor, level)
        }

    def _is_setting(self, factor: str, level: str) -> bool:
        """Whether the level of a factor that is not varied is the setting of every trial."""
        only_server = factor == SERVER and [name for name, _ in self.plan.servers] == [level]
        return level in (FIRST, LAST) or only_server

    def contexts(
        self, workload: str, named: Collection[str], *, free: Collection[str] | None = None
    ) -> list[dict[str, str]]:
        """Every combination of the levels of the factors that a question does not name, of those
        with more than one level; a single empty one where there are none.

        ``free``: the only factors that it may leave open; None for all. Raises UnmetError where
        the workload varies others.
        """
        varied = {
            name: levels
            for name, levels in self.levels(workload).items()
            if len(levels) > 1 and name not in named
        }
        unknown = [name for name in varied if free is not None and name not in free]
        if unknown:
            raise UnmetError("factors", factors=", ".join(unknown))
        combinations = itertools.product(*varied.values())
        return [dict(zip(varied, levels, strict=True)) for levels in combinations]

    def blocks(self, workload: str, at: LevelOf, name: str) -> Blocks:
        """The values of a quantity, or of one part (``QUANTITY:PART``), at one place, in the order
        of the blocks.

        ``at``: a level of each factor that the workload varies. Raises ValueError where it leaves
        one open, so that a block would have several values.
        """
        values: dict[int, float] = {}
        for cell in self._cells_at(workload, at):
            for block, numbers in cell.trials.items():
                value = numbers.get(name, math.nan)
                if math.isnan(value):
                    continue
                if block in values:
                    raise ValueError(f"{workload} at {dict(at)} is more than one place")
                values[block] = value
                for read in self._read:
                    read.add(cell.level)
        return dict(sorted(values.items()))

    def alone(self, values: Blocks) -> Blocks:
        """Logarithms by what stands for itself: the mean of the blocks that share a start."""
        return values if self._starts is None else means_of_starts(values, self._starts)

    def parts(self, workload: str, at: LevelOf, quantity: str) -> frozenset[str]:
        """The parts that a quantity has at one place, in any of its blocks."""
        start = f"{quantity}:"
        return frozenset(
            name.removeprefix(start)
            for cell in self._cells_at(workload, at)
            for numbers in cell.trials.values()
            for name in numbers
            if name.startswith(start)
        )

    def _cells_at(self, workload: str, at: LevelOf) -> Iterator[_Cell]:
        for cell in self._cells.get(workload, ()):
            if at.items() <= cell.levels.items():
                yield cell

    def side(self, workload: str, context: Context, side: str, quantity: str) -> Blocks:
        """The values of a quantity on one side of the study's contrast, in one context."""
        at = {**dict(context), self.plan.study.contrast: side}
        return self.blocks(workload, at, quantity)


def logarithm(value: float) -> float:
    """NaN where a value is not positive and finite."""
    return math.log(value) if 0 < value < math.inf else math.nan


def log_changes(old: Blocks, new: Blocks) -> dict[int, float]:
    """ln(new/old) of the blocks that have both; NaN where a value has no logarithm."""
    both = sorted(old.keys() & new.keys())
    return {block: logarithm(new[block]) - logarithm(old[block]) for block in both}


def with_logarithm(logs: Blocks) -> dict[int, float]:
    """The blocks whose values have a logarithm."""
    return {block: log for block, log in logs.items() if not math.isnan(log)}


def differences(old: Blocks, new: Blocks) -> dict[int, float]:
    """new - old of the blocks that have both."""
    return {block: new[block] - old[block] for block in sorted(old.keys() & new.keys())}


def block_means(values: Sequence[Blocks]) -> dict[int, float]:
    """The mean over several places, of each block that has them all; none of no places."""
    whole = set.intersection(*(set(value) for value in values)) if values else set()
    return {
        block: math.fsum(value[block] for value in values) / len(values) for block in sorted(whole)
    }


def means_of_starts(values: Blocks, starts: Mapping[int, int]) -> dict[int, float]:
    """The mean of the blocks that share a start, by the first of them; blocks of no start of
    ``starts`` are left out."""
    shared: dict[int, list[float]] = defaultdict(list)
    for block in sorted(values.keys() & starts.keys()):
        shared[starts[block]].append(values[block])
    return {first: math.fsum(alike) / len(alike) for first, alike in shared.items()}
