"""The levels of a query's row: a column for each factor that varies beside the contrast."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from teiten.kinds.queries.model import QUERY
from teiten.report.names import Context
from teiten.report.numbers import MOST_DIGITS, NOTHING, decimals_for, decimals_of, fixed
from teiten.report.tables import Column, Row, TableCell
from teiten.report.view.kit import Kit


def varied_factors(kit: Kit, contexts: Iterable[Context]) -> tuple[str, ...]:
    """Those that tell the rows of a table apart, the query first."""
    found = dict.fromkeys(
        name
        for context in contexts
        for name, _ in kit.names.told.get(context, context)
        if name == QUERY or name not in kit.names.single
    )
    return tuple(sorted(found, key=lambda name: name != QUERY))


def context_columns(kit: Kit, factors: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(kit.names.factor(name)) for name in factors)


def context_cells(kit: Kit, context: Context, factors: Iterable[str]) -> Row:
    """The levels, as the study orders them."""
    levels = dict(context)
    return tuple(
        TableCell(
            kit.names.level(name, levels.get(name, "")),
            float(kit.names.orders.get(name, {}).get(levels.get(name, ""), 0)),
            kind="left",
        )
        for name in factors
    )


IN_SECONDS = 10.0
"""From this greatest time on, in seconds."""
SHORT = 100.0
"""Milliseconds below which a time has a decimal at least; the clock tells microseconds."""


@dataclass(frozen=True)
class TimeUnit:
    name: str
    factor: float
    """The number of such units in a second."""

    def text(self, seconds: float | None, half_width: float) -> str:
        """A time with the digits that its interval allows, and a short one with three at least.

        ``half_width``: in seconds; not finite where there is none.
        """
        if seconds is None or not math.isfinite(seconds):
            return NOTHING
        value, half = seconds * self.factor, half_width * self.factor
        known = math.isfinite(half) and half > 0
        decimals = min(decimals_of(value, MOST_DIGITS), decimals_for(half)) if known else 0
        least = decimals_of(value, 3) if not known or seconds * 1000 < SHORT else 0
        return fixed(value, max(decimals, least))


SECONDS = TimeUnit("s", 1.0)
MILLISECONDS = TimeUnit("ms", 1000.0)


def unit_for(times: Iterable[float]) -> TimeUnit:
    """Seconds where the greatest is long."""
    greatest = max((time for time in times if math.isfinite(time)), default=0.0)
    return SECONDS if greatest >= IN_SECONDS else MILLISECONDS
