"""The decisions of a discussion: courses of intervals, and forms of curves."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from teiten.analysis.discussion import course_of, discuss, processors
from teiten.analysis.model.discussion import Course, Discussion, ProcessorUse, SignCount, StateLevel
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.scaling import Form
from teiten.analysis.model.verdict import Estimate, Interval
from teiten.analysis.scaling.curve import scale
from teiten.model.units import Share
from teiten.report.blocks import Details, Text, of_kind
from teiten.report.view.discussion import discussion
from teiten.report.view.kit import Kit
from tests.fixtures.invented_analysis import invented_analysis, quick


@pytest.mark.parametrize(
    ("signs", "course"),
    [
        ((0, 0, 0), Course.TOGETHER),
        ((1, 1, 1), Course.APART),
        ((0, -1, -1), Course.PARTED),
        ((0, 0, 1), Course.PARTED),
        ((0, 1, 0), Course.MET),
        ((1, 0, 1), Course.MET),
        ((1, 0, -1), Course.CROSSED),
    ],
)
def test_the_course_of_intervals(signs: tuple[int, ...], course: Course) -> None:
    assert course_of(signs) is course


def form_of(*means: float, spread: float = 0.005, blocks: int = 5) -> Form | None:
    chance = random.Random(1)
    table = {
        2.0**at: {block: mean * chance.gauss(1, spread) for block in range(blocks)}
        for at, mean in enumerate(means)
    }
    shape = scale(table, delta=Share(0.02), alpha=Share(0.05)).shape
    return shape.form if shape else None


def test_the_form_of_a_curve() -> None:
    assert form_of(100, 190, 350, 600) is Form.RISING
    assert form_of(100, 190, 200, 200) is Form.LEVEL
    assert form_of(100, 190, 200, 150) is Form.FALLING
    assert form_of(100) is None


def test_a_fall_that_chance_can_make_is_none() -> None:
    assert form_of(100, 190, 200, 190, spread=0.1) is not Form.FALLING
    assert form_of(100, 190, 200, 150, blocks=1) is Form.OPEN


@pytest.mark.slow
@pytest.mark.same
def test_falls_of_level_curves_are_rare() -> None:
    """The greatest of all means is compared: its having been chosen must not make a fall."""
    chance = random.Random(7)
    found = 0
    for _ in range(40):
        table = {
            2.0**at: {block: 100 * chance.gauss(1, 0.05) for block in range(4)} for at in range(6)
        }
        shape = scale(table, delta=Share(0.001), alpha=Share(0.05)).shape
        found += shape is not None and shape.form is Form.FALLING
    assert found <= 4  # 5 % of 40, and two deviations


def test_a_profile_without_conclusions_is_not_discussed() -> None:
    analysis = quick(invented_analysis(seconds=3))
    assert discuss(analysis.plan, analysis.contrasts, analysis.trials) == Discussion()
    (only,) = discussion(Kit(analysis, "en")).blocks
    assert isinstance(only, Text) and "too short for conclusions" in only.text


def test_a_withheld_verdict_is_not_discussed() -> None:
    analysis = invented_analysis(seconds=3)
    contrasts = tuple(
        replace(contrast, overall=replace(contrast.overall, effect=None, reason="left-behind"))
        for contrast in analysis.contrasts
    )
    found = discuss(analysis.plan, contrasts, analysis.trials)
    assert found.partings == () and found.tallies == ()
    said = discussion(Kit(replace(analysis, contrasts=contrasts, discussion=found), "en"))
    texts = " ".join(block.text for block in said.blocks if isinstance(block, Text))
    assert "p99" not in texts and "TPS than" not in texts


def test_a_mean_that_is_apart_where_no_level_is_by_itself_is_said() -> None:
    """Else the sentence about the levels would contradict the verdict."""
    analysis = invented_analysis(seconds=3)
    one = next(each for each in analysis.contrasts if len(each.levels) > 1 and each.metric.judged)
    unsure = Interval(0.97, 0.9, 1.05, Share(0.95))
    levels = tuple(
        replace(each, verdict=replace(each.verdict, effect=unsure)) for each in one.levels
    )
    apart = replace(one.overall, effect=Interval(0.95, 0.92, 0.98, Share(0.95)))
    found = discuss(analysis.plan, [replace(one, levels=levels, overall=apart)], ())
    (mean,) = found.means
    assert not mean.higher and found.partings[0].course is Course.TOGETHER
    assert not discuss(analysis.plan, [replace(one, overall=apart)], ()).means
    said = discussion(Kit(replace(analysis, discussion=found), "ja"))
    texts = " ".join(each.text for each in said.blocks if isinstance(each, Text))
    assert "全条件の平均では" in texts and "差は認められない" not in texts


@pytest.mark.parametrize(
    ("higher", "lower", "said"),
    [
        (0, 1, "lower at 1, not shown to differ at 2"),
        (1, 2, "higher at 1, lower at 2"),
        (3, 0, "higher at all 3"),
    ],
)
def test_a_count_of_levels_names_none_without_levels(higher: int, lower: int, said: str) -> None:
    """「高いのは0条件」"""
    analysis = invented_analysis(seconds=3)
    judged = next(each for each in analysis.contrasts if each.metric.judged)
    tally = SignCount(judged.workload, judged.old, judged.new, judged.metric, higher, lower, 3)
    found = Discussion(tallies=(tally,))
    text = str(discussion(Kit(replace(analysis, discussion=found), "en")))
    assert f"is {said}." in text


def texts_of(analysis: CampaignAnalysis, **measure: Any) -> str:
    """What is discussed where the study's measuring is changed so."""
    study = analysis.plan.study
    plan = replace(analysis.plan, study=replace(study, measure=replace(study.measure, **measure)))
    found = discuss(plan, analysis.contrasts, analysis.trials)
    said = discussion(Kit(replace(analysis, plan=plan, discussion=found), "en"))
    return " ".join(block.text for block in of_kind(said.blocks, Text))


