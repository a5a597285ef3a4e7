"""Repeats of disturbed trials, simulated: of a trial alone, and of its pair; servers are equal.

Two things go wrong where trials are repeated alone and judged alone. The side that is disturbed
more often has more of the late repeats, so that a drift of the machine becomes a difference. And
what is stolen shows on the side that wants more CPU: its mildly disturbed trials are found and
repeated, those of the other side stay.
"""

from __future__ import annotations

import numpy as np

from benchmarks.method.noise import Array
from benchmarks.method.rules import ALPHA, Flags
from teiten.analysis.verdict.verdict import student_half_width

PAIRS = 12
ROUNDS = 3
"""Attempts of a trial, at the most."""
NOISE = 0.005
"""Of a trial."""
DRIFT = 0.05
"""Of the machine from the first trial to the last repeat, at the most, in either direction."""
DISTURBED = (0.05, 0.4)
"""The share of the trials of each side that do not count."""
LIMIT = 0.05
BUSY = 0.35
"""Of pairs that meet a neighbour, who takes up to TAKEN of what a trial wants."""
TAKEN = 0.08
WANTED = (0.55, 1.0)
"""The share of the CPU that each side wants."""


def false_alarms(*, whole: bool, campaigns: int, seed: int) -> float:
    """Of a fixed design on a machine that drifts, one side of which is disturbed more often.

    ``whole``: pairs are repeated, else trials alone.
    """
    random = np.random.default_rng(seed)
    shape = (campaigns, ROUNDS, PAIRS, 2)
    bad: Flags = np.asarray(random.random(shape) < np.array(DISTURBED))
    slope = random.uniform(-DRIFT, DRIFT, (campaigns, 1, 1, 1))
    d, counted = _differences(_placed(slope, shape, random), bad, whole=whole)
    pairs = counted.sum(axis=1)
    mean = np.where(counted, d, 0.0).sum(axis=1) / np.maximum(pairs, 1)
    squares = np.where(counted, (d - mean[:, None]) ** 2, 0.0).sum(axis=1)
    widths = [np.inf, np.inf, *(student_half_width(1.0, n, ALPHA) for n in range(2, PAIRS + 1))]
    half = np.sqrt(squares / np.maximum(pairs - 1, 1)) * np.array(widths)[pairs]
    return float(np.mean(np.abs(mean) > half))


def bias(*, whole: bool, of_wanted: bool, campaigns: int, seed: int) -> float:
    """The mean of d where a neighbour takes CPU from trials of both sides alike.

    ``of_wanted``: what was stolen is judged as a share of the CPU time that was wanted.
    """
    random = np.random.default_rng(seed)
    shape = (campaigns, ROUNDS, PAIRS, 2)
    busy = random.random((*shape[:3], 1)) < BUSY
    lost = busy * random.uniform(0.0, TAKEN, (*shape[:3], 1)) * random.uniform(0.3, 1.7, shape)
    seen = lost if of_wanted else lost * np.array(WANTED)
    d, counted = _differences(random.normal(0.0, NOISE, shape) - lost, seen > LIMIT, whole=whole)
    return float(d[counted].mean())


def _placed(slope: Array, shape: tuple[int, int, int, int], random: np.random.Generator) -> Array:
    """What trials show: pairs one after the other, repeats at the end, sides in random order."""
    times = np.arange(ROUNDS * PAIRS * 2).reshape(1, *shape[1:]) / (ROUNDS * PAIRS * 2)
    order = random.integers(0, 2, (shape[0], 1, PAIRS, 1)) ^ np.arange(2)
    drifted = np.take_along_axis(slope * times, np.broadcast_to(order, shape), axis=3)
    shown: Array = drifted + random.normal(0.0, NOISE, shape)
    return shown


def _differences(values: Array, bad: Flags, *, whole: bool) -> tuple[Array, Flags]:
    """d of each pair of the first attempts that count, and whether there is one."""
    if whole:
        bad = np.broadcast_to(bad[..., :1] | bad[..., 1:], bad.shape)
    chosen = np.argmin(bad, axis=1)[:, None]
    last = np.take_along_axis(bad, chosen, axis=1)[:, 0]
    counted: Flags = ~(last[..., 0] | last[..., 1])
    sides = np.take_along_axis(values, chosen, axis=1)[:, 0]
    d: Array = sides[..., 1] - sides[..., 0]
    return d, counted
