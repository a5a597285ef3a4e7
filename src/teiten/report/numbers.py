"""Numbers for people: as many digits as the interval allows, with their units; and moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

MINUS = "−"
NOTHING = "—"
MOST_DECIMALS = 6
REACH = 1000.0
"""Ratios beyond it, or below its reciprocal, are told by this bound."""
MOST_DIGITS = 4
"""Significant digits of a measured value, however small its spread."""
LEAST_DIGITS = 2
"""Significant digits of a measured value, however large its spread: none is told as 0."""


def decimals_for(half_width: float) -> int:
    """Decimals that an interval of this half width allows.

    The half width keeps two significant digits where they are below 35, else one (Particle Data
    Group, Review of Particle Physics, Introduction 5.3).
    """
    if not math.isfinite(half_width) or half_width <= 0:
        return 2
    power = math.floor(math.log10(half_width))
    digits = 1 if half_width / 10.0**power < 3.55 else 0
    return max(0, min(MOST_DECIMALS, digits - power))


def fixed(value: float | None, decimals: int, *, signed: bool = False) -> str:
    """``1,234.5``, with a true minus sign; ``—`` for what is not a number."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{abs(value):,.{decimals}f}"
    is_zero = not any(digit in text for digit in "123456789")
    sign = "" if is_zero else MINUS if value < 0 else "+" if signed else ""
    return sign + text


def significant(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """``value`` with this many significant digits, never in exponent form."""
    if value is None or not math.isfinite(value) or value == 0:
        return "0" if value == 0 else fixed(value, 0, signed=signed)
    return fixed(value, decimals_of(value, digits), signed=signed)


def decimals_of(value: float, digits: int) -> int:
    """Decimals that give a value this many significant digits."""
    if value == 0 or not math.isfinite(value):
        return 0
    return max(0, min(9, digits - 1 - math.floor(math.log10(abs(value)))))


def spread(values: Sequence[float]) -> float:
    """Half the range of some trials' values: what their digits are worth. NaN below two."""
    finite = [value for value in values if math.isfinite(value)]
    return (max(finite) - min(finite)) / 2 if len(finite) > 1 else math.nan


def measured(value: float | None, half_width: float) -> str:
    """A measured value with the digits, of two to four, that its half width allows; else three."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if not math.isfinite(half_width) or half_width <= 0:
        return significant(value)
    least, most = (decimals_of(value, digits) for digits in (LEAST_DIGITS, MOST_DIGITS))
    return fixed(value, min(most, max(least, decimals_for(half_width))))


def bytes_text(value: float | None) -> str:
    """``512 MiB``: binary units, three digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    size, unit = abs(value), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            break
        size /= 1024
    digits = fixed(size, 0) if unit == "B" or size >= 100 else significant(size)
    return f"{MINUS if value < 0 else ''}{_without_zeros(digits)} {unit}"


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def plain(value: float) -> str:
    """A declared number (δ, seconds, a level): no digit more than it has."""
    return _without_zeros(f"{value:,.6f}")


def spaced(text: str) -> str:
    """A text whose spaces a search finds: no-break ones are plain."""
    return text.replace("\u00a0", " ")


def moment(at: float) -> str:
    """A moment to the minute. ``at``: seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def clock(at: float) -> str:
    """A moment to the second, where UTC is said elsewhere."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
