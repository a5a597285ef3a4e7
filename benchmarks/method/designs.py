"""Trials in their order on the machine's time, for Teiten's design and for the reports'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.method.noise import KINDS, SLOT, Array, restarts

OVERHEAD = 15.0
"""Seconds of a start, a warm-up and a stop, for every trial of every design."""


@dataclass(frozen=True)
class Design:
    """How one campaign spends its time: ``blocks`` times every level, old and new."""

    seconds: float
    """Measured, of a trial."""
    blocks: int
    levels: int
    adjacent: bool
    """Old and new of a level next to one another (Teiten); else all cells in one random order
    (the reports of 2020 and 2021)."""

    @property
    def slots_of_trial(self) -> int:
        return round((self.seconds + OVERHEAD) / SLOT)

    @property
    def trials(self) -> int:
        return 2 * self.levels * self.blocks

    @property
    def machine_seconds(self) -> float:
        return self.trials * (self.seconds + OVERHEAD)

    @property
    def seconds_of_block(self) -> float:
        return self.machine_seconds / self.blocks


def simulate(design: Design, kind: str, count: int, random: np.random.Generator) -> Array:
    """Logarithms of the metric without any true difference: (count, blocks, levels, 2)."""
    per_trial, idle = design.slots_of_trial, round(OVERHEAD / SLOT)
    shape = (count, design.trials * per_trial)
    slots = KINDS[kind](shape, 2 * per_trial, random)
    in_order = slots.reshape(count, design.trials, per_trial)[:, :, idle:].mean(axis=2)
    in_order = in_order + restarts(in_order.shape, kind, random)
    cells = 2 * design.levels
    order = _order(design, count, random) + (np.arange(design.blocks) * cells)[:, None]
    placed = np.take_along_axis(in_order, order.reshape(count, -1), axis=1)
    return placed.reshape(count, design.blocks, design.levels, 2)


def _order(
    design: Design, count: int, random: np.random.Generator
) -> np.ndarray[tuple[int, int, int], np.dtype[np.int64]]:
    """The place in its block of each cell: (count, blocks, levels · 2)."""
    shape = (count, design.blocks)
    if not design.adjacent:
        return np.argsort(random.random((*shape, 2 * design.levels)), axis=2)
    levels = np.argsort(random.random((*shape, design.levels)), axis=2)
    first = random.integers(0, 2, (*shape, design.levels))
    pairs = np.stack((2 * levels + first, 2 * levels + 1 - first), axis=3)
    return pairs.reshape(*shape, 2 * design.levels)
