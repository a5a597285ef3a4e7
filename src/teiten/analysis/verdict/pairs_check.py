"""From the starts of a check of paired transactions to what it came to; pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from pydantic import TypeAdapter, ValidationError

from teiten.analysis.verdict.verdict import mean_and_deviation, student_half_width
from teiten.model.pairs_check import MORE, PAIRS_CHECK, CheckedNumber, CheckedStart, PairsCheck
from teiten.model.trial import Event


def assess_starts(
    starts: Sequence[CheckedStart],
    *,
    measured_at: float,
    version: str,
    clients: int,
    delta: float,
    alpha: float,
) -> PairsCheck:
    """``starts``: two or more, as many as were declared. Each interval is Student's at α."""
    found = {
        "throughput": [(s.throughput, s.more_throughput, s.share_throughput) for s in starts],
        "typical": [(s.typical, s.more_typical, s.share_typical) for s in starts],
    }
    numbers = tuple(_number(name, each, delta, alpha) for name, each in found.items())
    load = median(start.load_average for start in starts)
    return PairsCheck(measured_at, version, clients, len(starts), delta, load, numbers)


def _number(
    name: str, starts: Sequence[tuple[float, float, float]], delta: float, alpha: float
) -> CheckedNumber:
    """``starts``: of equal work, of the work that B has more of, and what twice the work costs."""
    equal, more, shares = zip(*starts, strict=True)
    mean, half = _mean_and_half(equal, alpha)
    expected = -math.log1p(median(shares) * MORE)
    slope, slope_half = _mean_and_half([one / expected for one in more], alpha)
    return CheckedNumber(
        name=name,
        mean=mean,
        low=mean - half,
        high=mean + half,
        deviation=mean_and_deviation(equal)[1],
        slope=slope,
        slope_low=slope - slope_half,
        slope_high=slope + slope_half,
        band=math.log1p(delta) / 2,
    )


def _mean_and_half(values: Sequence[float], alpha: float) -> tuple[float, float]:
    mean, deviation = mean_and_deviation(values)
    return mean, student_half_width(deviation, len(values), alpha)


def recorded_check(events: Iterable[Event]) -> PairsCheck | None:
    """The check that was known when a campaign began."""
    found = [_check(event.detail) for event in events if event.kind == PAIRS_CHECK]
    return found[-1] if found else None


def _check(detail: dict[str, Any]) -> PairsCheck | None:
    try:
        return TypeAdapter(PairsCheck).validate_python(detail)
    except ValidationError:  # of a Teiten that checked other things
        return None
