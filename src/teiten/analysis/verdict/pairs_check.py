"""From the starts of a check of paired transactions to what it came to; pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from pydantic import TypeAdapter, ValidationError

from teiten.analysis.verdict.verdict import mean_and_deviation, student_half_width
from teiten.model.pairs_check import (
    MORE,
    PAIRS_CHECK,
    CheckedLoad,
    CheckedNumber,
    CheckedStart,
    PairsCheck,
)
from teiten.model.trial import Event

NAMES = ("throughput", "typical")


def assess_starts(
    starts: Sequence[CheckedStart],
    *,
    measured_at: float,
    version: str,
    delta: float,
    alpha: float,
) -> PairsCheck:
    """``starts``: two or more, as many as were declared. Each interval is Student's at α."""
    by_clients = zip(*(start.loads for start in starts), strict=True)
    numbers = tuple(number for loads in by_clients for number in _numbers(loads, delta, alpha))
    load = median(start.load_average for start in starts)
    return PairsCheck(measured_at, version, len(starts), delta, load, numbers)


def _numbers(loads: Sequence[CheckedLoad], delta: float, alpha: float) -> Iterator[CheckedNumber]:
    """``loads``: of the same number of clients, one of each start."""
    for name in NAMES:
        of_starts = ([getattr(of, name) for of in (s.equal, s.more, s.share)] for s in loads)
        equal, more, shares = zip(*of_starts, strict=True)
        mean, half = _mean_and_half(equal, alpha)
        expected = -math.log1p(median(shares) * MORE)
        slope, slope_half = _mean_and_half([seen / expected for seen in more], alpha)
        yield CheckedNumber(
            name=name,
            clients=loads[0].clients,
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
    checks = [_check(event.detail) for event in events if event.kind == PAIRS_CHECK]
    return checks[-1] if checks else None


def _check(detail: dict[str, Any]) -> PairsCheck | None:
    try:  # earlier ones had one number of clients, that of the whole check
        clients = {"clients": detail.get("clients")}
        numbers = [{**clients, **number} for number in detail.get("numbers", ())]
        return TypeAdapter(PairsCheck).validate_python({**detail, "numbers": numbers})
    except (ValidationError, TypeError):  # of a Teiten that checked other things
        return None
