"""What claims about procedures are checked on: a number of a method's trials, block by block."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from teiten.analysis.model.claims import FIRST, LAST
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.predicate import Ground, UnmetError
from teiten.kinds.procedure.model import METHOD
from teiten.model.plan import Cell

Levels = Mapping[str, str]
Blocks = Mapping[int, float]


@dataclass(frozen=True)
class ClaimCells:
    """The trials of a claim's workload, by the levels of all factors."""

    ground: Ground
    workload: str

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Those that were planned, in the study's order."""
        cells = [dict(one.cell.levels) for one in self.ground.plan.trials if self._mine(one.cell)]
        return {
            factor.name: found
            for factor in self.ground.plan.study.factors
            if (
                found := tuple(
                    level
                    for level in factor.levels
                    if any(one.get(factor.name) == level for one in cells)
                )
            )
        }

    def _mine(self, cell: Cell) -> bool:
        return cell.workload == self.workload

    def resolved(self, factor: str, named: str) -> str:
        """A level by its name, or the first or the last of several. Raises UnmetError."""
        levels = self.levels.get(factor, ())
        if factor == METHOD and named not in levels:
            raise UnmetError("method", method=named)
        if named in (FIRST, LAST) and len(levels) > 1:
            return levels[0 if named == FIRST else -1]
        if named not in levels:
            raise UnmetError("contrast", factor=factor, levels=named)
        return named

    def contexts(self, told: Iterable[str]) -> list[Levels]:
        """Every combination of the levels of the factors that are not told."""
        others = {name: found for name, found in self.levels.items() if name not in set(told)}
        return [dict(zip(others, one, strict=True)) for one in itertools.product(*others.values())]

    def varied(self, context: Levels) -> tuple[str, ...]:
        """The levels of a context that are one of several."""
        return tuple(level for name, level in context.items() if len(self.levels[name]) > 1)

    def blocks(self, wanted: Levels, metric: str) -> Blocks:
        contrast = self.ground.plan.study.contrast
        return {
            one.block: one.metrics[metric]
            for one in self.ground.observations
            if one.workload == self.workload
            and metric in one.metrics
            and _matches(one, contrast, wanted)
        }


def _matches(one: Observation, contrast: str, wanted: Levels) -> bool:
    here = {**dict(one.context), contrast: one.side}
    return all(here.get(name) == level for name, level in wanted.items())


def logarithm(value: float) -> float:
    return math.log(value) if 0 < value < math.inf else math.nan


def ratios(old: Blocks, new: Blocks) -> tuple[float, ...]:
    both = sorted(old.keys() & new.keys())
    return tuple(logarithm(new[one]) - logarithm(old[one]) for one in both)
