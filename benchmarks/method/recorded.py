"""The same rules on recorded noise: a null campaign's own trials, drawn again in runs of blocks.

Every trial of Teiten starts its server anew, so that a block is the unit that is drawn; runs of
neighbouring blocks stay together, because a disturbance lasts. The two sides were the same
binaries, so that any difference between them is noise, and is not taken out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.method.campaigns import EFFECTS, SINGLE, Tallies, Tally
from benchmarks.method.noise import Array
from teiten.analysis.model.observations import Observation
from teiten.analysis.verdict.pairs import observe
from teiten.ledger.store import Ledger
from teiten.model.trial import Attempt

RUN = 3
"""Neighbouring blocks that are drawn together."""
LEAST_BLOCKS = 10


def recorded_pairs(folder: Path, least: int = LEAST_BLOCKS) -> dict[str, Array]:
    """ln of both sides' TPS by workload and levels: (blocks, 2), in block order.

    The sides in the order of their names. Only levels with ``least`` or more complete pairs.
    """
    with Ledger.open(folder, read_only=True) as ledger:
        attempts = [
            Attempt(trial.number, trial.attempt, trial.outcome, trial.metrics)
            for trial in ledger.trials(series=False)
        ]
        observations = observe(ledger.plan, attempts)
    logs: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for observation in observations:
        value = observation.metrics.get("tps", math.nan)
        if 0 < value < math.inf:
            logs[_name(observation)][observation.block][observation.side] = math.log(value)
    complete = {
        name: [
            [log for _, log in sorted(sides.items())]
            for _, sides in sorted(blocks.items())
            if len(sides) == 2
        ]
        for name, blocks in logs.items()
    }
    return {name: np.array(rows) for name, rows in complete.items() if len(rows) >= least}


def _name(observation: Observation) -> str:
    return " ".join(
        (observation.workload, *(f"{name}={level}" for name, level in observation.context))
    )


def count_recorded(pairs: Array, campaigns: int, seed: int) -> Tallies:
    """Judge campaigns drawn from recorded pairs, every true effect on the same noise."""
    random = np.random.default_rng(seed)
    tallies: Tallies = {(name, effect): Tally() for name in SINGLE for effect in EFFECTS}
    for name, (design, rule) in SINGLE.items():
        cells = draw(pairs, campaigns, design.blocks, random)
        for effect in EFFECTS:
            tallies[name, effect].add(rule(cells, float(np.log1p(-effect))))
    return tallies


def draw(pairs: Array, campaigns: int, blocks: int, random: np.random.Generator) -> Array:
    """Campaigns of runs of neighbouring blocks: (campaigns, blocks, 1, 2).

    Which side is called new is drawn for each campaign: there is no true new one.
    """
    runs = -(-blocks // RUN)
    starts = random.integers(0, len(pairs), (campaigns, runs, 1))
    chosen = (starts + np.arange(RUN)) % len(pairs)
    cells = pairs[chosen.reshape(campaigns, -1)[:, :blocks]]
    swapped = random.integers(0, 2, campaigns, dtype=bool)
    cells[swapped] = cells[swapped][:, :, ::-1]
    drawn: Array = cells[:, :, None, :]
    return drawn
