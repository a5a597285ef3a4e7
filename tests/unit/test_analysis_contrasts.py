"""The contrasts of a campaign: levels at α/K, all levels together by blocks."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from teiten.analysis.model.findings import ContrastResult, VerdictKind
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.verdict import Rule, decide
from teiten.model.metrics import Better
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Share
from tests.fixtures.synthetic_plan import make_plan

PLAN = make_plan(48, clients=("1", "2", "4"))  # 4 blocks of 12

# d by block, for clients 1, 2 and 4
EFFECTS = {
    1: (0.031, 0.028, 0.035),
    2: (0.029, 0.040, 0.030),
    3: (0.036, 0.033, 0.026),
    4: (0.030, 0.027, 0.034),
}


def tps_of(trial: PlannedTrial) -> float:
    level = ("1", "2", "4").index(trial.cell.level("clients") or "")
    effect = EFFECTS[trial.block][level] if trial.cell.level("server") == "18" else 0.0
    return 1000.0 * (level + 1) * math.exp(effect)


def attempts(
    plan: Plan = PLAN,
    *,
    without: Callable[[PlannedTrial], bool] = lambda _: False,
    value: Callable[[PlannedTrial], float] = tps_of,
) -> list[Attempt]:
    return [
        Attempt(
            trial.number,
            1,
            Outcome.FAILED if without(trial) else Outcome.COUNTED,
            {"tps": value(trial)},
        )
        for trial in plan.trials
    ]


def read(found: tuple[ContrastResult, ...]) -> ContrastResult:
    return next(one for one in found if one.workload == "read")


def test_levels_stand_in_the_studys_order_at_a_third_of_their_statements_alpha() -> None:
    contrast = read(contrasts(PLAN, attempts()))
    assert (contrast.old, contrast.new, contrast.metric.name) == ("17", "18", "tps")
    assert [dict(level.context)["clients"] for level in contrast.levels] == ["1", "2", "4"]
    for index, level in enumerate(contrast.levels):
        ratios = [EFFECTS[block][index] for block in sorted(EFFECTS)]
        expected = decide(ratios, Rule(Share(0.02), Share(0.025 / 3), Better.HIGHER))
        assert level.verdict.kind is expected.kind
        assert level.verdict.effect is not None
        assert expected.effect is not None
        assert level.verdict.effect.low == pytest.approx(expected.effect.low)
        assert level.verdict.effect.confidence == pytest.approx(1 - 0.025 / 3)
        assert level.old_values == (1000.0 * (index + 1),) * 4
        assert level.old_median == 1000.0 * (index + 1)


def test_all_levels_together_are_one_test_over_blocks() -> None:
    contrast = read(contrasts(PLAN, attempts()))
    means = [sum(EFFECTS[block]) / 3 for block in sorted(EFFECTS)]
    expected = decide(means, Rule(Share(0.02), Share(0.025), Better.HIGHER))
    assert contrast.overall.effect is not None
    assert expected.effect is not None
    assert contrast.overall.effect.ratio == pytest.approx(expected.effect.ratio)
    assert contrast.overall.effect.high == pytest.approx(expected.effect.high)
    assert contrast.overall.effect.confidence == pytest.approx(0.975), "of two statements"
    assert contrast.overall.kind is VerdictKind.FASTER
    assert contrast.overall.at_least_delta
    assert contrast.overall.pairs == 4


def test_a_block_in_which_a_level_lacks_a_side_is_left_out_of_the_whole() -> None:
    def lost(trial: PlannedTrial) -> bool:
        return trial.block == 2 and trial.cell.levels == (("server", "18"), ("clients", "4"))

    contrast = read(contrasts(PLAN, attempts(without=lost)))
    assert contrast.overall.pairs == 3
    assert [level.verdict.pairs for level in contrast.levels] == [4, 4, 3]
    assert len(contrast.levels[2].old_values) == 3, "its partner does not count either"


def test_a_level_that_never_counted_leaves_no_whole() -> None:
    def lost(trial: PlannedTrial) -> bool:
        return trial.cell.level("clients") == "4"

    contrast = read(contrasts(PLAN, attempts(without=lost)))
    assert contrast.overall.reason == "incomplete-blocks"
    assert contrast.overall.pairs == 0
    assert contrast.levels[2].old_median is None
    assert contrast.levels[2].verdict.reason == "too-few-pairs"
    assert contrast.levels[0].verdict.kind is VerdictKind.FASTER


def test_a_trial_of_no_transaction_is_not_left_out_in_silence() -> None:
    def value(trial: PlannedTrial) -> float:
        stands = trial.block == 1 and trial.cell.levels == (("server", "18"), ("clients", "1"))
        return 0.0 if stands else tps_of(trial)

    contrast = read(contrasts(PLAN, attempts(value=value)))
    assert contrast.levels[0].verdict.reason == "not-positive"
    assert contrast.overall.reason == "not-positive"
    assert contrast.levels[1].verdict.kind is VerdictKind.FASTER


def test_a_campaign_without_a_counted_trial_says_so() -> None:
    found = contrasts(PLAN, [])
    assert [(one.workload, one.metric.name) for one in found] == [
        ("read", "tps"),
        ("update", "tps"),
    ]
    assert all(one.overall.reason == "too-few-pairs" for one in found)


def test_each_newer_server_is_compared_with_the_oldest() -> None:
    plan = make_plan(36, servers=("16", "17", "18"), clients=("1", "2"))
    found = contrasts(plan, attempts(plan, value=lambda trial: 100.0 + trial.number))
    assert [(one.workload, one.old, one.new) for one in found] == [
        ("read", "16", "17"),
        ("read", "16", "18"),
        ("update", "16", "17"),
        ("update", "16", "18"),
    ]


def test_one_server_alone_has_no_contrast() -> None:
    plan = make_plan(6, servers=("18",), clients=("1",))
    assert contrasts(plan, attempts(plan, value=lambda _: 100.0)) == ()


def test_latencies_are_contrasted_where_they_were_measured() -> None:
    measured = [
        Attempt(
            one.number,
            1,
            one.outcome,
            {"tps": one.metrics["tps"], "latency_p99": 1 / one.metrics["tps"]},
        )
        for one in attempts()
    ]
    tps, latency = (one for one in contrasts(PLAN, measured) if one.workload == "read")
    assert (tps.metric.name, latency.metric.name) == ("tps", "latency_p99")
    assert latency.overall.kind is VerdictKind.UNJUDGED, "an interval, and no word"
    assert tps.overall.effect is not None
    assert latency.overall.effect is not None
    assert latency.overall.effect.low == pytest.approx(1 / tps.overall.effect.high)


def test_pairs_without_a_complete_block_are_not_said_to_be_missing() -> None:
    """Each level has two pairs, but no block has both levels: it is blocks that are too few."""
    plan = make_plan(32, servers=("17", "18"), clients=("1", "4"))
    wanted = {"1": (1, 2), "4": (3, 4)}
    found = [
        Attempt(trial.number, 1, Outcome.COUNTED, {"tps": 100.0 + trial.number})
        for trial in plan.trials
        if trial.block in wanted[trial.cell.level("clients") or ""]
    ]
    result = read(contrasts(plan, found))
    assert [level.verdict.pairs for level in result.levels] == [2, 2]
    assert result.overall.reason == "incomplete-blocks"
    single = [one for one in found if plan.trials[one.number - 1].block in (1, 3)]
    assert read(contrasts(plan, single)).overall.reason == "too-few-pairs"
