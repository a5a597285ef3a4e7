"""Verdicts in words: always the same words for the same verdict (METHOD.md, Verdicts)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from teiten.analysis.model.comparison import UnpairedResult
from teiten.analysis.model.findings import (
    CampaignAnalysis,
    ContrastResult,
    LevelResult,
    VerdictKind,
    levels_of_factor,
)
from teiten.analysis.model.verdict import BY_SIGN, Interval, Verdict
from teiten.kinds.contract_present import present_of
from teiten.model.facts import HostFacts
from teiten.model.metrics import Better, Metric
from teiten.model.plan import Context
from teiten.model.progress import Ending
from teiten.model.study import SERVER, Study
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

NO_CONCLUSION = "no-conclusion"
MOST_DETECTABLE = 9.0
"""A larger smallest detectable effect, of ten times and more, is not told."""


def verdict_word(t: Texts, verdict: Verdict) -> str:
    """The verdict as in tables and charts."""
    if verdict.conclusive:
        suffix = "-at-least" if verdict.at_least_delta and verdict.kind in BY_SIGN else ""
        return t(f"verdict.{verdict.kind.value}{suffix}", delta=plain_percent(t, verdict.delta))
    effect = verdict.effect
    if effect is None:
        return t("verdict.no-conclusion")
    measured = change(t, effect.ratio, percent_decimals(effect))
    return t("verdict.no-conclusion-measured", percent=measured)


def ending_text(t: Texts, analysis: CampaignAnalysis) -> str:
    """Say why a sequential campaign ended; nothing of a fixed design or of one that goes on."""
    ending = analysis.standing.ending
    if ending is None:
        return ""
    key = ending.value
    if ending is Ending.DECIDED and any(contrast.left_out for contrast in analysis.contrasts):
        key = "decided-but-over-timeout"
    blocks = len({trial.block for trial in analysis.trials})
    return t.plural(f"ending.{key}", blocks)


def verdict_kind(verdict: Verdict) -> str:
    """By what a form colours it: the verdict's kind, or that the campaign supports none."""
    return verdict.kind.value if verdict.conclusive else NO_CONCLUSION


def is_open(verdict: Verdict) -> bool:
    """Whether nothing was decided, or the campaign supports no conclusion."""
    return not verdict.conclusive or verdict.kind is VerdictKind.INCONCLUSIVE


def notice_of_profile(t: Texts, study: Study) -> Iterator[str]:
    """Say that the profile supports no conclusion, or is a quick look."""
    if not study.conclusive:
        yield t("notice.no-conclusion", profile=study.profile)
    elif not study.replicates:
        yield t("notice.quick-look", profile=study.profile)


def machine_text(t: Texts, facts: HostFacts) -> str:
    """``2 cores of AMD EPYC 7763``"""
    model = processor(facts.cpu.model)
    return t.plural("machine.named" if model else "machine.unnamed", facts.cpu.logical, model=model)


def processor(model: str) -> str:
    """A processor's name without what its maker adds to it."""
    short = re.sub(r"\((R|TM|r|tm)\)|\b\d+-Core\b|\bProcessor\b|\bCPU\b|@.*$", " ", model)
    return " ".join(short.split())


def verdict_sentence(
    analysis: CampaignAnalysis, contrast: ContrastResult, language: Language
) -> str:
    """The answer to one contrast in one sentence, with its interval, workload and machine."""
    t = texts(language)
    return "".join(answer_parts(t, Names(analysis.plan, t), analysis, contrast))


def answer_parts(
    t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
) -> tuple[str, str, str]:
    """The verdict; what its kind says besides and for what a result holds, which can be empty."""
    verdict_alone = sentence(t, names, contrast, machine_text(t, analysis.facts))
    if not contrast.metric.judged:
        return verdict_alone, "", ""
    kind = present_of(analysis.plan.study.workload(contrast.workload).kind)
    scope = "" if is_open(contrast.overall) else scope_text(t, analysis, contrast)
    return verdict_alone, kind.further(t, names, analysis, contrast), scope


def sentence(t: Texts, names: Names, contrast: ContrastResult, machine: str) -> str:
    """The verdict alone."""
    verdict = contrast.overall
    old, new = names.side(contrast.old), names.side(contrast.new)
    values = {
        "old": old.short if names.is_server and not names.configured else old.long,
        "new": new.long,
        "workload": names.workload(contrast.workload),
        "machine": machine,
    }
    subject = (
        "" if contrast.metric.judged else t("sentence.metric", metric=t.metric(contrast.metric))
    )
    subject += pooled_text(t, names, contrast.levels)
    text = subject + statement(t, "sentence", contrast, values, names.context)
    if names.of_one_start and verdict.is_given:
        text += t("sentence.one-start")
    is_described = (
        f"side-of.{names.contrast}" in t
        or f"side.{names.contrast}.{contrast.new}" in t
        or (names.contrast, contrast.new) in names.titles
    )
    begins = is_described and text.startswith(new.long)
    return text[:1].upper() + text[1:] if begins else text


def pooled_text(t: Texts, names: Names, levels: Sequence[LevelResult]) -> str:
    """Where an answer is the mean over several servers: which they are."""
    servers = levels_of_factor(levels, SERVER)
    if len(servers) < 2:
        return ""
    listed = t("list.separator").join(names.server(server).short for server in servers)
    return t("sentence.pooled", servers=listed)


