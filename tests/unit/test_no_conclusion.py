"""A campaign whose profile supports no conclusion says so wherever a verdict would stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from teiten.analysis.model.verdict import Interval, Verdict, VerdictKind
from teiten.analysis.verdict.conclusive import as_declared, marked
from teiten.cli.campaign.fail_on import refuse_fail_on
from teiten.cli.printed.form import taken
from teiten.cli.printed.outcome import JsonVerdict
from teiten.errors import UsageError
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.report.blocks import Statement, of_kind
from teiten.report.render.markdown import markdown_text
from teiten.report.sentences import verdict_kind, verdict_word
from teiten.report.texts import texts
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis

FASTER = Verdict(
    VerdictKind.FASTER, True, Interval(1.126, 1.1, 1.15, Share(0.95)), 3, Share(0.02), None
)
ANALYSIS = invented_analysis(seconds=2)
QUICK = replace(ANALYSIS.plan.study, profile="quick", conclusive=False)


@dataclass(frozen=True)
class Deep:
    verdict: Verdict
    others: tuple[tuple[str, Verdict], ...] = ()
    named: tuple[str, ...] = ("a",)


def test_every_verdict_is_marked_however_deep() -> None:
    found = {"kind": Deep(FASTER, (("x", FASTER),)), "text": Deep.__name__}
    done = marked(found)
    deep = done["kind"]
    assert isinstance(deep, Deep)
    assert not deep.verdict.conclusive and not deep.others[0][1].conclusive
    assert found["kind"] == Deep(FASTER, (("x", FASTER),))  # the old one stays
    without = (("a", 1), ["b"])
    assert marked(without) is without
    assert as_declared(found, ANALYSIS.plan.study) is found


@pytest.mark.parametrize(
    ("language", "word"),
    [("en", "no conclusion; measured +12.6 %"), ("ja", "結論は導けない（測定値は+12.6%）")],
)
def test_the_word_is_no_verdict_and_has_no_colour_of_one(language: Language, word: str) -> None:
    quick = marked(FASTER)
    assert verdict_word(texts(language), quick).replace("\u00a0", " ") == word
    assert (verdict_kind(FASTER), verdict_kind(quick)) == ("faster", "no-conclusion")
    assert (taken(JsonVerdict, FASTER).conclusive, taken(JsonVerdict, quick).conclusive) == (
        True,
        False,
    )


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_report_of_such_a_campaign_has_no_word_of_a_verdict(language: Language) -> None:
    analysis = replace(
        ANALYSIS,
        plan=replace(ANALYSIS.plan, study=QUICK),
        contrasts=as_declared(ANALYSIS.contrasts, QUICK),
    )
    page = view(analysis, language)
    assert {one.kind for one in of_kind(page.blocks(), Statement)} == {"no-conclusion"}
    answer = markdown_text(replace(page, sections=page.sections[:1]), "0")
    for word in ("by at least", " faster than", "少なくとも", "より速い"):
        assert word not in answer


def test_nothing_may_fail_on_what_supports_no_conclusion() -> None:
    refuse_fail_on(ANALYSIS.plan.study, ["slower"])
    refuse_fail_on(QUICK, [])
    with pytest.raises(UsageError, match="supports no conclusion"):
        refuse_fail_on(QUICK, ["slower"])
