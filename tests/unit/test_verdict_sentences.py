"""The sentence of every verdict names both sides and the machine, in both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis, Interval, Verdict, VerdictKind
from teiten.analysis.model.verdict import Extreme
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.report.sentences import verdict_sentence, verdict_word
from teiten.report.texts import texts
from teiten.report.view.contrasts import verdict_text
from tests.fixtures.invented_analysis import invented_analysis

INTERVALS = {
    VerdictKind.SLOWER: (0.95, 0.90, 0.99),
    VerdictKind.FASTER: (1.05, 1.01, 1.10),
    VerdictKind.EQUIVALENT: (1.0, 0.99, 1.01),
    VerdictKind.DIFFERENT_BUT_SMALL: (1.01, 1.005, 1.015),
    VerdictKind.INCONCLUSIVE: (0.97, 0.90, 1.04),
    VerdictKind.MIXED: (0.97, 0.90, 1.04),
    VerdictKind.UNJUDGED: (0.97, 0.94, 0.99),
}


@pytest.fixture(scope="module")
def invented() -> CampaignAnalysis:
    return invented_analysis(seconds=3)


def of_kind(kind: VerdictKind, *, at_least_delta: bool = False) -> Verdict:
    ratio, low, high = INTERVALS[kind]
    return Verdict(
        kind=kind,
        at_least_delta=at_least_delta,
        effect=Interval(ratio, low, high, Share(0.95)),
        pairs=6,
        delta=Share(0.02),
        smallest_detectable=Share(0.07) if kind is VerdictKind.INCONCLUSIVE else None,
        extremes=_extremes() if kind is VerdictKind.MIXED else (),
    )


def _extremes() -> tuple[Extreme, ...]:
    levels = ((VerdictKind.SLOWER, "1", 0.8), (VerdictKind.FASTER, "64", 1.2))
    return tuple(
        Extreme((("clients", name),), kind, Interval(at, at - 0.01, at + 0.01, Share(0.95)))
        for kind, name, at in levels
    )


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("kind", list(VerdictKind))
def test_every_verdict_names_its_sides_and_its_interval(
    invented: CampaignAnalysis, kind: VerdictKind, language: Language
) -> None:
    for at_least in (False, True):
        verdict = of_kind(kind, at_least_delta=at_least)
        contrast = replace(invented.contrasts[0], overall=verdict)
        said = verdict_sentence(invented, contrast, language)
        sides = (contrast.old, contrast.new)
        versions = {one.version for level, one in invented.plan.servers if level in sides}
        assert all(str(version) in said for version in versions)
        assert "{" not in said and "95" in said


@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_interval_that_tells_nothing_is_not_told(
    invented: CampaignAnalysis, language: Language
) -> None:
    """As two pairs can give: −100 % to +99,900 %, and a difference of 16,675 % could be seen."""
    for conclusive in (True, False):
        verdict = replace(
            of_kind(VerdictKind.INCONCLUSIVE),
            effect=Interval(1.64, 0.0005, 1000.0, Share(0.95)),
            smallest_detectable=Share(166.75),
            conclusive=conclusive,
        )
        contrast = replace(invented.contrasts[0], overall=verdict)
        said = verdict_sentence(invented, contrast, language)
        assert "99,900" not in said and "16,675" not in said and "+64" in said
        assert "100" in said and "95" in said
        t = texts(language)
        assert verdict_text(t, verdict) == verdict_word(t, verdict)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_where_nothing_can_be_said_the_reason_is(
    invented: CampaignAnalysis, language: Language
) -> None:
    nothing = replace(
        of_kind(VerdictKind.INCONCLUSIVE),
        effect=None,
        smallest_detectable=None,
        reason="too-few-pairs",
    )
    contrast = replace(invented.contrasts[0], overall=nothing)
    said = verdict_sentence(invented, contrast, language)
    assert str(dict(invented.plan.servers)[contrast.new].version) in said
