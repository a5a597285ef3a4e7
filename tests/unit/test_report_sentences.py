"""Verdicts in words: each kind has its own words, and every one carries its interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.findings import (
    ContrastResult,
    Interval,
    LevelResult,
    Verdict,
    VerdictKind,
)
from teiten.kinds.metrics import by_name
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.report.sentences import processor, verdict_sentence
from tests.fixtures.invented_analysis import invented_analysis

ANALYSIS = invented_analysis(seconds=2)


def said(
    kind: VerdictKind,
    ratios: tuple[float, float, float] | None,
    language: Language = "en",
    *,
    metric: str = "tps",
    beyond: bool = False,
    smallest: float | None = None,
) -> str:
    effect = None if ratios is None else Interval(*ratios, confidence=Share(0.95))
    verdict = Verdict(
        kind, beyond, effect, 5, Share(0.02), None if smallest is None else Share(smallest)
    )
    contrast = ContrastResult("read", "17", "18", by_name()[metric], (), verdict)
    return verdict_sentence(ANALYSIS, contrast, language).replace("\u00a0", " ")


def test_faster() -> None:
    assert said(VerdictKind.FASTER, (1.023, 1.011, 1.035)) == (
        "PostgreSQL 18.4 is 2.3 % faster than 17.10 on “Range read”"
        " (95 % interval 1.1 % to 3.5 %; 2 cores of AMD EPYC 7763)."
    )


def level(server: str, clients: str) -> LevelResult:
    nothing = Verdict(VerdictKind.INCONCLUSIVE, False, None, 0, Share(0.02), None)
    return LevelResult((("server", server), ("clients", clients)), (), (), nothing)


@pytest.mark.parametrize(
    ("language", "begins"),
    [("en", "On average over 17.10, 18.4: "), ("ja", "17.10、18.4の平均: ")],
)
def test_a_mean_over_several_servers_names_them(language: Language, begins: str) -> None:
    """Of a campaign that contrasts something else on each of them."""
    effect = Interval(1.02, 1.01, 1.03, confidence=Share(0.95))
    verdict = Verdict(VerdictKind.FASTER, False, effect, 5, Share(0.02), None)
    levels = (level("17", "1"), level("18", "1"))
    pooled = ContrastResult("read", "17", "18", by_name()["tps"], levels, verdict)
    assert verdict_sentence(ANALYSIS, pooled, language).startswith(begins)
    single = replace(pooled, levels=levels[:1])
    assert not verdict_sentence(ANALYSIS, single, language).startswith(begins)


def test_slower_counts_downwards() -> None:
    assert "is 2.3 % slower than 17.10" in said(VerdictKind.SLOWER, (0.977, 0.965, 0.989))
    assert "1.1 % to 3.5 %" in said(VerdictKind.SLOWER, (0.977, 0.965, 0.989))


def test_a_rate_of_many_times_is_a_factor_and_a_fall_is_not() -> None:
    """2,372 % more is nothing that anybody reads; 96 % less is."""
    many = said(VerdictKind.FASTER, (24.72, 13.5, 45.25), beyond=True)
    assert "PostgreSQL 18.4 is 24.7 times as fast as 17.10 on “Range read”" in many
    assert "beyond the 2 % that matter (95 % interval 13.5 to 45.2" in many.replace("45.3", "45.2")
    fall = said(VerdictKind.SLOWER, (0.04, 0.02, 0.08), beyond=True)
    assert "is 96 % slower than 17.10" in fall.replace("96.0", "96")
    assert "is 40 % faster" in said(VerdictKind.FASTER, (1.4, 1.2, 1.7))


def test_a_metric_beside_the_judged_one_is_told_without_a_word() -> None:
    sentence = said(VerdictKind.UNJUDGED, (0.977, 0.965, 0.989), metric="latency_mean")
    assert sentence.startswith(
        "mean latency: PostgreSQL 18.4 against 17.10 measured −2.3 % on “Range read”"
    )


def test_by_at_least_delta_equivalent_and_small() -> None:
    assert "by at least 2 %" in said(VerdictKind.FASTER, (1.04, 1.03, 1.05), beyond=True)
    assert "equivalent within ±2 %" in said(VerdictKind.EQUIVALENT, (1.003, 0.995, 1.01))
    assert "but by less than 2 %: 0.8 % slower" in said(
        VerdictKind.DIFFERENT_BUT_SMALL, (0.992, 0.986, 0.998)
    )


def test_inconclusive_says_what_could_have_been_shown() -> None:
    sentence = said(VerdictKind.INCONCLUSIVE, (0.994, 0.967, 1.021), smallest=0.043)
    assert "measured −0.6 % (95 % interval −3.3 % to +2.1 %;" in sentence
    assert sentence.endswith("These 5 pairs could have shown a difference of 4.3 % or more.")


def test_nothing_can_be_said_without_pairs() -> None:
    assert said(VerdictKind.INCONCLUSIVE, None) == (
        "Nothing can be said about PostgreSQL 18.4 against 17.10 on “Range read”:"
        " there are fewer than two valid pairs of trials (2 cores of AMD EPYC 7763)."
    )


def test_japanese_is_written_in_the_reports_terms() -> None:
    assert said(VerdictKind.SLOWER, (0.977, 0.965, 0.989), "ja") == (
        "参照系では、PostgreSQL 18.4は17.10より2.3%遅い（95%信頼区間 1.1%〜3.5%）。"
        "AMD EPYC 7763 2コアで測定。"
    )


def test_servers_of_one_version_are_told_apart_by_their_levels() -> None:
    same = ANALYSIS.plan.servers[1][1]
    plan = replace(ANALYSIS.plan, servers=(("17", same), ("18", same)))
    contrast = ANALYSIS.contrasts[0]
    sentence = verdict_sentence(replace(ANALYSIS, plan=plan), contrast, "en")
    assert sentence.startswith("PostgreSQL 18.4 (18) is ")
    assert "than 17 on" in sentence


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", "Intel Xeon Platinum 8259CL"),
        ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763"),
        ("", ""),
    ],
)
def test_processors_lose_what_their_makers_add(model: str, short: str) -> None:
    assert processor(model) == short
