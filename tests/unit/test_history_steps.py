"""The change since the campaign before: which one that is, its interval, and its words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from teiten.analysis.across.comparison import compare
from teiten.analysis.across.history import ALPHA, history, steps_of
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import Axis, CampaignStep, LineStep
from teiten.analysis.model.verdict import Interval
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.report.history.points import MOST, step_sentence
from teiten.report.texts import texts
from tests.fixtures.synthetic import START
from tests.fixtures.two_machines import DAY, OTHER, campaign, plan_of, times


def nights(*speeds: float, blocks: int = 5) -> list[CampaignAnalysis]:
    return [
        campaign(
            f"night-{at}",
            plan=plan_of(blocks=blocks),
            speed=times(speed),
            seed=at + 1,
            created_at=START + at * DAY,
        )
        for at, speed in enumerate(speeds)
    ]


def steps(*analyses: CampaignAnalysis) -> dict[str, CampaignStep]:
    laid = history(((one.name, one) for one in analyses), Axis.DATE)
    return dict(steps_of(laid.lines))


def said(step: CampaignStep, language: Language = "en") -> str:
    return step_sentence(texts(language), step)


def test_each_campaign_but_the_first_has_the_one_before_it() -> None:
    found = steps(*reversed(nights(1, 1, 1)), campaign("elsewhere", facts=OTHER))
    befores = {path: step.before.campaign for path, step in found.items()}
    assert befores == {"night-1": "night-0", "night-2": "night-1"}
    assert all(len(step.lines) == 4 for step in found.values())  # two workloads on two servers


def test_the_intervals_are_those_of_a_comparison_of_the_two() -> None:
    before, after = nights(1, 0.9)
    shared = {
        (line.line.workload, line.line.level): line.effect
        for line in steps(before, after)["night-1"].lines
    }
    results = [one for one in compare(before, after).results if one.metric.is_throughput]
    assert len(results) == 4
    for result in results:
        effect, expected = shared[result.workload, result.side.b], result.overall.effect
        assert effect is not None and expected is not None
        assert effect.low == pytest.approx(expected.low)
        assert effect.high == pytest.approx(expected.high)
        assert effect.confidence == pytest.approx(1 - ALPHA / 4) == expected.confidence


def test_where_lines_differ_in_what_came_before_it_is_the_newest() -> None:
    """Only the night between has the other level of clients on one line of its own."""
    first, between, last = nights(1, 1, 1)
    laid = history(((one.name, one) for one in (first, between, last)), Axis.DATE)
    shorter = replace(laid.lines[0], points=(laid.lines[0].points[0], laid.lines[0].points[2]))
    step = steps_of((shorter, *laid.lines[1:]))["night-2"]
    assert step.before.campaign == "night-1" and len(step.lines) == 3


def first_line(step: CampaignStep, **changes: Any) -> CampaignStep:
    """The step on one line alone."""
    return replace(step, lines=(replace(step.lines[0], **changes),))


def test_a_change_is_told_with_its_interval_and_what_it_does_not_cover() -> None:
    step = first_line(steps(*nights(1, 0.7))["night-1"])
    text = said(step)
    assert text.startswith("Since night-0 (2")
    assert text.count(": −") == text.count(" interval ") == 1
    assert "no change can be told" not in text and "from day to day" in text
    assert "日による違いは含まない" in said(step, "ja") and "のTPSは−" in said(step, "ja")


def test_lines_without_a_change_are_counted_beside_those_that_changed() -> None:
    step = steps(*nights(1, 1))["night-1"]
    assert "on none of 4 lines can a change be told" in said(step)
    assert "4系列のどれにも変化は確認できない" in said(step, "ja")
    slower = replace(step.lines[1], effect=Interval(0.9, 0.89, 0.91, Share(0.95)))
    some = replace(step, lines=(step.lines[0], slower, *step.lines[2:]))
    assert "server 18: −10.0" in said(some)
    assert "on 3 other lines no change can be told" in said(some)
    assert "ほかの3系列では変化を確認できない" in said(some, "ja")


def test_no_more_is_told_than_the_interval_says() -> None:
    (step,) = steps(*nights(1, 1)).values()
    text = said(first_line(step, effect=Interval(1.01, 0.99, 1.03, Share(0.95))))
    assert "no change can be told (+1.0" in text
    (single,) = steps(*nights(1, 0.5, blocks=1)).values()
    assert "can a change be told" in said(single) and "%" not in said(single)
    alone = first_line(single)
    assert "without an interval" in said(alone) and "区間なし" in said(alone, "ja")
    quick = replace(step, before=replace(step.before, conclusive=False))
    assert "too short for a conclusion" in said(quick)
    assert "結論は導けない" in said(quick, "ja")


def test_another_version_is_named() -> None:
    (step,) = steps(*nights(1, 1)).values()
    newer = first_line(step, after=replace(step.lines[0].after, version="18.9"))
    assert "PostgreSQL 17.4 → 18.9" in said(newer)
    assert "PostgreSQL" not in said(first_line(step))


def test_many_changes_are_counted() -> None:
    (step,) = steps(*nights(1, 1)).values()

    def line(low: float, high: float) -> LineStep:
        effect = Interval(math.sqrt(low * high), low, high, Share(0.95))
        return replace(step.lines[0], effect=effect)

    changed = (line(1.1, 1.2), line(0.8, 0.9), line(0.7, 0.8), line(0.6, 0.7))
    without = replace(step.lines[0], effect=None)
    counted = replace(step, lines=(*changed, line(0.9, 1.1), without))
    assert len(changed) == MOST + 1
    assert "of 6 lines TPS is higher on 1 and lower on 3" in said(counted)
    assert "on 2 no change can be told" in said(counted)
    assert "6系列のうち、TPSが高くなったのは1系列、低くなったのは3系列" in said(counted, "ja")
