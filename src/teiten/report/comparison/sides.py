"""Names of the two campaigns of a comparison, and its verdicts in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from teiten.analysis.model.comparison import Comparison, UnpairedResult
from teiten.analysis.model.findings import CampaignAnalysis, Verdict, VerdictKind
from teiten.model.facts import HostFacts
from teiten.model.metrics import Metric
from teiten.model.text import Language
from teiten.report.effects import (
    WIDEST,
    change,
    confidence_percent,
    is_wide,
    percent_decimals,
    plain_percent,
)
from teiten.report.numbers import bytes_text, plain
from teiten.report.sentences import (
    DECIDED,
    decided,
    detectable_percent,
    extremes_said,
    pooled_text,
    processor,
    told_detectable,
)
from teiten.report.texts import Texts, texts
from teiten.report.view.kit import Kit

A, B = "A", "B"


@dataclass(frozen=True)
class SideNames:
    """``A`` and ``A (Debian GNU/Linux 12)``."""

    short: str
    long: str


class Pair:
    """Two campaigns with the words for them."""

    def __init__(self, comparison: Comparison, language: Language) -> None:
        self.comparison = comparison
        self.t: Texts = texts(language)
        self.kits = (Kit(comparison.a, language), Kit(comparison.b, language))
        self.machines = "-of-one-machine" if comparison.same_machine else ""
        """The end of the keys of texts that speak of the machines."""
        distinct = distinctions(comparison.a, comparison.b, self.t)
        self.sides = tuple(
            SideNames(letter, self.t("comparison.side", letter=letter, what=what))
            for letter, what in zip((A, B), distinct, strict=True)
        )

    def server(self, result: UnpairedResult) -> str:
        """The contrasted level: ``PostgreSQL 18.4``, or both sides' where they differ."""
        old, new = (
            kit.names.side(level).long
            for kit, level in zip(self.kits, (result.side.a, result.side.b), strict=True)
        )
        return old if old == new else self.t("comparison.servers", a=old, b=new)

    def title(self, result: UnpairedResult) -> str:
        """``Range read, PostgreSQL 18.4``"""
        workload = self.kits[0].names.workload(result.workload)
        return self.t("comparison.part", workload=workload, server=self.server(result))

    def sentence(self, result: UnpairedResult) -> str:
        """The verdict over all levels in one sentence, with its interval."""
        values = {
            "old": self.sides[0].long,
            "new": self.sides[1].long,
            "what": self.title(result),
        }
        pooled = pooled_text(self.t, self.kits[0].names, result.levels)
        verdict = result.overall
        if verdict.kind is VerdictKind.MIXED:
            key = "mixed" if verdict.conclusive else "no-conclusion-mixed"
            values |= extremes_said(self.t, verdict, result.metric, self.kits[0].names.context)
            return pooled + self.t(f"comparison-sentence.{key}", subject="", **values)
        return pooled + _sentence(self.t, verdict, result.metric, values)


def comparison_sentence(comparison: Comparison, result: UnpairedResult, language: Language) -> str:
    return Pair(comparison, language).sentence(result)


def distinctions(a: CampaignAnalysis, b: CampaignAnalysis, t: Texts) -> tuple[str, str]:
    """Find what tells two machines apart, in the order of what people name first; else the names
    of the campaigns, and the times where those are the same."""
    readers: tuple[Callable[[HostFacts], str], ...] = (
        lambda facts: facts.distribution or facts.system,
        lambda facts: processor(facts.cpu.model),
        lambda facts: t.plural("machine.unnamed", facts.cpu.logical),
        lambda facts: bytes_text(facts.memory.total),
        lambda facts: facts.kernel,
    )
    for read in readers:
        said = read(a.facts), read(b.facts)
        if said[0] != said[1] and all(said):
            return said
    return (a.name, b.name) if a.name != b.name else (f"{a.created_at:.0f}", f"{b.created_at:.0f}")


def _sentence(t: Texts, verdict: Verdict, metric: Metric, values: dict[str, str]) -> str:
    values["delta"] = plain_percent(t, verdict.delta)
    values["subject"] = (
        ""
        if metric.is_throughput
        else t("sentence.metric", metric=t.either(f"metric.{metric.name}", metric.name))
    )
    effect = verdict.effect
    if effect is None:
        reason = t.either(f"comparison-reason.{verdict.reason}", str(verdict.reason))
        return t("comparison-sentence.nothing", reason=reason, **values)
    values["confidence"] = confidence_percent(t, effect.confidence)
    if verdict.conclusive and verdict.kind in (*DECIDED, VerdictKind.DIFFERENT_BUT_SMALL):
        which, numbers = decided(t, verdict, metric)
        return t(f"comparison-sentence.{which}", **values, **numbers)
    digits = percent_decimals(effect)
    ends = {"percent": effect.ratio, "low": effect.low, "high": effect.high}
    values |= {name: change(t, ratio, digits) for name, ratio in ends.items()}
    values["factor"] = plain(WIDEST)
    wide = "-wide" if is_wide(effect) else ""
    if not verdict.conclusive:
        return t(f"comparison-sentence.no-conclusion{wide}", **values)
    if verdict.kind is VerdictKind.EQUIVALENT:
        return t("comparison-sentence.equivalent", **values)
    if verdict.kind is VerdictKind.UNJUDGED:
        return t(f"comparison-sentence.unjudged{wide}", **values)
    smallest = told_detectable(verdict)
    told = (
        ""
        if smallest is None
        else t("comparison-sentence.detectable", percent=detectable_percent(t, smallest))
    )
    return t(f"comparison-sentence.inconclusive{wide}", detectable=told, **values)
