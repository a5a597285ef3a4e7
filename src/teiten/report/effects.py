"""An effect's numbers in words; speed-ups (old time by new) are as 2020 §6 prints them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from teiten.analysis.model.verdict import Estimate, Interval
from teiten.model.units import Share
from teiten.report.numbers import (
    NOTHING,
    REACH,
    decimals_for,
    decimals_of,
    fixed,
    plain,
    significant,
)
from teiten.report.tables import TableCell
from teiten.report.texts import Texts

WIDEST = 100.0
"""An interval that spans a larger factor is told by that alone."""


def percent(t: Texts, share: float, decimals: int, *, signed: bool = False) -> str:
    return t("unit.percent", value=fixed(share * 100, decimals, signed=signed))


def plain_percent(t: Texts, share: float) -> str:
    return t("unit.percent", value=plain(share * 100))


def confidence_percent(t: Texts, confidence: float) -> str:
    """``98.3 %``: what is shared between many statements leaves no round number, and no reader
    wants more than two digits of the share of false alarms that is left."""
    alarms = float(f"{1 - confidence:.2g}")
    return plain_percent(t, round(1 - alarms, 12))


def levels_text(t: Texts, effects: Iterable[Interval | None]) -> str:
    """``95 %``, or ``97.5 % to 99.2 %`` of intervals at several levels."""
    levels = sorted({round(effect.confidence, 12) for effect in effects if effect})
    ends = [confidence_percent(t, level) for level in dict.fromkeys((*levels[:1], *levels[-1:]))]
    return t("interval.plain", low=ends[0], high=ends[1]) if len(ends) > 1 else "".join(ends)


def percent_decimals(effect: Interval) -> int:
    """Decimals of the per cent figures of an effect."""
    half = (effect.high - effect.low) / 2 * 100
    if math.isinf(half):
        return 0
    return max(decimals_for(half), 1 if half < 10 else 0)


def ratio_text(effect: Interval | None, *, speed: bool = False) -> str:
    """``1.023``; as a speed-up, of an interval of times new/old, ``10.3``."""
    return NOTHING if effect is None else _figures(effect, speed=speed)[0]


def interval_text(t: Texts, effect: Interval | None, *, speed: bool = False) -> str:
    """``1.011 to 1.035``"""
    if effect is None:
        return NOTHING
    _, low, high = _figures(effect, speed=speed)
    return t("interval.plain", low=low, high=high)


def _figures(effect: Interval, *, speed: bool = False) -> list[str]:
    """The ratio, or the speed-up, and the ends of its interval."""
    shown, digits = effect.inverse if speed else effect, percent_decimals(effect) + 2
    return [
        times_text(ratio, shown) if speed else ratio_in_reach(ratio, digits)
        for ratio in (shown.ratio, shown.low, shown.high)
    ]


def effect_cells(
    t: Texts, effect: Interval | None, bound: str = "", *, speed: bool = False
) -> tuple[TableCell, TableCell]:
    """The ratio, or a bound in its place, and its interval, as two cells of a table. An interval
    that is too wide has a sign, which a note explains."""
    ratio = bound or ratio_text(effect, speed=speed)
    interval = interval_text(t, effect, speed=speed)
    if effect is None:
        return TableCell(ratio), TableCell(interval)
    shown, is_empty = effect.inverse if speed else effect, says_nothing(effect)
    interval += t("interval.sign") if is_empty else ""
    return TableCell(ratio, shown.ratio), TableCell(interval, shown.low, says_nothing=is_empty)


def ratio_with_interval(t: Texts, effect: Interval, *, speed: bool = False) -> str:
    """``1.023 (1.011 to 1.035)``; the sign of one that is too wide in its place."""
    ratio = ratio_text(effect, speed=speed)
    if says_nothing(effect):
        return f"{ratio}{t('interval.sign')}"
    return t.aside(ratio, interval_text(t, effect, speed=speed))


def ratio_in_reach(ratio: float, decimals: int) -> str:
    """A ratio; one beyond REACH, as an interval of two pairs can end at, by that bound. What is
    small keeps two digits, however few decimals the interval allows."""
    digits = max(decimals, decimals_of(ratio, 2)) if ratio < 0.1 else decimals
    return _beyond_reach(ratio) or fixed(ratio, digits)


def _beyond_reach(ratio: float) -> str:
    """The bound that a ratio is beyond; empty for one within REACH."""
    if ratio > REACH:
        return f"> {fixed(REACH, 0)}"
    return f"< {fixed(1 / REACH, 3)}" if ratio < 1 / REACH else ""


def is_wide(effect: Interval) -> bool:
    """Whether an interval tells no more than that something was measured."""
    return effect.high > effect.low * WIDEST


def says_nothing(effect: Interval) -> bool:
    """Whether an interval is wide, and does not even say which side is faster."""
    return is_wide(effect) and effect.sign == 0


def interval_percent(t: Texts, effect: Interval) -> str:
    """``95 % interval +1.1 % to +3.5 %``"""
    digits = percent_decimals(effect)
    return sure_interval(t, effect, change(t, effect.low, digits), change(t, effect.high, digits))


def interval_of_ratio(t: Texts, effect: Interval) -> str:
    """``95 % interval 1.011 to 1.035``"""
    _, low, high = _figures(effect)
    return sure_interval(t, effect, low, high)


def sure_interval(
    t: Texts, effect: Interval, low: str, high: str, key: str = "interval.percent"
) -> str:
    """An interval with its confidence level, in the text under ``key``; or that it is too wide."""
    confidence = confidence_percent(t, effect.confidence)
    if says_nothing(effect):
        return t("interval.wide", confidence=confidence, factor=plain(WIDEST))
    return t(key, confidence=confidence, low=low, high=high)


def change(t: Texts, ratio: float, decimals: int) -> str:
    """``+3.5 %`` of 1.035; beyond REACH the bound."""
    if ratio > REACH:
        return f"> {percent(t, REACH - 1, 0, signed=True)}"
    return percent(t, ratio - 1, decimals, signed=True)


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
    """Whether per cent of a rate are hard to read: 2,372 % more is 24.7 times as fast."""
    return effect.ratio >= FAR


def times_text(value: float, effect: Interval) -> str:
    """A factor with the digits that its interval allows: ``10.3``, ``1.023``, ``> 1,000``."""
    least = 2 if value < 10 else 1 if value < 100 else 0
    if value < 0.1:
        least = decimals_of(value, 2)
    digits = min(4, max(least, decimals_for((effect.high - effect.low) / 2)))
    return _beyond_reach(value) or fixed(value, digits)


def shorter_text(t: Texts, value: float, effect: Interval) -> str:
    """A time ``value`` times shorter: English tells the factor, Japanese the part that is left."""
    text = times_text(value, effect)
    way = {">": "beyond", "<": "below"}.get(text[0], "factor")
    return t(f"shorter.{way}", value=text.lstrip("<> "))


def plain_times_text(value: float) -> str:
    """A factor without an interval of its own, as a bound is."""
    if not 1 / REACH <= value <= REACH:
        return times_text(value, Interval(value, value, value, Share(0.0)))
    return significant(value)


def bound_text_of(factor: float, *, down: bool) -> str:
    """A factor that bounds another, rounded to the safe side, and within reach."""
    factor = min(factor, REACH) if down else max(factor, 1 / REACH)
    scale = 10.0 ** decimals_of(factor, 3)
    rounded = math.floor(factor * scale) if down else math.ceil(factor * scale)
    return plain_times_text(rounded / scale)


def change_decimals(change: Estimate, factor: float) -> int:
    """Decimals of a difference between both sides, and of its interval, in units of ``factor``."""
    return decimals_for(change.half_width * factor)


def change_interval(t: Texts, change: Estimate, factor: float) -> str:
    """``+1.2 to +3.4``; empty without one."""
    if change.low is None or change.high is None:
        return ""
    digits = change_decimals(change, factor)
    low, high = (fixed(end * factor, digits, signed=True) for end in (change.low, change.high))
    return t("interval.plain", low=low, high=high)
