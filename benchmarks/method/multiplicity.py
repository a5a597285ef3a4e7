"""Reports about equal servers, simulated: how many of them say somewhere that two sides differ.

A report of several workloads, each with a sweep of levels and four metrics: throughput, mean
latency (which in a closed loop only repeats it) and two percentiles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.method.noise import Array
from benchmarks.method.rules import ALPHA, Flags
from teiten.analysis.verdict.verdict import student_half_width

WORKLOADS, LEVELS, BLOCKS = 2, 5, 5
TAILS = 2
"""Percentiles; half of their variance is the throughput's."""


def said(*, news: int, spent: bool, campaigns: int, seed: int) -> tuple[float, float]:
    """The share of reports with a difference in any cell, and in any primary statement.

    ``news``: sides that are compared with the old one. ``spent``: α is spent over the primary
    statements and only the judged metric has words; else every statement has α, on every metric.
    """
    random = np.random.default_rng(seed)
    cells: list[Flags] = []
    primary: list[Flags] = []
    for _ in range(WORKLOADS):
        old, *others = (_side(campaigns, random) for _ in range(1 + news))
        for new in others:
            for judged, d in enumerate(_metrics(new - old)):
                if spent and judged:
                    break
                alpha = ALPHA / (WORKLOADS * news) if spent else ALPHA
                overall = _differs(d.mean(axis=2), alpha)
                cells += [overall, *(_differs(d[:, :, at], alpha / LEVELS) for at in range(LEVELS))]
                if not judged:
                    primary.append(overall)
    return float(np.any(cells, axis=0).mean()), float(np.any(primary, axis=0).mean())


def _side(campaigns: int, random: np.random.Generator) -> Array:
    """Of one side: (campaigns, blocks, levels, its throughput and what else moves percentiles)."""
    return random.normal(0.0, 1.0, (campaigns, BLOCKS, LEVELS, 1 + TAILS))


def _metrics(d: Array) -> Iterator[Array]:
    yield d[..., 0]
    yield -d[..., 0]
    for tail in range(TAILS):
        yield d[..., 1 + tail] - d[..., 0]


def _differs(d: Array, alpha: float) -> Flags:
    half = d.std(axis=1, ddof=1) * student_half_width(1.0, BLOCKS, alpha)
    differs: Flags = np.abs(d.mean(axis=1)) > half
    return differs
