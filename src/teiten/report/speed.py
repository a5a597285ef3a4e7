"""Speed-ups: the time of the old side by that of the new, as 2020 §6 prints them."""

from __future__ import annotations

import math

from teiten.analysis.model.findings import Interval
from teiten.model.units import Share
from teiten.report.numbers import NOTHING, REACH, decimals_for, decimals_of, fixed, significant
from teiten.report.texts import Texts

MANY = 1.5
"""A speed-up from here on, or its reciprocal, is told as a factor, not in per cent."""
FAR = 2.0
"""A speed-up whose interval reaches this, or its reciprocal, is told as a factor, too; so is a rate
from this ratio on."""


def is_many_times(effect: Interval) -> bool:
    """Whether per cent of time would mislead: 90 % less time is ten times as fast."""
    near = 1 / MANY < effect.ratio < MANY
    return not (near and effect.low > 1 / FAR and effect.high < FAR)


def is_many_fold(effect: Interval) -> bool:
    """Whether per cent of a rate are hard to read: 2,372 % more is 24.7 times as fast. Of a fall
    they are not: 96 % less says what is left."""
    return effect.ratio >= FAR


def times_text(value: float, effect: Interval) -> str:
    """A factor with the digits that its interval allows: ``10.3``, ``1.023``, ``> 1,000``."""
    if value > REACH:
        return f"> {fixed(REACH, 0)}"
    if value < 1 / REACH:
        return f"< {fixed(1 / REACH, 3)}"
    least = 2 if value < 10 else 1 if value < 100 else 0
    if value < 0.1:
        least = decimals_of(value, 2)
    return fixed(value, min(4, max(least, decimals_for((effect.high - effect.low) / 2))))


def speed_text(effect: Interval | None) -> str:
    """The speed-up of an interval of new/old."""
    if effect is None:
        return NOTHING
    shown = effect.inverse
    return times_text(shown.ratio, shown)


def speed_interval_text(t: Texts, effect: Interval | None) -> str:
    """``9.8 to 10.9``"""
    if effect is None:
        return NOTHING
    shown = effect.inverse
    return t("interval.plain", low=times_text(shown.low, shown), high=times_text(shown.high, shown))


def plain_times_text(value: float) -> str:
    """A factor without an interval of its own, as a bound is."""
    if not 1 / REACH <= value <= REACH:
        return times_text(value, Interval(value, value, value, Share(0.0)))
    return significant(value)


def bound_text_of(factor: float, *, down: bool) -> str:
    """A factor that bounds another, rounded to the safe side."""
    scale = 10.0 ** decimals_of(factor, 3)
    rounded = math.floor(factor * scale) if down else math.ceil(factor * scale)
    return plain_times_text(rounded / scale)
