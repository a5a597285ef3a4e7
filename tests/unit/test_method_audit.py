"""What an audit of the method found, simulated: the old rule was wrong so often, today's is not.

The figures of docs/concepts/trust.md are of the same functions with more campaigns (``python -m
benchmarks.trust audit``).
"""

from __future__ import annotations

import pytest
from benchmarks.method import correlated, multiplicity, published, repeats, rounds, stalls, starts

from teiten.analysis.claims.checks import check_of, estimated
from teiten.analysis.model.claims import CheckKind, ClaimQuestion, ClaimStanding
from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.verdict import Rule, decide
from teiten.claims.catalogue import claims_of
from teiten.execute.steps import disturbances, stolen
from teiten.kinds.contract_analyse import analysis_of, primary_statements
from teiten.model.metrics import Better
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Share
from teiten.study.load import load_study
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import make_plan

pytestmark = pytest.mark.same


def test_pairs_that_are_repeated_as_a_whole_do_not_turn_drift_into_a_difference() -> None:
    assert repeats.false_alarms(whole=False, campaigns=3_000, seed=1) > 0.12
    assert repeats.false_alarms(whole=True, campaigns=3_000, seed=1) < 0.065


def test_stolen_time_judged_by_what_was_wanted_favours_no_side() -> None:
    alone = repeats.bias(whole=False, of_wanted=False, campaigns=3_000, seed=1)
    whole = repeats.bias(whole=True, of_wanted=False, campaigns=3_000, seed=1)
    judged = repeats.bias(whole=True, of_wanted=True, campaigns=3_000, seed=1)
    assert alone > 0.004 > whole > 0.001 > abs(judged) * 4


def test_steal_is_a_share_of_the_cpu_time_that_was_wanted() -> None:
    light = {"cpu_user_share": 0.2, "cpu_system_share": 0.18, "cpu_steal_share": 0.02}
    heavy = {"cpu_user_share": 0.5, "cpu_system_share": 0.45, "cpu_steal_share": 0.05}
    assert stolen(light) == pytest.approx(0.05) == pytest.approx(stolen(heavy))
    idle = {"cpu_user_share": 0.001, "cpu_system_share": 0.0, "cpu_steal_share": 0.001}
    assert stolen(idle) == pytest.approx(0.01), "of hardly anything a tick is no share"
    client = {"client_cpu_user_share": 0.8, "client_cpu_steal_share": 0.2}
    assert [one.code for one in disturbances(light | client, Share(0.06))] == ["steal"]
    assert disturbances(light | {"cpu_idle_share": 0.6}, Share(0.06)) == ()


def test_pairs_of_one_start_are_one_in_every_interval() -> None:
    for false_alarms in (starts.of_two_campaigns, starts.of_paired_costs):
        assert false_alarms(as_starts=False, campaigns=800, seed=1) > 0.2
        assert false_alarms(as_starts=True, campaigns=800, seed=1) < 0.08


def test_what_lasts_as_long_as_the_files_is_seen_by_rounds_alone() -> None:
    by_starts = rounds.false_alarms(rounds=False, boots=0, campaigns=3_000, seed=1)
    by_rounds = rounds.false_alarms(rounds=True, boots=0, campaigns=3_000, seed=1)
    assert by_starts.fixed > 0.4 and by_starts.sequential > 0.3
    assert 0.035 < by_rounds.fixed < 0.065 > by_rounds.sequential
    one_boot = rounds.false_alarms(rounds=True, boots=1, campaigns=3_000, seed=1)
    every_boot = rounds.false_alarms(rounds=True, boots=8, campaigns=3_000, seed=1)
    assert one_boot.fixed > 0.08, "what a boot does is in no interval of one boot"
    assert every_boot.fixed < 0.065


