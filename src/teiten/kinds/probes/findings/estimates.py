"""Means over blocks with Student's t interval: each block is one number.

The cost of a GiB more of buffers: a line through the numbers of each block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from teiten.analysis.verdict.verdict import NO_VARIANCE, exp, mean_and_deviation, student_half_width
from teiten.kinds.probes.findings.tried import Sides
from teiten.kinds.probes.metrics import PROBE_TIME
from teiten.kinds.probes.results import CostLine, Estimate
from teiten.model.units import GIB, Bytes


def arithmetic(values: Sequence[float], alpha: float) -> Estimate | None:
    """None of no values."""
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    half = _half(values, alpha, NO_VARIANCE * max(abs(mean), NO_VARIANCE))
    if half is None:
        return Estimate(mean, None, None, len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def geometric(values: Sequence[float], alpha: float) -> Estimate | None:
    """Estimate the geometric mean of positive values; None of no values, or where one is not
    positive."""
    if not values or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    mean = math.fsum(logs) / len(logs)
    half = _half(logs, alpha, NO_VARIANCE)
    if half is None:
        return Estimate(exp(mean), None, None, len(values))
    return Estimate(exp(mean), exp(mean - half), exp(mean + half), len(values))


def _half(values: Sequence[float], alpha: float, least: float) -> float | None:
    if len(values) < 2:
        return None
    _, deviation = mean_and_deviation(values)
    return None if deviation < least else student_half_width(deviation, len(values), alpha)


def cost_line(sides: Sides, alpha: float) -> CostLine | None:
    """None with fewer than two sizes, or where no block has the smallest and the largest one."""
    sizes = sorted(
        {one.measurement.shared_buffers for side in sides.values() for one in side.values()}
    )
    if len(sizes) < 2:
        return None
    blocks = _by_block(sides)
    whole = [block for block in blocks.values() if sizes[0] in block and sizes[-1] in block]
    if not whole:
        return None
    lines = [_least_squares(one) for one in whole]
    per_gib = arithmetic([slope for slope, _ in lines], alpha)
    at_nothing = arithmetic([start for _, start in lines], alpha)
    ratio = geometric([one[sizes[-1]] / one[sizes[0]] for one in whole], alpha)
    if per_gib is None or at_nothing is None or ratio is None:
        return None
    return CostLine(per_gib, at_nothing, sizes[0], sizes[-1], ratio)


def _by_block(sides: Sides) -> Mapping[int, Mapping[Bytes, float]]:
    """The number by size of the buffers; only those above nothing."""
    found: dict[int, dict[Bytes, float]] = {}
    for side in sides.values():
        for block, one in side.items():
            number = one.metrics.get(PROBE_TIME.name, math.nan)
            if number > 0:
                found.setdefault(block, {})[one.measurement.shared_buffers] = number
    return found


def _least_squares(points: Mapping[Bytes, float]) -> tuple[float, float]:
    """Slope per GiB, and the value at 0."""
    xs: Sequence[float] = [size / GIB for size in points]
    ys: Sequence[float] = list(points.values())
    x, y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    spread = math.fsum((one - x) ** 2 for one in xs)
    slope = math.fsum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / spread
    return slope, y - slope * x
