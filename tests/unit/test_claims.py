"""Outcomes of claims on invented campaigns whose truth is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from teiten.analysis.claims.checks import check_of, estimated, exact, standing_between
from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import (
    Claim,
    ClaimContrast,
    ClaimNeeds,
    ClaimOutcome,
    ClaimQuestion,
    ClaimStanding,
    Reason,
)
from teiten.analysis.model.predicate import Predicate
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.verdict import LEFT_BEHIND
from teiten.claims import catalogue
from teiten.claims.catalogue import claims_of
from teiten.claims.curves import LINE
from teiten.claims.predicates.effect import CONTRAST, Bounds, Effect
from teiten.claims.predicates.shapes import Rising, Straight
from teiten.cli.campaign import carry_out as campaign
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.errors import StudyError
from teiten.host.system.paths import Workdir
from teiten.kinds.pgbench.plan import PLAN as PGBENCH
from teiten.model.facts import HostFacts
from teiten.model.plan import Cell, Plan, PlannedTrial
from teiten.model.study import Factor, Sequential
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Share
from tests.fixtures.invented_claims import a_claim
from tests.fixtures.synthetic import write_synthetic_ledger
from tests.fixtures.synthetic_plan import HOST, make_plan

CORES = 4
FACTS: HostFacts = replace(HOST, cpu=replace(HOST.cpu, logical=CORES))
CLIENTS = ("1", "2", "4", "8", "16", "32")
PLAN = make_plan(6 * 24, servers=("13", "14"), clients=CLIENTS)
REPRODUCED, CONTRADICTED = ClaimStanding.REPRODUCED, ClaimStanding.CONTRADICTED
INCONCLUSIVE, NOT_APPLICABLE = ClaimStanding.INCONCLUSIVE, ClaimStanding.NOT_APPLICABLE
BETWEEN_13_AND_14 = ClaimContrast("server", "13", "14")
Curve = Callable[[str, float], float]
"""Server and clients to the true value."""


def saturating(_server: str, clients: float) -> float:
    return 400.0 * min(clients, CORES)


def attempts(
    truth: Curve, plan: Plan = PLAN, *, noise: float = 0.004, metric: str = "tps"
) -> list[Attempt]:
    random = np.random.default_rng(5)
    found = []
    for trial in plan.trials:
        levels = dict(trial.cell.levels)
        x = float(levels.get("cores", levels["clients"]))
        value = truth(levels["server"], x) * math.exp(random.normal(0, noise))
        found.append(Attempt(trial.number, 1, Outcome.COUNTED, {metric: value}))
    return found


def between(predicate: Predicate, **changes: object) -> Claim:
    """A claim about 13 and 14."""
    needs = ClaimNeeds(("13", "14"))
    return a_claim(predicate=predicate, contrast=BETWEEN_13_AND_14, needs=needs, **changes)


def shape(predicate: Predicate, **changes: object) -> Claim:
    return a_claim(predicate=predicate, contrast=None, needs=ClaimNeeds(), **changes)


def outcome(claim: Claim, found: list[Attempt], plan: Plan = PLAN) -> ClaimOutcome:
    (one,) = assess([claim], plan, FACTS, found)
    return one


def with_effect(ratio: float) -> Curve:
    return lambda server, clients: saturating(server, clients) * (ratio if server == "14" else 1)


ABOUT_TWO = Effect((Bounds(0.96, 0.99),))


def test_a_finding_about_some_levels_reads_no_others() -> None:
    def read(*parts: Bounds) -> list[str]:
        judged = outcome(between(Effect(parts)), attempts(saturating))
        assert all(workload == "read" for workload, _ in judged.levels)
        return sorted((dict(context)["clients"] for _, context in judged.levels), key=int)

    assert read(Bounds(0.9, 1.1, least=1.0)) == ["4", "8", "16", "32"]
    assert read(Bounds(0.9, 1.1, most=0.25)) == ["1"]
    assert read(Bounds(0.9, 1.1)) == list(CLIENTS)
    nothing = attempts(lambda server, clients: math.nan if clients == 4 else 100.0)
    (judged,) = assess([between(ABOUT_TWO)], PLAN, FACTS, nothing)
    assert "4" not in {dict(context)["clients"] for _, context in judged.levels}


@pytest.mark.parametrize(
    ("ratio", "standing"),
    [
        (0.975, REPRODUCED),
        (1.0, CONTRADICTED),
        (1.03, CONTRADICTED),
        (0.93, CONTRADICTED),
        (0.99, INCONCLUSIVE),
    ],
)
def test_an_effect_has_to_lie_within_its_bounds(ratio: float, standing: ClaimStanding) -> None:
    found = outcome(between(ABOUT_TWO), attempts(with_effect(ratio)))
    assert found.standing is standing
    assert found.deciding is not None
    assert found.deciding.ratio == pytest.approx(ratio, rel=0.003)
    assert found.deciding.pairs == 6


@pytest.mark.parametrize(
    ("ratio", "standing", "code"),
    [
        (1.05, REPRODUCED, ""),
        (1.01, REPRODUCED, ""),
        (1.0, CONTRADICTED, "below-delta"),
        (0.99, CONTRADICTED, ""),
        (0.9, CONTRADICTED, ""),
    ],
)
@pytest.mark.parametrize("of_new", [True, False])
def test_a_difference_smaller_than_delta_contradicts_a_finding_of_a_direction(
    ratio: float, standing: ClaimStanding, code: str, of_new: bool
) -> None:
    bounds, truth = (Bounds(1.0), ratio) if of_new else (Bounds(high=1.0), 1 / ratio)
    found = outcome(between(Effect((bounds,))), attempts(with_effect(truth)))
    assert found.standing is standing
    assert (found.reason.code if found.reason else "") == code
    (check,) = found.checks
    assert check.contradicting == ((1.02, None) if of_new else (None, 1 / 1.02))
    assert check.margin == PLAN.study.measure.delta == 0.02


def test_a_finding_of_a_small_difference_is_not_contradicted_by_a_smaller_one() -> None:
    little = between(Effect((Bounds(1.0, 1.1),)))
    assert outcome(little, attempts(with_effect(1.0))).standing is INCONCLUSIVE
    assert outcome(little, attempts(with_effect(1.05))).standing is REPRODUCED
    few_times = between(Effect((Bounds(1.0, 5.0),)))
    assert outcome(few_times, attempts(with_effect(1.0))).standing is CONTRADICTED


def test_of_several_checks_the_one_outside_of_its_bounds_decides() -> None:
    def truth(server: str, clients: float) -> float:
        ratio = {1.0: 0.97, 8.0: 1.0}.get(clients, 1.2)
        return saturating(server, clients) * (ratio if server == "14" else 1)

    found = outcome(between(Effect((Bounds(1.0, each=True),))), attempts(truth))
    assert found.standing is CONTRADICTED and found.reason is None
    assert found.deciding is not None and found.deciding.at == (1.0,)
    below = [check.at for check in found.checks if check.is_below_margin]
    assert below == [(8.0,)]


def test_what_contradicts_by_the_strict_interval_alone_says_whether_delta_did() -> None:
    logs = (-0.006, -0.010, -0.001, -0.009, -0.0015, -0.008)
    question = ClaimQuestion(CONTRAST, ("13", "14"), (1.0,), dict(enumerate(logs)), 0.0, math.inf)
    check = check_of(question, 0.05, estimated, among=4, delta=Share(0.02))
    assert check.high is not None and check.high < 1
    assert check.standing is CONTRADICTED and check.is_below_margin


def test_a_direction_is_open_where_the_difference_may_be_delta_or_none() -> None:
    found = outcome(between(Effect((Bounds(1.0),))), attempts(with_effect(1.01), noise=0.05))
    assert found.standing is INCONCLUSIVE
    check = found.checks[0]
    assert check.low is not None and check.high is not None and check.low < 1 < 1.02 < check.high


@pytest.mark.parametrize(
    ("exactly", "low", "high", "margin", "standing"),
    [
        (0.0, 0.0, math.inf, 0.02, CONTRADICTED),
        (0.0, -math.inf, 0.0, 0.02, CONTRADICTED),
        (0.0, 0.0, math.inf, 0.0, REPRODUCED),
        (0.001, 0.0, math.inf, 0.02, REPRODUCED),
        (0.0, -0.1, 0.1, 0.02, REPRODUCED),
    ],
)
def test_two_counts_that_are_equal_show_neither_side_ahead(
    exactly: float, low: float, high: float, margin: float, standing: ClaimStanding
) -> None:
    known = (exactly, exactly, exactly)
    assert standing_between(known, known, low, high, Share(margin)) is standing


@pytest.mark.parametrize(
    ("per_doubling", "standing"),
    [(0.98, REPRODUCED), (1.0, INCONCLUSIVE), (1.02, CONTRADICTED)],
)
def test_an_effect_that_grows_with_the_clients(
    per_doubling: float, standing: ClaimStanding
) -> None:
    def truth(server: str, clients: float) -> float:
        part = 0.9 * per_doubling ** math.log2(clients) if server == "14" else 1
        return saturating(server, clients) * part

    found = outcome(between(Effect((Bounds(high=1.0, per_doubling=True),))), attempts(truth))
    assert found.standing is standing
    (check,) = found.checks
    assert check.ratio == pytest.approx(per_doubling, rel=0.003)
    assert (check.at, check.pairs) == (tuple(map(float, CLIENTS)), 6)


def test_a_slope_needs_three_levels() -> None:
    plan = make_plan(2 * 24, servers=("13", "14"), clients=("1", "2"))
    found = outcome(
        between(Effect((Bounds(high=1.0, per_doubling=True),))), attempts(saturating, plan), plan
    )
    assert found.reason is not None and found.reason.code == "levels-for-slope"


@pytest.mark.parametrize(
    ("most", "standing"), [(1.0, REPRODUCED), (4.0, CONTRADICTED), (0.5, NOT_APPLICABLE)]
)
def test_a_line_over_a_span(most: float, standing: ClaimStanding) -> None:
    claim = shape(Straight(least=0.0, most=most, within=0.1))
    assert outcome(claim, attempts(saturating)).standing is standing


def test_the_catalogue_on_a_campaign_of_13_and_14() -> None:
    found = {
        one.claim.id: one
        for one in assess(claims_of("observe"), PLAN, FACTS, attempts(with_effect(0.977)))
    }
    assert found["2021-read-14-slower"].standing is REPRODUCED
    assert found["2021-read-plateau-at-cores"].standing is REPRODUCED
    assert found["2020-update-rising-to-192"].standing is not REPRODUCED
    assert found["2020-read-tps-same"].standing is NOT_APPLICABLE
    assert found["2013-read-93-lower"].standing is NOT_APPLICABLE
    one_client = found["2021-read-14-one-client"]
    assert one_client.standing is INCONCLUSIVE, "2.3 % less; its interval is a single level's"
    assert one_client.deciding is not None and one_client.in_print is not None
    assert one_client.deciding.ratio == pytest.approx(0.977, abs=0.005)
    assert one_client.in_print.ratio == pytest.approx(412.937 / 437.241)
    equal = assess(claims_of("observe"), PLAN, FACTS, attempts(with_effect(1.0)))
    (one_client,) = (one for one in equal if one.claim.id == "2021-read-14-one-client")
    assert one_client.standing is CONTRADICTED


def test_noise_makes_an_effect_inconclusive_not_reproduced() -> None:
    found = outcome(between(ABOUT_TWO), attempts(with_effect(0.975), noise=0.3))
    assert found.standing is INCONCLUSIVE
    assert found.reason is not None and found.reason.code == "undecided"


def test_an_effect_has_parts_or_is_equivalence() -> None:
    for parts, equivalent in (((), False), ((Bounds(0.9),), True)):
        with pytest.raises(ValidationError, match="either parts"):
            Effect(parts, equivalent)


def test_no_difference_is_one_of_the_mean_over_the_levels() -> None:
    assert (
        outcome(between(Effect(equivalent=True)), attempts(with_effect(1.0))).standing is REPRODUCED
    )

    found = outcome(between(Effect(equivalent=True)), attempts(with_effect(0.95)))
    assert found.standing is CONTRADICTED
    assert len(found.checks) == 1

    def one_level(server: str, clients: float) -> float:
        return saturating(server, clients) * (0.97 if (server, clients) == ("14", 8) else 1)

    assert outcome(between(Effect(equivalent=True)), attempts(one_level)).standing is REPRODUCED


def test_a_plateau_is_neither_a_slope_nor_a_collapse() -> None:
    flat, falls = shape(Rising(1.0, ends=True, within=0.1)), shape(Rising(1.0, ends=True))

    def collapsing(server: str, clients: float) -> float:
        return saturating(server, clients) * (0.7 if clients > CORES else 1)

    def rising(_server: str, clients: float) -> float:
        return 400 * clients

    assert outcome(flat, attempts(saturating)).standing is REPRODUCED
    assert outcome(flat, attempts(collapsing)).standing is CONTRADICTED
    assert outcome(flat, attempts(rising)).standing is CONTRADICTED
    assert outcome(falls, attempts(collapsing)).standing is REPRODUCED
    assert outcome(falls, attempts(rising)).standing is CONTRADICTED


def test_latency_on_a_line_and_off_it() -> None:
    claim = shape(Straight(within=0.1), metric="latency_mean")

    def line(_server: str, clients: float) -> float:
        return 0.001 + 0.0004 * clients

    def square(_server: str, clients: float) -> float:
        return 0.0001 * clients**2

    assert outcome(claim, attempts(line, metric="latency_mean")).standing is REPRODUCED
    found = outcome(claim, attempts(square, metric="latency_mean"))
    assert found.standing is CONTRADICTED
    assert found.deciding is not None and found.deciding.kind is LINE


def test_rising_steadily_and_more_slowly_beyond() -> None:
    def bent(_server: str, clients: float) -> float:
        return 100 * min(clients, 16) + 20 * max(0.0, clients - 16)

    bending = shape(Rising(4.0, slower_beyond=True))
    assert outcome(bending, attempts(bent)).standing is REPRODUCED
    assert (
        outcome(bending, attempts(lambda _server, clients: 100 * clients)).standing
        is not REPRODUCED
    )
    assert outcome(shape(Rising(4.0)), attempts(saturating)).standing is not REPRODUCED


def test_flat_up_to_a_level_and_rising_beyond() -> None:
    claim = shape(Straight(least=0.5, most=4.0, line="flat", within=0.2, rises_beyond=True))

    def hockey(_server: str, clients: float) -> float:
        return 2.0 if clients <= 16 else 4.0

    assert outcome(claim, attempts(hockey)).standing is REPRODUCED
    constant = attempts(lambda _server, _clients: 2.0)
    assert outcome(claim, constant).standing is not REPRODUCED


def test_proportional_to_cores() -> None:
    plan = make_plan(60, servers=("18",), clients=("8",))
    levels = ("1", "2", "4")
    study = replace(plan.study, factors=(*plan.study.factors, Factor("cores", levels)))
    trials = tuple(
        replace(
            trial,
            cell=Cell(
                trial.cell.workload,
                (*trial.cell.levels, ("cores", levels[trial.block % 3])),
            ),
            block=(trial.block - 1) // 3,
        )
        for trial in plan.trials
    )
    plan = replace(plan, study=study, trials=trials)
    claim = shape(Straight(line="proportional", within=0.35))
    claim = replace(claim, needs=ClaimNeeds(factor="cores"))
    good = attempts(lambda _server, cores: 400 * cores**0.9, plan)
    bad = attempts(lambda _server, cores: 400 * cores**0.3, plan)
    assert outcome(claim, good, plan).standing is REPRODUCED
    assert outcome(claim, bad, plan).standing is CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        (a_claim(), "servers"),
        (between(ABOUT_TWO, workload="tpcb-like"), "workload"),
        (between(ABOUT_TWO, study="ssb"), "study"),
        (
            replace(
                shape(Straight(line="proportional", within=0.3)), needs=ClaimNeeds(factor="cores")
            ),
            "factor",
        ),
        (replace(shape(Rising(1.0, ends=True, within=0.1)), needs=ClaimNeeds(cores=32)), "cores"),
        (replace(shape(Rising(1.0, ends=True, within=0.1)), needs=ClaimNeeds(before=14)), "before"),
        (between(Effect((Bounds(0.9, 1.0, clients=3),))), "levels-clients"),
        (between(Effect((Bounds(0.9, 1.0, least=50.0),))), "levels-beyond"),
        (between(Effect((Bounds(0.9, 1.0, most=0.1),))), "levels-up-to"),
        (shape(Rising(20.0)), "levels-up-to"),
        (shape(Rising(8.0, slower_beyond=True)), "levels-beyond"),
        (shape(Straight(least=0.5, most=20.0, line="flat", within=0.1)), "levels-up-to"),
        (
            shape(Straight(least=0.5, most=8.0, line="flat", within=0.1, rises_beyond=True)),
            "levels-beyond",
        ),
    ],
)
def test_a_claim_whose_needs_are_not_met_says_which(claim: Claim, code: str) -> None:
    found = outcome(claim, attempts(saturating))
    assert found.standing is NOT_APPLICABLE
    assert found.reason is not None
    assert found.reason.code == code
    assert found.checks == ()


def test_a_finding_that_a_newer_version_ends_says_so() -> None:
    """In its remark, which stands beside it whatever a campaign has."""
    studies = ("index-only", "checksums", "compiler-flags")
    ended = [one for study in studies for one in claims_of(study) if one.needs.before]
    assert {one.needs.before for one in ended} == {19} and len(ended) == 9
    for claim in ended:
        assert claim.remark is not None
        assert "19" in claim.remark.en and "19以降" in claim.remark.ja, claim.id


def test_a_changed_script_is_not_what_was_published() -> None:
    (claim,) = (one for one in claims_of("observe") if one.id == "2021-read-14-slower")
    assert outcome(claim, attempts(with_effect(0.977))).standing is REPRODUCED
    (script,) = claim.work
    said = replace(script, text=f"-- a comment\n{script.text}\n")
    commented = replace(claim, work=(said,))
    assert outcome(commented, attempts(with_effect(0.977))).standing is REPRODUCED
    changed = replace(claim, work=(replace(script, text=script.text.replace("9999", "99")),))
    found = outcome(changed, attempts(with_effect(0.977)))
    assert found.standing is NOT_APPLICABLE
    assert found.reason is not None and found.reason.code == "script"


def test_levels_around_the_cores_are_needed() -> None:
    plan = make_plan(24, servers=("13", "14"), clients=("16", "32"))
    for predicate, code in (
        (Rising(1.0, ends=True, within=0.1), "around-cores"),
        (Straight(within=0.1), "from-cores"),
    ):
        found = outcome(shape(predicate), attempts(saturating, plan), plan)
        assert found.reason is not None and found.reason.code == f"levels-{code}"


def test_a_second_factor_that_the_finding_does_not_know() -> None:
    more = (*PLAN.study.factors, Factor("guc:work_mem", ("4MB", "64MB")))
    trials = tuple(
        replace(
            trial, cell=replace(trial.cell, levels=(*trial.cell.levels, ("guc:work_mem", level)))
        )
        for trial, level in zip(PLAN.trials, itertools.cycle(("4MB", "64MB")), strict=False)
    )
    plan = replace(PLAN, study=replace(PLAN.study, factors=more), trials=trials)
    found = outcome(between(ABOUT_TWO), attempts(with_effect(0.975)), plan)
    assert found.reason is not None and found.reason.code == "factors"


def test_a_quick_profile_reproduces_and_contradicts_nothing() -> None:
    plan = replace(PLAN, study=replace(PLAN.study, conclusive=False))
    for ratio in (0.975, 1.1):
        found = outcome(between(ABOUT_TWO), attempts(with_effect(ratio)), plan)
        assert found.standing is INCONCLUSIVE
        assert found.reason is not None and found.reason.code == "profile"


@pytest.mark.parametrize("count", [0, 24])
def test_without_replicates_there_is_no_outcome(count: int) -> None:
    found = outcome(between(ABOUT_TWO), attempts(with_effect(0.975))[:count])
    assert found.standing is INCONCLUSIVE
    assert found.reason is not None and found.reason.code == "too-few"
    assert found.deciding is not None and found.deciding.ratio is None


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0.0, "not-positive"),
        (-1.0, "not-positive"),
        (math.inf, "not-positive"),
        (math.nan, "too-few"),
        (100.0, "identical"),
    ],
)
def test_why_there_is_no_outcome(value: float, code: str) -> None:
    """A value without a logarithm is no missing block, a NaN is, and equal blocks are neither."""
    odd = [replace(one, metrics={"tps": value}) for one in attempts(with_effect(0.975))]
    found = outcome(between(ABOUT_TWO), odd)
    assert found.standing is INCONCLUSIVE
    assert found.reason is not None and found.reason.code == code
    assert found.deciding is not None and found.deciding.lack == code


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_values_that_are_no_rates_are_never_a_result(value: float) -> None:
    odd = [replace(one, metrics={"tps": value}) for one in attempts(saturating)]
    for claim in (
        between(ABOUT_TWO),
        shape(Rising(1.0, ends=True, within=0.1)),
        shape(Straight(within=0.1)),
    ):
        assert outcome(claim, odd).standing is INCONCLUSIVE


def test_a_sequential_campaign_has_the_wider_interval_of_its_design() -> None:
    measure = replace(PLAN.study.measure, sequential=Sequential(None))
    plan = replace(PLAN, study=replace(PLAN.study, measure=measure))
    found = attempts(with_effect(0.975))
    fixed, sequential = outcome(between(ABOUT_TWO), found), outcome(between(ABOUT_TWO), found, plan)
    assert fixed.deciding is not None and sequential.deciding is not None
    assert fixed.deciding.low is not None and sequential.deciding.low is not None
    assert sequential.deciding.low < fixed.deciding.low
    assert sequential.deciding.ratio == fixed.deciding.ratio


def test_blocks_that_share_a_start_are_one_in_a_claim_too() -> None:
    """A start lies where it lies for all its pairs: its deviation is in every one of them. The
    claim has the verdict's interval."""
    plan = make_plan(4 * 12, servers=("13", "14"), clients=("4",))
    trials = tuple(replace(trial, restart=(trial.block + 3) // 4) for trial in plan.trials)
    plan = replace(plan, trials=trials)
    of_start = {1: 0.05, 2: -0.05, 3: 0.0}
    found = [
        replace(one, metrics={"tps": one.metrics["tps"] * math.exp(of_start[trial.restart])})
        if trial.cell.level("server") == "14"
        else one
        for one, trial in zip(attempts(with_effect(1.0), plan, noise=0.001), trials, strict=True)
    ]
    claim = between(Effect((Bounds(0.96, 1.04),)))
    check = outcome(claim, found, plan).deciding
    verdicts = {one.workload: one.overall for one in contrasts(plan, found, judged_only=True)}
    effect = verdicts[claim.workload].effect
    assert check is not None and effect is not None
    assert check.pairs == 3
    assert (check.low, check.high) == pytest.approx((effect.low, effect.high))
    assert outcome(claim, found, plan).standing is INCONCLUSIVE


@pytest.mark.parametrize(("blocks", "decides"), [(5, False), (6, True)])
def test_a_claim_is_decided_no_sooner_than_the_verdict_on_its_comparison(
    blocks: int, decides: bool
) -> None:
    plan = make_plan(4 * blocks, servers=("13", "14"), clients=("4",))
    measure = replace(plan.study.measure, sequential=Sequential(None))
    plan = replace(plan, study=replace(plan.study, measure=measure))
    found = attempts(with_effect(0.5), plan, noise=0.0001)
    claim = between(Effect((Bounds(0.1, 0.9),)))
    verdicts = {one.workload: one.overall for one in contrasts(plan, found, judged_only=True)}
    assert (verdicts[claim.workload].effect is not None) == decides
    assert (outcome(claim, found, plan).standing is REPRODUCED) == decides


def in_pairs(*servers: str) -> Plan:
    """Six starts of paired transactions at one level."""
    plan = make_plan(12 * len(servers), servers=servers, clients=("4",))
    measure = replace(plan.study.measure, way="pairs", sequential=Sequential(None))
    return replace(plan, study=replace(plan.study, measure=measure))


def leaving(plan: Plan, truth: Curve, left: dict[str, float]) -> list[Attempt]:
    """Starts in which each of these servers leaves so much behind for the first one."""
    random = np.random.default_rng(7)

    def numbers(trial: PlannedTrial) -> dict[str, float]:
        of_server = left.get(trial.cell.level("server") or "")
        if of_server is None:
            return {}
        return {name: math.exp(of_server + random.normal(0, 0.001)) for name in PGBENCH.carry_over}

    pairs = zip(plan.trials, attempts(truth, plan, noise=0.001), strict=True)
    return [
        replace(attempt, metrics={**attempt.metrics, **numbers(trial)}) for trial, attempt in pairs
    ]


@pytest.mark.parametrize(
    ("ratio", "left", "standing"),
    [
        (1.05, 0.0, REPRODUCED),
        (1.05, 0.1, INCONCLUSIVE),  # the verdict is withheld
        (1.05, 0.02, INCONCLUSIVE),  # it stands, but the ratio may be below 1.04
        (1.20, 0.02, REPRODUCED),
        (0.95, 0.1, INCONCLUSIVE),
        (0.80, 0.02, CONTRADICTED),
    ],
)
def test_what_sides_leave_behind_withholds_a_finding_as_it_does_the_verdict_on_them(
    ratio: float, left: float, standing: ClaimStanding
) -> None:
    plan, claim = in_pairs("13", "14"), between(Effect((Bounds(1.04, 2.0),)))
    tried = leaving(plan, with_effect(ratio), {"14": left})
    judged = outcome(claim, tried, plan)
    assert judged.standing is standing
    verdicts = {
        contrast.workload: contrast.overall for contrast in contrasts(plan, tried, judged_only=True)
    }
    (check,) = judged.checks
    if verdicts[claim.workload].effect is None:
        assert check.effect is None, "no interval before its verdict has"
    if standing is INCONCLUSIVE:
        assert judged.reason == Reason(LEFT_BEHIND) and check.lack == LEFT_BEHIND


def test_what_two_sides_leave_behind_for_a_third_adds_up_between_them() -> None:
    plan, claim = in_pairs("12", "13", "14"), between(Effect((Bounds(1.04, 2.0),)))
    for left, standing in (({}, REPRODUCED), ({"13": 0.03}, REPRODUCED),
                           ({"13": 0.03, "14": 0.03}, INCONCLUSIVE)):  # fmt: skip
        tried = leaving(plan, with_effect(1.1), left)
        assert outcome(claim, tried, plan).standing is standing


def test_one_zero_is_not_left_out_in_silence() -> None:
    found = attempts(with_effect(0.975))
    found[0] = replace(found[0], metrics={"tps": 0.0})
    workload = PLAN.trials[0].cell.workload
    one = outcome(between(ABOUT_TWO, workload=workload), found)
    assert one.standing is INCONCLUSIVE


def test_estimates() -> None:
    assert estimated([0.1], 0.05) is None
    assert estimated([0.1, 0.1], 0.05) is None
    mean, low, high = estimated([0.0, 0.1, 0.2], 0.05) or (0, 0, 0)
    assert mean == pytest.approx(0.1)
    assert high - mean == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    assert mean - low == pytest.approx(high - mean)
    assert exact([0.3], 0.05) == (0.3, 0.3, 0.3)
    assert exact([], 0.05) is None


def test_a_contrast_of_builds_is_one_of_servers_by_their_names() -> None:
    wanted = Effect((Bounds(1.01, 1.05),))
    by_name = a_claim(
        predicate=wanted, contrast=ClaimContrast("build", "13", "14"), needs=ClaimNeeds()
    )
    (found,) = assess([by_name], PLAN, FACTS, attempts(with_effect(1.03)))
    (by_version,) = assess([between(wanted)], PLAN, FACTS, attempts(with_effect(1.03)))
    assert found.standing is by_version.standing is REPRODUCED
    assert found.checks == by_version.checks
    other = replace(by_name, contrast=ClaimContrast("build", "13", "LTO"))
    (missing,) = assess([other], PLAN, FACTS, attempts(with_effect(1.03)))
    assert missing.standing is NOT_APPLICABLE


def test_a_finding_of_one_system_needs_a_campaign_on_it() -> None:
    wanted = replace(between(ABOUT_TWO), needs=ClaimNeeds(("13", "14"), systems=("Windows",)))
    found = attempts(with_effect(0.975))
    elsewhere = outcome(wanted, found)
    assert elsewhere.reason is not None and elsewhere.reason.code == "system"
    (there,) = assess([wanted], PLAN, replace(FACTS, system="Windows"), found)
    assert there.standing is REPRODUCED


def test_claims_that_change_while_a_campaign_runs_do_not_break_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "campaigns" / "observe-1"
    write_synthetic_ledger(folder, trials=24, samples=2_000)

    def wrong(*_: object) -> None:
        raise StudyError("a claims file that somebody is writing", "")

    def measured(*_: object) -> None:
        monkeypatch.setattr(catalogue, "read_claims", wrong)

    monkeypatch.setattr(campaign, "run_trials", measured)
    catalogue.claims_of.cache_clear()
    carried = campaign.carry_out(
        Session(Workdir(tmp_path), Console(Verbosity.QUIET, "never")), folder
    )
    assert carried.analysis.claims
