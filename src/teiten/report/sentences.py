"""Verdicts in words: always the same words for the same verdict (METHOD.md, Verdicts).

A mixed verdict in words: the two levels between which it lies, each with its interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from teiten.analysis.model.findings import (
    CampaignAnalysis,
    ContrastResult,
    LevelResult,
    VerdictKind,
    servers_of,
)
from teiten.analysis.model.observations import Context
from teiten.analysis.model.verdict import BY_SIGN, Extreme, Interval, Verdict
from teiten.kinds.contract_present import present_of
from teiten.model.facts import HostFacts
from teiten.model.metrics import Better, Metric
from teiten.model.text import Language
from teiten.report.effects import (
    WIDEST,
    change,
    confidence_percent,
    is_many_fold,
    is_many_times,
    is_wide,
    percent,
    percent_decimals,
    plain_percent,
    shorter_text,
    times_text,
)
from teiten.report.names import Names
from teiten.report.numbers import plain
from teiten.report.scope import scope_text
from teiten.report.texts import Texts, texts

DECIDED = (VerdictKind.FASTER, VerdictKind.SLOWER)
NO_CONCLUSION = "no-conclusion"
MOST_DETECTABLE = 9.0
"""A larger smallest detectable effect, of ten times and more, is not told."""


def verdict_word(t: Texts, verdict: Verdict) -> str:
    """The verdict as in tables and charts."""
    if not verdict.conclusive:
        return _no_conclusion_word(t, verdict)
    suffix = "-at-least" if verdict.at_least_delta and verdict.kind in DECIDED else ""
    return t(f"verdict.{verdict.kind.value}{suffix}", delta=plain_percent(t, verdict.delta))


def _no_conclusion_word(t: Texts, verdict: Verdict) -> str:
    effect = verdict.effect
    if effect is None:
        return t("verdict.no-conclusion")
    measured = change(t, effect.ratio, percent_decimals(effect))
    return t("verdict.no-conclusion-measured", percent=measured)


def verdict_kind(verdict: Verdict) -> str:
    """By what a form colours it: the verdict's kind, or that the campaign supports none."""
    return verdict.kind.value if verdict.conclusive else NO_CONCLUSION


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
    return answer_sentence(t, Names(analysis.plan, t), analysis, contrast)


