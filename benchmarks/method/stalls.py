"""Stalls of one side, simulated: a trial's number is a trimmed mean of its slices, or the plain.

The new side stalls in single slices, so that it is truly 2 % slower; whoever waits for an answer
notices that. Slices deviate as little as on a machine of one's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.method.rules import Said, sequential
from teiten.model.starts import trimmed_at_each_end

SLICES = 5
PAIRS = 24
NOISE = 0.01
"""Of a slice."""
TRUTH = 0.02
"""The share of its speed that stalls cost the new side."""


@dataclass(frozen=True)
class Stalled:
    """What is said of a side that is truly 2 % slower: shares of the comparisons."""

    equivalent: float
    slower: float


def stalled(*, trimmed: bool, often: float, campaigns: int, seed: int) -> Stalled:
    """``often``: the share of the new side's slices that stall."""
    random = np.random.default_rng(seed)
    shape = (campaigns, PAIRS, SLICES, 2)
    speed = np.exp(random.normal(0.0, NOISE, shape))
    stalls = random.random(shape[:3]) < often
    speed[..., 1] *= np.where(stalls, 1 - TRUTH / often, 1.0)
    cut = trimmed_at_each_end(SLICES) if trimmed else 0
    numbers = np.sort(speed, axis=2)[:, :, cut : SLICES - cut].mean(axis=2)
    verdicts: Said = sequential(np.log(numbers[..., 1] / numbers[..., 0]), np.log1p(-TRUTH))
    return Stalled(float(verdicts.equivalent.mean()), float(verdicts.slower.mean()))