def statement(
    t: Texts,
    family: str,
    result: ContrastResult | UnpairedResult,
    names: Mapping[str, str],
    level: Callable[[Context], str],
) -> str:
    """The sentence of a verdict, of those whose keys begin with ``family``: ``sentence`` in a
    campaign, ``comparison-sentence`` between two. ``names``: of sides and workload, as they have
    them; ``level`` names a level."""
    verdict, metric = result.overall, result.metric
    if verdict.kind is VerdictKind.MIXED:
        key = "mixed" if verdict.conclusive else "no-conclusion-mixed"
        values = extremes_said(t, verdict, metric, level)
    elif verdict.effect is None:
        reasons = family.replace("sentence", "reason")
        otherwise = t.either(f"{reasons}.too-few-pairs", str(verdict.reason))
        key = str(verdict.reason) if f"{family}.{verdict.reason}" in t else "nothing"
        values = {"reason": t.either(f"{reasons}.{verdict.reason}", otherwise)}
    else:
        key, values = _measured(t, family, verdict, verdict.effect, metric)
        values["confidence"] = confidence_percent(t, verdict.effect.confidence)
    common = {**names, "delta": plain_percent(t, verdict.delta), "factor": plain(WIDEST)}
    return t(f"{family}.{key}", **{**common, **values})


def _measured(
    t: Texts, family: str, verdict: Verdict, effect: Interval, metric: Metric
) -> tuple[str, dict[str, str]]:
    """Choose the sentence of a verdict with an interval, with its numbers."""
    if verdict.conclusive and verdict.kind in (*BY_SIGN, VerdictKind.DIFFERENT_BUT_SMALL):
        at_least = "-at-least" if verdict.at_least_delta else ""
        if verdict.kind is VerdictKind.DIFFERENT_BUT_SMALL:
            direction, values = in_percent(t, effect, metric)
            return f"small-{direction}", values
        in_times = f"{family}.times-faster" in t and metric.judged
        way, values = (_difference if in_times else in_percent)(t, effect, metric)
        return f"{way}{at_least}", values
    wide = "-wide" if is_wide(effect) else ""
    key = f"inconclusive{wide}"
    if not verdict.conclusive:
        key = f"no-conclusion{wide}"
    elif verdict.kind is VerdictKind.EQUIVALENT:
        key = "equivalent"
    elif verdict.kind is VerdictKind.UNJUDGED:
        key = f"unjudged{wide}"
    return key, {**signed(t, effect), "detectable": _detectable(t, family, verdict)}


def signed(t: Texts, effect: Interval) -> dict[str, str]:
    """``+2.3 %`` and the ends of its interval."""
    digits = percent_decimals(effect)
    ends = {"percent": effect.ratio, "low": effect.low, "high": effect.high}
    return {name: change(t, ratio, digits) for name, ratio in ends.items()}


def _difference(t: Texts, effect: Interval, metric: Metric) -> tuple[str, dict[str, str]]:
    """Word a difference, with its numbers. Where it is so great that per cent mislead, in times:
    90 % less time is ten times as fast, as 900 % more throughput are."""
    is_time = metric.better is Better.LOWER
    if not (is_many_times(effect) if is_time else is_many_fold(effect)):
        return in_percent(t, effect, metric)
    faster = effect.ratio < 1 or not is_time
    shown = effect.inverse if effect.ratio < 1 else effect
    shorter = faster and is_time
    numbers = {"factor": shown.ratio, "low": shown.low, "high": shown.high}
    values = {
        name: shorter_text(t, value, shown) if shorter else times_text(value, shown)
        for name, value in numbers.items()
    }
    return f"times-{'shorter' if shorter else 'faster' if faster else 'slower'}", values


def in_percent(t: Texts, effect: Interval, metric: Metric) -> tuple[str, dict[str, str]]:
    """Whether the new side is faster or slower, by how many per cent of the old value."""
    above, digits = effect.ratio > 1, percent_decimals(effect)
    ends = (effect.low - 1, effect.high - 1) if above else (1 - effect.high, 1 - effect.low)
    numbers = (percent(t, share, digits) for share in (abs(effect.ratio - 1), *ends))
    values = dict(zip(("percent", "low", "high"), numbers, strict=True))
    return "faster" if above != (metric.better is Better.LOWER) else "slower", values


def _detectable(t: Texts, family: str, verdict: Verdict) -> str:
    smallest = told_detectable(verdict)
    if smallest is None:
        return ""
    key, values = f"{family}.detectable", {"percent": detectable_percent(t, smallest)}
    return t(key, **values) if key in t else t.plural(key, verdict.pairs, **values)


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
        key, numbers = "measured", signed(t, extreme.effect)
        if extreme.kind in BY_SIGN:
            key, numbers = _difference(t, extreme.effect, metric)
        interval = "shorter.interval" if key == "times-shorter" else "interval.plain"
        values |= {
            name: t(f"extreme.{key}", **numbers),
            f"{name}_at": t.quoted(level(extreme.context)),
            f"{name}_interval": t(interval, **numbers),
        }
    return values
