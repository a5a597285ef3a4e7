"""Numbers of plans for people."""

from __future__ import annotations

import math

from teiten.report.numbers import MINUS, NOTHING, fixed, significant

SHORT = 1.0
MINUTE = 60.0


def duration(seconds: float | None, *, signed: bool = False) -> str:
    """``12.3 ms``, ``2.35 s``, ``1 min 2 s``."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    size = abs(seconds)
    if size >= MINUTE:
        minutes, rest = divmod(round(size), 60)
        text = f"{minutes:,} min {rest} s"
    elif size >= SHORT:
        text = f"{significant(size)} s"
    else:
        text = f"{milliseconds(size)} ms"
    if not any(digit in text for digit in "123456789"):  # nothing is neither more nor less
        return text
    sign = MINUS if seconds < 0 else "+" if signed else ""
    return f"{sign}{text}"


def milliseconds(seconds: float) -> str:
    """Three digits, and no digit below those that EXPLAIN prints."""
    value = seconds * 1000
    return fixed(value, 3) if value < 1 else significant(value)


def count(value: float | None) -> str:
    """Whole, with separators; PostgreSQL 18's fractions of rows are rounded over all loops."""
    return fixed(value, 0)


def share(value: float | None) -> str:
    """``71 %``, and ``< 1 %`` for what is there but little."""
    if value is None:
        return NOTHING
    percent = value * 100
    return "< 1 %" if 0 < percent < 0.5 else f"{percent:.0f} %"


def factor(value: float | None) -> str:
    """``× 12``."""
    return NOTHING if value is None else f"× {significant(value, 3 if value < 1000 else 1)}"
