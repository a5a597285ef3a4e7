"""Levels that contradict their mean: the verdict names the extremes, and no form gives a mean."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, LevelResult
from teiten.analysis.model.verdict import Interval, Verdict, VerdictKind
from teiten.analysis.verdict.conclusive import marked
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.mixed import is_averaged, over_levels
from teiten.analysis.verdict.stopping import undecided
from teiten.analysis.verdict.verdict import Rule, classify
from teiten.cli.campaign.carry_out import CarriedOut
from teiten.cli.campaign.fail_on import check_fail_on
from teiten.cli.printed.form import jsonable, taken
from teiten.cli.printed.outcome import JsonVerdict
from teiten.cli.printed.registry import BY_NAME
from teiten.errors import VerdictError
from teiten.model.metrics import Better
from teiten.model.plan import PlannedTrial
from teiten.model.study import Sequential
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Share
from teiten.report.exchange import render_exchange
from teiten.report.sentences import verdict_sentence, verdict_word
from teiten.report.site.entry import entry_of
from teiten.report.texts import texts
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.synthetic_plan import make_plan

PLAN = make_plan(72, clients=("1", "2", "4"))  # 6 blocks of 12
RULE = Rule(Share(0.02), Share(0.05), Better.HIGHER)
MIXED = VerdictKind.MIXED


def attempts(effects: Sequence[float], scatter: float, seed: int) -> list[Attempt]:
    """``effects``: d of the new side by level of clients."""
    numbers = np.random.default_rng(seed)

    def tps(trial: PlannedTrial) -> float:
        level = ("1", "2", "4").index(trial.cell.level("clients") or "")
        effect = effects[level] if trial.cell.level("server") == "18" else 0.0
        return 1000.0 * math.exp(effect + scatter * numbers.standard_normal())

    return [Attempt(trial.number, 1, Outcome.COUNTED, {"tps": tps(trial)}) for trial in PLAN.trials]


def read(effects: Sequence[float], scatter: float = 0.002, seed: int = 1) -> ContrastResult:
    found = contrasts(PLAN, attempts(effects, scatter, seed))
    return next(one for one in found if one.workload == "read")


def level(name: str, ratio: float, half: float) -> LevelResult:
    return between(name, math.log(ratio) - half, math.log(ratio) + half)


def between(name: str, least: float, most: float) -> LevelResult:
    """``least`` and ``most``: the ends of its interval as logarithms."""
    kind, beyond = classify(least, most, RULE)
    ratio, low, high = map(math.exp, ((least + most) / 2, least, most))
    effect = Interval(ratio, low, high, Share(0.98))
    verdict = Verdict(kind, beyond, effect, 9, RULE.delta, None)
    return LevelResult((("clients", name),), (), (), verdict)


def over(*levels: LevelResult) -> Verdict:
    mean = math.fsum(math.log(one.verdict.effect.ratio) for one in levels if one.verdict.effect)
    return over_levels(level("", math.exp(mean / len(levels)), 0.01).verdict, levels, RULE)


def test_opposite_levels_have_no_mean_and_name_their_extremes() -> None:
    found = read((0.3, 0.1, -0.2)).overall
    assert (found.kind, found.effect, found.reason) == (MIXED, None, "levels-differ")
    least, most = found.extremes
    assert (dict(least.context), dict(most.context)) == ({"clients": "4"}, {"clients": "1"})
    assert (least.kind, most.kind) == (VerdictKind.SLOWER, VerdictKind.FASTER)
    assert least.effect.ratio == pytest.approx(math.exp(-0.2), rel=0.02)


def test_levels_that_differ_by_more_than_their_mean_are_mixed() -> None:
    assert read((0.3, 0.05, 0.0)).overall.kind is MIXED
    assert read((0.3, 0.28, 0.32)).overall.kind is VerdictKind.FASTER


def test_what_lies_within_delta_contradicts_nothing() -> None:
    """Levels that differ from one another by less than what matters."""
    assert read((0.008, -0.008, 0.0), scatter=0.0005).overall.kind is VerdictKind.EQUIVALENT


def test_extremes_are_decided_and_not_only_far() -> None:
    """The widest interval has the least ratio here, and says nothing."""
    found = over(level("1", 0.5, 2.0), level("2", 0.8, 0.05), level("4", 1.5, 0.05))
    assert [dict(extreme.context)["clients"] for extreme in found.extremes] == ["2", "4"]


def test_a_small_difference_does_not_hide_a_level_that_is_slower() -> None:
    """Its interval ends lower, and a gate asks the levels that are named."""
    wide, small = between("1", -0.05, -0.001), between("2", -0.019, -0.0015)
    faster, beyond = between("4", 0.01, 0.03), between("4", 0.017, 0.0195)
    verdict = over(wide, small, faster)
    assert [dict(extreme.context)["clients"] for extreme in verdict.extremes] == ["1", "4"]
    assert verdict.holds_of == {MIXED, VerdictKind.SLOWER, VerdictKind.FASTER}
    nearer = between("2", -0.019, -0.015)
    assert over(wide, nearer, beyond).holds_of == {MIXED, VerdictKind.SLOWER}, "apart by δ"


def test_levels_that_are_not_decided_are_no_contradiction() -> None:
    assert over(level("1", 0.5, 1.0), level("2", 2.0, 1.0)).kind is not MIXED
    assert over(level("1", 1.3, 0.05), level("2", 0.9, 0.5)).kind is not MIXED


def test_no_mean_is_made_of_levels_without_an_order_unless_they_agree() -> None:
    """Two scenarios, one 28 times as fast, were "measured +64 % (−67 % to +725 %)" together."""
    far, open_, near = level("fixed", 28.0, 0.1), level("grows", 0.9, 0.3), level("x", 25.0, 0.1)
    mean = level("", 1.64, 1.5).verdict
    assert mean.kind is VerdictKind.INCONCLUSIVE
    alone = level("fixed", 1.5, 1.0)
    refused = over_levels(mean, (alone, open_), RULE, averaged=False)
    assert (refused.kind, refused.effect, refused.reason) == (
        VerdictKind.INCONCLUSIVE, None, "not-averaged"
    )  # fmt: skip
    assert over_levels(mean, (alone, open_), RULE).effect is mean.effect
    both = over_levels(level("", 26.4, 0.05).verdict, (far, near), RULE, averaged=False)
    assert both.kind is VerdictKind.FASTER and both.effect is not None
    assert over_levels(mean, (far, open_), RULE, averaged=False).kind is MIXED


@pytest.mark.parametrize(
    ("levels", "averaged"),
    [
        (("1", "16"), True),
        (("4MB", "64 MB"), True),
        (("25%", "40%"), True),
        (("off", "on"), False),
        (("throughput", "size"), False),
    ],
)
def test_amounts_have_a_mean(levels: tuple[str, str], averaged: bool) -> None:
    contexts = [(("guc:x", one),) for one in levels]
    assert is_averaged(PLAN, "read", contexts) is averaged
    assert is_averaged(PLAN, "read", contexts[:1])


def test_a_mixed_verdict_is_decided_but_its_open_levels_are_not() -> None:
    found = read((0.3, -0.3, 0.02), scatter=0.02)
    assert found.overall.kind is MIXED
    still = undecided([found], Sequential(None))
    assert still == {("read", one.context) for one in found.levels
                     if one.verdict.kind is VerdictKind.INCONCLUSIVE}  # fmt: skip


@pytest.mark.same
def test_equal_sides_are_seldom_mixed() -> None:
    """Of equal sides at most α of all statements may say something: over 200 campaigns."""
    wrong = sum(read((0, 0, 0), 0.05, seed).overall.kind is MIXED for seed in range(200))
    assert wrong <= 0.05 * 200


@pytest.fixture(scope="module")
def analysis() -> CampaignAnalysis:
    """The invented campaign, whose judged contrasts contradict themselves."""
    found = invented_analysis(seconds=2)
    return replace(found, contrasts=tuple(map(_contradicting, found.contrasts)))


def _contradicting(one: ContrastResult) -> ContrastResult:
    if not one.metric.judged:
        return one
    ratios = (0.4, 1.01, 1.2, 3.0)
    levels = tuple(
        replace(known, verdict=level("", ratio, 0.05).verdict)
        for known, ratio in zip(one.levels, ratios, strict=True)
    )
    mean = replace(one.overall, effect=Interval(1.1, 1.05, 1.15, Share(0.95)))
    return replace(one, levels=levels, overall=over_levels(mean, levels, RULE))


def judged(analysis: CampaignAnalysis) -> ContrastResult:
    return next(contrast for contrast in analysis.contrasts if contrast.metric.judged)


def test_the_sentence_names_both_with_their_intervals(analysis: CampaignAnalysis) -> None:
    said = verdict_sentence(analysis, judged(analysis), "en").replace("\u00a0", " ")
    assert said.startswith("Mixed on “Range read”")
    assert "is 60.0 % slower at 1 client and" in said
    assert "is 3.00 times as fast at 64 clients" in said
    assert "98 % intervals 57.9 % to 62.0 % and 2.85 to 3.15" in said and "10.0" not in said
    japanese = verdict_sentence(analysis, judged(analysis), "ja")
    assert "水準によって結果が異なる" in japanese and "性能が3.00倍" in japanese
    assert verdict_word(texts("en"), judged(analysis).overall) == "mixed"


def test_without_a_conclusion_it_is_said_as_such(analysis: CampaignAnalysis) -> None:
    said = verdict_sentence(analysis, marked(judged(analysis)), "en")
    assert said.startswith("No conclusion on “Range read”") and "64" in said


def test_every_form_has_the_one_value(analysis: CampaignAnalysis, tmp_path: Path) -> None:
    verdict = judged(analysis).overall
    as_json = jsonable(taken(JsonVerdict, verdict))
    jsonschema.Draft202012Validator(BY_NAME["verdict"].make()).validate(as_json)
    assert (as_json["verdict"], as_json["ratio"], as_json["interval"]) == ("mixed", None, None)
    assert [one["levels"]["clients"] for one in as_json["extremes"]] == ["1", "64"]
    assert [one["verdict"] for one in as_json["extremes"]] == ["slower", "faster"]
    entry = entry_of(analysis, str(tmp_path))
    assert {verdict.kind for verdict in entry.verdicts} == {"mixed"}
    bencher = json.loads(render_exchange(analysis, "bencher", "en")[1])
    assert "read, 18 against 17" not in bencher and len(bencher) == 8
    markdown = render_exchange(analysis, "github", "en")[1].decode()
    assert "mixed" in markdown


def test_a_gate_for_slower_does_not_pass_because_another_level_is_faster(
    analysis: CampaignAnalysis,
) -> None:
    carried = CarriedOut(analysis, (Path("report.en.html"),))
    for kind in ("mixed", "slower", "faster"):
        with pytest.raises(VerdictError, match=f"--fail-on {kind}: Mixed"):
            check_fail_on(carried, (kind,))
    check_fail_on(carried, ("equivalent", "inconclusive", "different-but-small"))
    suite = ElementTree.fromstring(render_exchange(analysis, "junit", "en")[1])
    failed = {one.get("name") for one in suite.iter("testcase") if one.find("failure") is not None}
    assert "read, 18 against 17" in failed
