"""Verdicts in words: always the same words for the same verdict (METHOD.md, Verdicts)."""

from __future__ import annotations

import math
import re

from teiten.model.analysis import CampaignAnalysis, ContrastResult, Interval, Verdict, VerdictKind
from teiten.model.facts import HostFacts
from teiten.model.metrics import PRIMARY, Better, Metric
from teiten.model.text import Language
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, decimals_for, fixed, plain
from teiten.report.texts import Texts, texts

DECIDED = (VerdictKind.FASTER, VerdictKind.SLOWER)


def percent(t: Texts, share: float, decimals: int, *, signed: bool = False) -> str:
    return t("unit.percent", value=fixed(share * 100, decimals, signed=signed))


def plain_percent(t: Texts, share: float) -> str:
    return t("unit.percent", value=plain(share * 100))


def percent_decimals(effect: Interval) -> int:
    """Decimals of the per cent figures of an effect."""
    half = (effect.high - effect.low) / 2 * 100
    return max(decimals_for(half), 1 if half < 10 else 0)


def ratio_text(effect: Interval | None) -> str:
    """``1.023``"""
    return NOTHING if effect is None else fixed(effect.ratio, percent_decimals(effect) + 2)


def interval_text(t: Texts, effect: Interval | None) -> str:
    """``1.011 to 1.035``"""
    if effect is None:
        return NOTHING
    digits = percent_decimals(effect) + 2
    return t("interval.plain", low=fixed(effect.low, digits), high=fixed(effect.high, digits))


def interval_percent(t: Texts, effect: Interval) -> str:
    """``95 % interval +1.1 % to +3.5 %``"""
    digits = percent_decimals(effect)
    return t(
        "interval.percent",
        confidence=plain_percent(t, round(effect.confidence, 12)),
        low=percent(t, effect.low - 1, digits, signed=True),
        high=percent(t, effect.high - 1, digits, signed=True),
    )


def verdict_word(t: Texts, verdict: Verdict) -> str:
    """The verdict as in tables and charts."""
    suffix = "-at-least" if verdict.at_least_delta and verdict.kind in DECIDED else ""
    return t(f"verdict.{verdict.kind.value}{suffix}", delta=plain_percent(t, verdict.delta))


def machine_text(t: Texts, facts: HostFacts) -> str:
    """``2 cores of AMD EPYC 7763``"""
    model = processor(facts.cpu.model)
    if not model:
        return t.plural("machine.unnamed", facts.cpu.logical)
    return t.plural("machine.named", facts.cpu.logical, model=model)


def processor(model: str) -> str:
    """A processor's name without what its maker adds to it."""
    short = re.sub(r"\((R|TM|r|tm)\)|\b\d+-Core\b|\bProcessor\b|\bCPU\b|@.*$", " ", model)
    return " ".join(short.split())


def verdict_sentence(
    analysis: CampaignAnalysis, contrast: ContrastResult, language: Language
) -> str:
    """The answer to one contrast in one sentence, with its interval, workload and machine."""
    t = texts(language)
    names = Names(analysis, t)
    return sentence(t, names, contrast, machine_text(t, analysis.facts))


def sentence(t: Texts, names: Names, contrast: ContrastResult, machine: str) -> str:
    """As verdict_sentence, where the names are at hand."""
    verdict = contrast.overall
    old, new = names.side(contrast.old), names.side(contrast.new)
    values = {
        "old": old.short if names.is_server else old.long,
        "new": new.long,
        "workload": names.workload_in_sentence(contrast.workload),
        "machine": machine,
        "delta": plain_percent(t, verdict.delta),
    }
    subject = (
        ""
        if contrast.metric.name in PRIMARY
        else t(
            "sentence.metric",
            metric=t.either(f"metric.{contrast.metric.name}", contrast.metric.name),
        )
    )
    return subject + _statement(t, verdict, contrast.metric, values)


def _statement(t: Texts, verdict: Verdict, metric: Metric, values: dict[str, str]) -> str:
    effect = verdict.effect
    if effect is None:
        reason = t.either(f"reason.{verdict.reason}", t("reason.too-few-pairs"))
        return t("sentence.nothing", reason=reason, **values)
    values["confidence"] = plain_percent(t, effect.confidence)
    if verdict.kind in DECIDED or verdict.kind is VerdictKind.DIFFERENT_BUT_SMALL:
        which, numbers = decided(t, verdict, metric)
        return t(f"sentence.{which}", **values, **numbers)
    digits = percent_decimals(effect)
    values |= {
        "percent": percent(t, effect.ratio - 1, digits, signed=True),
        "low": percent(t, effect.low - 1, digits, signed=True),
        "high": percent(t, effect.high - 1, digits, signed=True),
    }
    if verdict.kind is VerdictKind.EQUIVALENT:
        return t("sentence.equivalent", **values)
    return t("sentence.inconclusive", detectable=_detectable(t, verdict), **values)


def decided(t: Texts, verdict: Verdict, metric: Metric) -> tuple[str, dict[str, str]]:
    """Of a difference: which sentence says it (slower-at-least, …), and its numbers."""
    effect = verdict.effect
    if effect is None:
        raise ValueError("without an interval there is no difference to tell")
    above = effect.ratio > 1
    ends = (effect.low - 1, effect.high - 1) if above else (1 - effect.high, 1 - effect.low)
    digits = percent_decimals(effect)
    values = {
        "percent": percent(t, abs(effect.ratio - 1), digits),
        "low": percent(t, ends[0], digits),
        "high": percent(t, ends[1], digits),
    }
    faster = above != (metric.better is Better.LOWER)
    direction = "faster" if faster else "slower"
    if verdict.kind is VerdictKind.DIFFERENT_BUT_SMALL:
        return f"small-{direction}", values
    return f"{direction}-at-least" if verdict.at_least_delta else direction, values


def _detectable(t: Texts, verdict: Verdict) -> str:
    smallest = verdict.smallest_detectable
    if smallest is None:
        return ""
    return t.plural("sentence.detectable", verdict.pairs, percent=detectable_percent(t, smallest))


def detectable_percent(t: Texts, smallest: float) -> str:
    """The smallest detectable effect, rounded up: what is promised must hold."""
    scale = 10 if smallest < 0.1 else 1
    return t("unit.percent", value=plain(math.ceil(smallest * 100 * scale - 1e-9) / scale))
