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
    band = math.log1p(delta) / 2
    numbers = (
        _number(
            "throughput",
            [one.throughput for one in starts],
            [one.more_throughput for one in starts],
            median(one.share_throughput for one in starts),
            band,
            alpha,
        ),
        _number(
            "typical",
            [one.typical for one in starts],
            [one.more_typical for one in starts],
            median(one.share_typical for one in starts),
            band,
            alpha,
        ),
    )
    load = median(one.load_average for one in starts)
    return PairsCheck(measured_at, version, clients, len(starts), delta, load, numbers)


def _number(
    name: str,
    equal: Sequence[float],
    more: Sequence[float],
    share: float,
    band: float,
    alpha: float,
) -> CheckedNumber:
    mean, deviation = mean_and_deviation(equal)
    half = student_half_width(deviation, len(equal), alpha)
    expected = -math.log1p(share * MORE)
    slope, scatter = mean_and_deviation([one / expected for one in more])
    slope_half = student_half_width(scatter, len(more), alpha)
    return CheckedNumber(
        name=name,
        mean=mean,
        low=mean - half,
        high=mean + half,
        deviation=deviation,
        slope=slope,
        slope_low=slope - slope_half,
        slope_high=slope + slope_half,
        band=band,
    )


def recorded_check(events: Iterable[Event]) -> PairsCheck | None:
    """The check that was known when a campaign began."""
    found = [_check(event.detail) for event in events if event.kind == PAIRS_CHECK]
    return found[-1] if found else None


def _check(detail: dict[str, Any]) -> PairsCheck | None:
    try:
        return TypeAdapter(PairsCheck).validate_python(detail)
    except ValidationError:  # of a Teiten that checked other things
        return None