def test_plain_means_do_not_hide_the_stalls_of_one_side() -> None:
    trimmed = stalls.stalled(trimmed=True, often=0.08, campaigns=800, seed=1)
    plain = stalls.stalled(trimmed=False, often=0.08, campaigns=800, seed=1)
    assert trimmed.equivalent > 0.6 and trimmed.slower < 0.05
    assert plain.equivalent < 0.15 and plain.slower > 0.2


@pytest.mark.parametrize("news", [1, 3])
def test_alpha_is_spent_over_the_primary_statements_of_a_report(news: int) -> None:
    before, primary_before = multiplicity.said(news=news, spent=False, campaigns=1_500, seed=1)
    anywhere, primary = multiplicity.said(news=news, spent=True, campaigns=1_500, seed=1)
    assert before > 0.35 and primary_before > 0.07
    assert primary < 0.07 and anywhere < 0.13


def test_statements_and_their_share_of_alpha() -> None:
    plan = make_plan(8, clients=("1", "2"))
    assert primary_statements(plan) == 2, "two workloads, one new server"
    found = contrasts(
        plan, [Attempt(trial.number, 1, Outcome.COUNTED, {}) for trial in plan.trials]
    )
    assert {one.overall.kind for one in found} == {VerdictKind.INCONCLUSIVE}, "judged ones alone"
    rule = Rule(Share(0.02), Share(0.05), Better.LOWER, worded=False)
    beside = decide([0.1, 0.101, 0.102], rule)
    assert (beside.kind, beside.at_least_delta) == (VerdictKind.UNJUDGED, False)
    assert beside.effect is not None and beside.effect.low > 1
    assert decide([], rule).kind is VerdictKind.UNJUDGED


def test_the_caution_about_drift_cannot_protect_and_starts_as_units_help() -> None:
    single = correlated.correlated(pairs_of_a_start=1, campaigns=1_000, seed=1)
    shared = correlated.correlated(pairs_of_a_start=8, campaigns=1_000, seed=1)
    assert single.false_alarms > 0.25 and single.cautioned_alarms < 0.15
    assert shared.false_alarms < 0.11


FITTED = {
    "checksums": ("2013-checksums-saturation",),
    "observe": ("2013-read-93-lower", "2021-read-14-one-client", "2021-read-14-slower"),
    "parallel": ("2020-parallel-gain",),
    "partition-olap": ("2020-partition-loss-5-to-40",),
    "partition-parallel": ("2020-both-loss-20-to-30",),
}
"""Findings with bounds on both sides of what was printed."""
KIND = CheckKind("ratio", lambda _check, _words: "")


@pytest.mark.parametrize("study", FITTED)
def test_what_was_printed_is_reproduced_where_it_is_the_truth(study: str) -> None:
    """In the study's profile ``published``, whose comparisons share α."""
    plan = expanded(load_study(study, profile="published", servers=("16", "18")))
    blocks = plan.study.measure.blocks
    known = {one.id: one for one in claims_of(study)}
    for name in FITTED[study]:
        claim = known[name]
        kind = analysis_of(plan.study.workload(claim.workload).kind)
        shared = kind.comparisons(plan, claim.workload)
        found = published.reproduced(claim, blocks, campaigns=150, seed=1, comparisons=shared)
        assert found is not None and found >= 0.8, name


def test_a_claim_needs_all_checks_at_alpha_and_one_at_less_to_be_contradicted() -> None:
    def standing(mean: float, among: int) -> ClaimStanding:
        values = dict(enumerate(mean + one for one in (-0.01, 0.0, 0.01, 0.0)))
        asked = ClaimQuestion(KIND, ("17", "18"), (1.0,), values, -0.05, 0.05)
        return check_of(asked, 0.05, estimated, among=among).standing

    for among in (1, 8):
        assert standing(0.03, among) is ClaimStanding.REPRODUCED, "half-width 0.013"
    assert standing(0.07, 1) is ClaimStanding.CONTRADICTED
    assert standing(0.07, 8) is ClaimStanding.INCONCLUSIVE
    assert standing(0.09, 8) is ClaimStanding.CONTRADICTED
