"""Which side has which physical copy of a template: they take turns, from start to start.

Where a copy's files lie on the disk lasts as long as the copy, and would favour one side in every
start. Only copies of one template can be exchanged, and only where the sides differ in something:
what two equal sides differ by is the place of their files too, and is what their campaign asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from teiten.model.plan import PlannedTrial


def with_copies_exchanged(trials: Iterable[PlannedTrial]) -> Iterator[PlannedTrial]:
    """``trials``: in the order of execution, the sides of a pair adjacent, with their starts."""
    pairs = groupby(trials, key=lambda one: (one.block, one.cell.workload, one.seed))
    for _, pair in pairs:
        sides = sorted(pair, key=lambda one: one.number)
        if not _exchangeable(sides):
            yield from sides
            continue
        copies = sorted(side.copy for side in sides)
        for side in sides:
            at = (copies.index(side.copy) + side.restart) % len(copies)
            yield replace(side, copy=copies[at])


def _exchangeable(sides: list[PlannedTrial]) -> bool:
    same_files = len({(side.fingerprints, side.directory, side.placement) for side in sides}) == 1
    return same_files and len({(side.settings, side.load) for side in sides}) > 1
