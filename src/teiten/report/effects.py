"""An effect's numbers in words: ratios, per cent, intervals and their confidence."""

from __future__ import annotations

from teiten.analysis.model.verdict import Interval
from teiten.report.numbers import NOTHING, REACH, decimals_for, decimals_of, fixed, plain
from teiten.report.texts import Texts

WIDEST = 100.0
"""An interval that spans a larger factor is told by that alone: −100 % to +99,900 % tells nobody
anything."""


def percent(t: Texts, share: float, decimals: int, *, signed: bool = False) -> str:
    return t("unit.percent", value=fixed(share * 100, decimals, signed=signed))


def plain_percent(t: Texts, share: float) -> str:
    return t("unit.percent", value=plain(share * 100))


def confidence_percent(t: Texts, confidence: float) -> str:
    """``98.3 %``: what is shared between many statements leaves no round number, and no reader
    wants more than two digits of the share of false alarms that is left."""
    alarms = float(f"{1 - confidence:.2g}")
    return plain_percent(t, round(1 - alarms, 12))


def percent_decimals(effect: Interval) -> int:
    """Decimals of the per cent figures of an effect."""
    half = (effect.high - effect.low) / 2 * 100
    return max(decimals_for(half), 1 if half < 10 else 0)


def ratio_text(effect: Interval | None) -> str:
    """``1.023``"""
    return NOTHING if effect is None else ratio_in_reach(effect.ratio, percent_decimals(effect) + 2)


def interval_text(t: Texts, effect: Interval | None) -> str:
    """``1.011 to 1.035``"""
    if effect is None:
        return NOTHING
    digits = percent_decimals(effect) + 2
    return t(
        "interval.plain",
        low=ratio_in_reach(effect.low, digits),
        high=ratio_in_reach(effect.high, digits),
    )


def ratio_in_reach(ratio: float, decimals: int) -> str:
    """A ratio; one beyond REACH, as an interval of two pairs can end at, by that bound. What is
    small keeps two digits, however few decimals the interval allows."""
    if ratio > REACH:
        return f"> {fixed(REACH, 0)}"
    if ratio < 1 / REACH:
        return f"< {fixed(1 / REACH, 3)}"
    return fixed(ratio, max(decimals, decimals_of(ratio, 2)) if ratio < 0.1 else decimals)


def is_wide(effect: Interval) -> bool:
    """Whether an interval tells no more than that something was measured."""
    return effect.high > effect.low * WIDEST


def interval_percent(t: Texts, effect: Interval) -> str:
    """``95 % interval +1.1 % to +3.5 %``"""
    if is_wide(effect):
        confidence = confidence_percent(t, effect.confidence)
        return t("interval.wide", confidence=confidence, factor=plain(WIDEST))
    digits = percent_decimals(effect)
    return t(
        "interval.percent",
        confidence=confidence_percent(t, effect.confidence),
        low=change(t, effect.low, digits),
        high=change(t, effect.high, digits),
    )


def change(t: Texts, ratio: float, decimals: int) -> str:
    """``+3.5 %`` of 1.035; beyond REACH the bound."""
    if ratio > REACH:
        return f"> {percent(t, REACH - 1, 0, signed=True)}"
    return percent(t, ratio - 1, decimals, signed=True)