def test_what_differs_by_less_than_delta_is_counted_and_not_listed() -> None:
    analysis = invented_analysis(seconds=3)
    assert "Per transaction" in texts_of(analysis)
    coarse = texts_of(analysis, delta=Share(0.9))
    assert "Per transaction" not in coarse and "Meanwhile" not in coarse
    assert (
        "do so by less than δ (90\u00a0%) or than the digits printed, and are not listed." in coarse
    )
    assert "their cause" not in coarse


def test_states_of_processors_are_told_where_sides_have_their_own_seconds() -> None:
    analysis = invented_analysis(seconds=3)
    plan = analysis.plan

    def told(**measure: Any) -> bool:
        changed = replace(plan.study, measure=replace(plan.study.measure, **measure))
        return any(processors(replace(plan, study=changed), analysis.trials))

    assert told() and told(slices=4) and told(restart_every=2)
    assert not told(way="pairs") and not told(way="in-step")


def test_sides_of_which_the_same_is_said_share_a_sentence() -> None:
    """And what was counted of many pairs opens at a click, with its caution once."""
    analysis = invented_analysis(seconds=3)
    one = next(each for each in analysis.contrasts if each.metric.judged)
    sides = ("a", "b", "c", "4")

    def tally(new: str) -> SignCount:
        return SignCount(one.workload, one.old, new, one.metric, 0, 2 * (new != "c"), 3)

    def use(new: str) -> ProcessorUse:
        apart = Estimate(0.2, 0.1, 0.3, 2) if new in "ab" else Estimate(0.0, -0.1, 0.1, 2)
        level = StateLevel("user", one.levels[0].context, 0.3, 0.3 + apart.mean, apart)
        return ProcessorUse(one.workload, one.old, new, (level,))

    many = replace(
        analysis,
        contrasts=tuple(replace(one, new=new) for new in sides),
        per_transaction=(),
        discussion=Discussion(tallies=tuple(map(tally, sides)), processors=tuple(map(use, sides))),
    )
    shown = discussion(Kit(many, "en")).blocks
    (folded,) = of_kind(shown, Details)
    inside = " ".join(each.text for each in folded.blocks if isinstance(each, Text))
    said = " ".join(each.text for each in of_kind(shown, Text) if each not in folded.blocks)
    assert "each of a, b, 4 against" in said
    assert said.count("at none of") + said.count("At none of") == 1
    assert "any of c, 4: all 2 intervals" in said and "their cause" not in said
    assert inside.count("Meanwhile") == 2 and inside.count("their cause") == 1
