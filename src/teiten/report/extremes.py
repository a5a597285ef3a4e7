"""A mixed verdict in words: the two levels between which it lies, each with its interval."""

from __future__ import annotations

from collections.abc import Callable

from teiten.analysis.model.observations import Context
from teiten.analysis.model.verdict import BY_SIGN, Extreme, Interval, Verdict
from teiten.model.metrics import Better, Metric
from teiten.report.effects import change, confidence_percent, percent, percent_decimals
from teiten.report.speed import is_many_fold, is_many_times, times_text
from teiten.report.texts import Texts


def extremes_said(
    t: Texts, verdict: Verdict, metric: Metric, level: Callable[[Context], str]
) -> dict[str, str]:
    """Make the values for a sentence about a mixed verdict; ``level`` names a level."""
    least, most = verdict.extremes
    values = {"confidence": confidence_percent(t, least.effect.confidence)}
    for name, extreme in (("least", least), ("most", most)):
        said, interval = _said(t, extreme, metric)
        values |= {
            name: said,
            f"{name}_at": level(extreme.context),
            f"{name}_interval": interval,
        }
    return values


def _said(t: Texts, extreme: Extreme, metric: Metric) -> tuple[str, str]:
    """``is 3.1 % slower`` and ``2.0 % to 4.2 %``."""
    effect, is_time = extreme.effect, metric.better is Better.LOWER
    digits = percent_decimals(effect)
    if extreme.kind not in BY_SIGN:
        ends = (change(t, effect.low, digits), change(t, effect.high, digits))
        return t("extreme.measured", percent=change(t, effect.ratio, digits)), _to(t, *ends)
    faster = (effect.ratio < 1) == is_time
    direction = "faster" if faster else "slower"
    if is_many_times(effect) if is_time else is_many_fold(effect):
        shown = effect.inverse if effect.ratio < 1 else effect
        said = t(f"extreme.times-{direction}", factor=times_text(shown.ratio, shown))
        return said, _to(t, times_text(shown.low, shown), times_text(shown.high, shown))
    said = t(f"extreme.{direction}", percent=percent(t, abs(effect.ratio - 1), digits))
    return said, _to(t, *(percent(t, end, digits) for end in _differences(effect)))


def _differences(effect: Interval) -> tuple[float, float]:
    """The ends of an interval as shares of the old value, the smaller one first."""
    if effect.ratio > 1:
        return effect.low - 1, effect.high - 1
    return 1 - effect.high, 1 - effect.low


def _to(t: Texts, low: str, high: str) -> str:
    return t("interval.plain", low=low, high=high)