def answer_sentence(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> str:
    """Answer one contrast as ``verdict_sentence`` does, with names that are at hand."""
    return "".join(answer_parts(t, names, analysis, contrast))


def answer_parts(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> tuple[str, str, str]:
    """The verdict, what its kind says besides, and for what a result holds; each but the first can
    be empty."""
    verdict_alone = sentence(t, names, contrast, machine_text(t, analysis.facts))
    if not contrast.metric.judged:
        return verdict_alone, "", ""
    kind = present_of(analysis.plan.study.workload(contrast.workload).kind)
    verdict = contrast.overall
    has_result = verdict.conclusive and verdict.kind is not VerdictKind.INCONCLUSIVE
    scope = scope_text(t, analysis, verdict.pairs) if has_result else ""
    return verdict_alone, kind.further(t, names, analysis, contrast), scope


def sentence(t: Texts, names: Names, contrast: ContrastResult, machine: str) -> str:
    """The verdict alone."""
    verdict = contrast.overall
    old, new = names.side(contrast.old), names.side(contrast.new)
    values = {
        "old": old.short if names.is_server and not names.configured else old.long,
        "new": new.long,
        "workload": names.workload_in_sentence(contrast.workload),
        "machine": machine,
        "delta": plain_percent(t, verdict.delta),
    }
    subject = (
        ""
        if contrast.metric.judged
        else t(
            "sentence.metric",
            metric=t.either(f"metric.{contrast.metric.name}", contrast.metric.name),
        )
    )
    subject += pooled_text(t, names, contrast.levels)
    if verdict.kind is VerdictKind.MIXED:
        key = "mixed" if verdict.conclusive else "no-conclusion-mixed"
        values |= extremes_said(t, verdict, contrast.metric, names.context)
        said = subject + t(f"sentence.{key}", **values)
    else:
        said = subject + _statement(t, verdict, contrast.metric, values)
    if names.of_one_start and verdict.is_given:
        said += t("sentence.one-start")
    is_described = (
        f"side-of.{names.contrast}" in t or (names.contrast, contrast.new) in names.titles
    )
    begins = is_described and said.startswith(new.long)
    return said[:1].upper() + said[1:] if begins else said


def pooled_text(t: Texts, names: Names, levels: Sequence[LevelResult]) -> str:
    """Where an answer is the mean over several servers: which they are."""
    servers = servers_of(levels)
    if len(servers) < 2:
        return ""
    listed = t("list.separator").join(names.server(server).short for server in servers)
    return t("sentence.pooled", servers=listed)


def _statement(t: Texts, verdict: Verdict, metric: Metric, values: dict[str, str]) -> str:
    effect = verdict.effect
    if effect is None:
        reason = t.either(f"reason.{verdict.reason}", t("reason.too-few-pairs"))
        return t("sentence.nothing", reason=reason, **values)
    values["confidence"] = confidence_percent(t, effect.confidence)
    wide = "-wide" if is_wide(effect) else ""
    values["factor"] = plain(WIDEST)
    if not verdict.conclusive:
        return t(f"sentence.no-conclusion{wide}", **values, **_signed(t, effect))
    is_time = metric.better is Better.LOWER
    misleads = is_many_times(effect) if is_time else is_many_fold(effect)
    if verdict.kind in DECIDED and metric.judged and misleads:
        return _many_times(t, verdict, values, is_time=is_time)
    if verdict.kind in DECIDED or verdict.kind is VerdictKind.DIFFERENT_BUT_SMALL:
        which, numbers = decided(t, verdict, metric)
        return t(f"sentence.{which}", **values, **numbers)
    values |= _signed(t, effect)
    if verdict.kind in {VerdictKind.EQUIVALENT, VerdictKind.UNJUDGED}:
        return t(f"sentence.{verdict.kind.value}{wide}", **values)
    return t(f"sentence.inconclusive{wide}", detectable=_detectable(t, verdict), **values)


def _signed(t: Texts, effect: Interval) -> dict[str, str]:
    """``+2.3 %`` and the ends of its interval."""
    digits = percent_decimals(effect)
    ends = {"percent": effect.ratio, "low": effect.low, "high": effect.high}
    return {name: change(t, ratio, digits) for name, ratio in ends.items()}


def _many_times(t: Texts, verdict: Verdict, values: dict[str, str], *, is_time: bool) -> str:
    """Word a difference so great that per cent mislead: 90 % less time is ten times as fast, as
    900 % more throughput are. Raises ValueError without an interval."""
    effect = verdict.effect
    if effect is None:
        raise ValueError("without an interval there is no difference to tell")
    faster = effect.ratio < 1 or not is_time
    shown = effect.inverse if effect.ratio < 1 else effect
    shorter = faster and is_time
    for name, value in (("factor", shown.ratio), ("low", shown.low), ("high", shown.high)):
        values[name] = shorter_text(t, value, shown) if shorter else times_text(value, shown)
    suffix = "-at-least" if verdict.at_least_delta else ""
    way = "shorter" if shorter else "faster" if faster else "slower"
    return t(f"sentence.times-{way}{suffix}", **values)


def decided(t: Texts, verdict: Verdict, metric: Metric) -> tuple[str, dict[str, str]]:
    """Choose the sentence that tells a difference (slower-at-least, …), with its numbers."""
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
    smallest = told_detectable(verdict)
    if smallest is None:
        return ""
    return t.plural("sentence.detectable", verdict.pairs, percent=detectable_percent(t, smallest))


def told_detectable(verdict: Verdict) -> float | None:
    """The smallest effect that so many pairs could have shown, where to know it helps: not of a
    profile that supports no conclusion, and not where only a change by many times could."""
    smallest = verdict.smallest_detectable
    useful = verdict.conclusive and smallest is not None and smallest <= MOST_DETECTABLE
    return smallest if useful else None


def detectable_percent(t: Texts, smallest: float) -> str:
    """The smallest detectable effect, rounded up: what is promised must hold."""
    scale = 10 if smallest < 0.1 else 1
    return t("unit.percent", value=plain(math.ceil(smallest * 100 * scale - 1e-9) / scale))


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
        if faster and is_time:
            factor = shorter_text(t, shown.ratio, shown)
            low, high = (shorter_text(t, end, shown) for end in (shown.low, shown.high))
            interval = t("shorter.interval", low=low, high=high)
            return t("extreme.times-shorter", factor=factor), interval
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
