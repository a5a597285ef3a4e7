"""Outcomes of findings about queries on invented campaigns whose truth is known."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.explain.worker_rules import workers_by_partitions, workers_by_size
from teiten.analysis.model.claims import (
    Claim,
    ClaimContrast,
    ClaimNeeds,
    ClaimOutcome,
    ClaimSource,
)
from teiten.analysis.model.claims import ClaimStanding as Standing
from teiten.claims.catalogue import PUBLISHED
from teiten.kinds.queries.claims.of_plans import (
    PERMITTED_WORKERS,
    PlanHas,
    PlanValue,
    WorkerCurve,
    WorkersByRule,
)
from teiten.kinds.queries.claims.of_plans import RuleOfWorkers as WorkerRule
from teiten.kinds.queries.claims.of_queries import QueryBounds, QueryEffect, QueryOrder
from teiten.kinds.queries.plan_numbers import LAUNCHED, PERMITTED, SERIAL
from teiten.model.plan import Plan
from teiten.model.study import Script
from teiten.model.trial import Attempt
from teiten.report.claim_words import bounds_text, check_text, place_text, source_text
from teiten.report.texts import texts
from tests.fixtures.invented_claims import a_claim
from tests.fixtures.invented_ssb import GUC, QUERIES, Further, Levels, Truth, ssb_plan, timed
from tests.fixtures.synthetic_plan import HOST

FACTS = replace(HOST, cpu=replace(HOST.cpu, logical=4))
LAYOUTS = {"layout": ("plain", "monthly")}
OLAP = ssb_plan("partition-olap", "layout", LAYOUTS)
TO_MONTHLY = ClaimContrast("layout", "plain", "monthly")


def published_times() -> dict[str, dict[str, str]]:
    with (PUBLISHED / "ssb-2020-seconds.csv").open(encoding="utf-8", newline="") as stream:
        return {row["query"]: row for row in csv.DictReader(stream)}


def as_published(levels: Levels) -> float:
    """The printed times, in seconds."""
    parallel = levels.get(GUC, "0") != "0"
    column = {
        ("plain", False): "serial",
        ("plain", True): "parallel",
        ("monthly", False): "partitioned_serial",
        ("monthly", True): "partitioned_parallel",
    }[levels.get("layout", "plain"), parallel]
    return float(published_times()[levels["query"]][column])


def about(predicate: object, study: str = "partition-olap", **changes: object) -> Claim:
    values: dict[str, object] = {
        "study": study,
        "workload": "ssb",
        "metric": "query_seconds",
        "predicate": predicate,
        "contrast": TO_MONTHLY,
        "needs": ClaimNeeds(factor="layout"),
    }
    return a_claim(**(values | changes))


def alone(predicate: object, study: str = "partition-olap", **changes: object) -> Claim:
    """A finding without a contrast."""
    return about(predicate, study, contrast=None, needs=ClaimNeeds(), **changes)


def effect(low: float | None, high: float | None, *queries: str, mean: bool = False) -> QueryEffect:
    return QueryEffect((QueryBounds(low, high, queries, mean),))


def outcome(claim: Claim, found: Sequence[Attempt], plan: Plan = OLAP) -> ClaimOutcome:
    (one,) = assess([claim], plan, FACTS, found)
    return one


def code(found: ClaimOutcome) -> str:
    assert found.reason is not None
    return found.reason.code


@pytest.mark.parametrize(
    ("predicate", "standing"),
    [
        (effect(None, 0.1, "q1.2", "q1.3", "q3.4"), Standing.REPRODUCED),
        (effect(None, 1.0, "q1.1", "q4.2", "q4.3"), Standing.REPRODUCED),
        (effect(None, 1.0), Standing.CONTRADICTED),
        (effect(1.05, 1.7, "q2.1", "q3.2"), Standing.REPRODUCED),
        (effect(1.05, 1.7, "q2.1", "q3.4"), Standing.CONTRADICTED),
        (effect(0.35, 0.4, mean=True), Standing.REPRODUCED),
        (QueryOrder((("q1.2", "q1.3"), ("q1.1",), ("q2.1", "q4.1"))), Standing.REPRODUCED),
        (QueryOrder((("q2.1",), ("q1.1",))), Standing.CONTRADICTED),
    ],
)
def test_a_ratio_of_queries_lies_within_its_bounds_or_not(
    predicate: object, standing: Standing
) -> None:
    assert outcome(about(predicate), timed(OLAP, as_published)).standing is standing


def test_each_query_is_a_check_with_its_own_interval() -> None:
    found = outcome(about(effect(None, 0.5)), timed(OLAP, as_published))
    assert [check.classes for check in found.checks] == [((query,),) for query in QUERIES]
    held = 0
    for check in found.checks:
        (query,) = check.classes[0]
        row = published_times()[query]
        truth = float(row["partitioned_serial"]) / float(row["serial"])
        assert check.low is not None and check.high is not None
        held += check.low < truth < check.high
        assert check.pairs == 6
    assert held >= len(QUERIES) - 2, "each at 95 %"


def test_what_is_told_of_times_is_the_speed_up() -> None:
    found = outcome(about(effect(None, 0.1, "q1.2")), timed(OLAP, as_published))
    t = texts("en")
    said = check_text(t, found.deciding, str)
    assert said.startswith("q1.2: time of plain ÷ time of monthly: 6")
    assert found.deciding is not None and found.deciding.ratio == pytest.approx(1 / 68.3, rel=0.03)
    assert bounds_text(t, found.deciding) == "≥ 10"


def test_an_effect_between_levels_that_the_study_does_not_contrast() -> None:
    plan = ssb_plan("partition-olap", "layout", {**LAYOUTS, GUC: ("0", "16")})
    claim = about(
        effect(None, 1.0),
        contrast=ClaimContrast(GUC, "first", "last"),
        at=(("layout", "plain"),),
        needs=ClaimNeeds(factor=GUC),
    )
    found = outcome(claim, timed(plan, as_published), plan)
    assert found.standing is Standing.REPRODUCED
    assert found.checks[0].sides == ("0", "16")
    assert found.checks[0].ratio == pytest.approx(12.812 / 70.153, rel=0.02)


def test_two_means_against_one_another() -> None:
    """2020, table 6.34: partitions without workers against workers without partitions."""
    plan = ssb_plan("partition-olap", "layout", {**LAYOUTS, GUC: ("0", "16")})
    crossed = replace(TO_MONTHLY, old_at=((GUC, "last"),), new_at=((GUC, "first"),))
    found = timed(plan, as_published)
    wins = about(effect(None, 1.0, "q1.2", "q1.3", "q3.4"), contrast=crossed)
    loses = about(effect(1.0, None, "q2.1", "q3.1", "q4.1", "q4.3"), contrast=crossed)
    assert outcome(wins, found, plan).standing is Standing.REPRODUCED
    assert outcome(loses, found, plan).standing is Standing.REPRODUCED
    not_varied = outcome(wins, timed(OLAP, as_published))
    assert not_varied.standing is Standing.NOT_APPLICABLE
    assert code(not_varied) == "factor"


def test_a_first_or_last_level_of_what_is_not_varied_is_the_studys_setting() -> None:
    found = timed(OLAP, as_published)
    here = outcome(about(effect(None, 0.1, "q1.2"), at=((GUC, "first"),)), found)
    named = outcome(about(effect(None, 0.1, "q1.2"), at=((GUC, "0"),)), found)
    assert here.standing is Standing.REPRODUCED
    assert code(named) == "contrast"


def test_every_server_is_asked() -> None:
    plan = ssb_plan("partition-olap", "layout", LAYOUTS, servers=("13", "18"))

    def truth(levels: Levels) -> float:
        return as_published(levels) * (0.05 if levels["server"] == "18" else 1)

    def worse(levels: Levels) -> float:
        one = levels["server"] == "18" and levels["layout"] == "monthly"
        return as_published(levels) * (20 if one else 1)

    claim = about(effect(None, 0.1, "q1.2"))
    found = outcome(claim, timed(plan, truth), plan)
    assert found.standing is Standing.REPRODUCED
    assert [check.server for check in found.checks] == ["13", "18"]
    assert check_text(texts("en"), found.checks[1], str).startswith("18, q1.2:")
    assert outcome(claim, timed(plan, worse), plan).standing is Standing.CONTRADICTED


def test_a_query_over_the_limit_has_no_ratio() -> None:
    def truth(levels: Levels) -> float:
        return math.inf if levels["query"] == "q2.1" else as_published(levels)

    found = outcome(about(effect(1.0, None, "q2.1", "q2.2")), timed(OLAP, truth))
    assert found.standing is Standing.INCONCLUSIVE
    assert code(found) == "over-timeout"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"study": "parallel"}, "study"),
        ({"workload": "count"}, "workload"),
        ({"at": (("parameters", "serial"),)}, "contrast"),
        ({"needs": ClaimNeeds(cores=10)}, "cores"),
        ({"needs": ClaimNeeds(factor=GUC)}, "factor"),
        ({"predicate": effect(None, 1.0, "q5.1")}, "queries"),
        ({"work": (Script("q1.1", False, "SELECT 1;"),)}, "script"),
        ({"metric": "plan_blocks:lineorder"}, "no-plans"),
    ],
)
def test_what_a_campaign_lacks_is_said(changes: Mapping[str, object], reason: str) -> None:
    claim = replace(about(effect(None, 1.0)), **changes)  # type: ignore[arg-type]
    found = outcome(claim, timed(OLAP, as_published))
    assert found.standing is Standing.NOT_APPLICABLE
    assert code(found) == reason


def test_a_factor_that_the_finding_does_not_know() -> None:
    plan = ssb_plan("partition-olap", "layout", {**LAYOUTS, "guc:jit": ("off", "on")})
    found = outcome(about(effect(None, 1.0)), timed(plan, as_published), plan)
    assert code(found) == "factors"


def test_a_quick_profile_decides_nothing() -> None:
    plan = ssb_plan("partition-olap", "layout", LAYOUTS, profile="quick")
    found = outcome(about(effect(None, 0.1, "q1.2")), timed(plan, as_published), plan)
    assert found.standing is Standing.INCONCLUSIVE
    assert code(found) == "profile"


SWEEP = {GUC: ("0", "1", "2", "3", "4", "8")}
COUNTED = ssb_plan("parallel", GUC, SWEEP, workloads={"count": ("count",)})


def scaling(cap: int) -> Truth:
    return lambda levels: 60 / (1 + min(int(levels[GUC]), cap))


def launched(cap: int) -> Further:
    return lambda levels: {LAUNCHED: float(min(int(levels[GUC]), cap))}


def test_the_count_scales_to_the_cap_and_is_flat_beyond() -> None:
    gains = alone(WorkerCurve(GUC, 9), "parallel", workload="count")
    flat = alone(WorkerCurve(GUC, 9, 0.05), "parallel", workload="count")
    capped = timed(COUNTED, scaling(2), further=launched(2))
    for claim in (gains, flat):
        found = outcome(claim, capped, COUNTED)
        assert found.standing is Standing.REPRODUCED
        assert all(check.kind is PERMITTED_WORKERS for check in found.checks)
    assert [check.at for check in outcome(gains, capped, COUNTED).checks] == [(0, 1), (1, 2)]
    still = timed(COUNTED, scaling(4), further=launched(2))
    assert outcome(flat, still, COUNTED).standing is Standing.CONTRADICTED
    level = timed(COUNTED, lambda _levels: 60.0, further=launched(2))
    assert outcome(gains, level, COUNTED).standing is not Standing.REPRODUCED


def test_steps_of_the_count_end_where_the_cores_do() -> None:
    gains = alone(WorkerCurve(GUC, 9), "parallel", workload="count")
    found = outcome(gains, timed(COUNTED, scaling(8), further=launched(8)), COUNTED)
    assert [check.at for check in found.checks] == [(0, 1), (1, 2), (2, 3)]
    flat = alone(WorkerCurve(GUC, 9, 0.05), "parallel", workload="count")
    none_beyond = outcome(flat, timed(COUNTED, scaling(8), further=launched(8)), COUNTED)
    assert code(none_beyond) == "levels-beyond-workers"
    no_plans = outcome(gains, timed(COUNTED, scaling(8)), COUNTED)
    assert code(no_plans) == "no-plans"


PARALLEL = ssb_plan("parallel", GUC, {GUC: ("0", "16")})
BY_SIZE = WorkersByRule(WorkerRule.SIZE, relation="lineorder")


def workers(found: int, rule: int | None, permitted: int = 16) -> Further:
    values = {LAUNCHED: float(found), PERMITTED: float(permitted)}
    if rule is not None:
        values |= {BY_SIZE.metric: float(rule)}
    return lambda _levels: values


@pytest.mark.parametrize(
    ("found", "rule", "fewer", "standing"),
    [
        (5, 5, False, Standing.REPRODUCED),
        (4, 5, False, Standing.CONTRADICTED),
        (4, 5, True, Standing.REPRODUCED),
        (5, 5, True, Standing.CONTRADICTED),
    ],
)
def test_workers_follow_the_rule_or_not(
    found: int, rule: int, fewer: bool, standing: Standing
) -> None:
    claim = alone(replace(BY_SIZE, fewer=fewer), "parallel", at=((GUC, "last"),))
    trials = timed(PARALLEL, as_published, further=workers(found, rule))
    one = outcome(claim, trials, PARALLEL)
    assert one.standing is standing
    assert len(one.checks) == len(QUERIES)
    said = check_text(texts("en"), one.deciding, str)
    assert said.endswith(f": {found} workers launched, {rule} by the rule")


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        (workers(5, None), "sizes"),
        (workers(0, 0), "too-small"),
        (workers(2, 5, 2), "permitted"),
        (lambda _levels: {}, "no-plans"),
    ],
)
def test_where_a_rule_cannot_be_told_it_is_not_judged(recorded: Further, reason: str) -> None:
    claim = alone(BY_SIZE, "parallel", at=((GUC, "last"),))
    trials = timed(PARALLEL, as_published, further=recorded)
    assert code(outcome(claim, trials, PARALLEL)) == reason


def test_plans_that_differ_among_repetitions_decide_nothing() -> None:
    claim = alone(BY_SIZE, "parallel", at=((GUC, "last"),))
    trials = timed(PARALLEL, as_published, further=workers(5, 5))
    odd = next(at for at, one in enumerate(trials) if PARALLEL.trials[at].cell.level(GUC) == "16")
    flipped = {**trials[odd].metrics, LAUNCHED: 4.0}
    trials[odd] = replace(trials[odd], metrics=flipped)
    found = outcome(claim, trials, PARALLEL)
    assert found.standing is Standing.INCONCLUSIVE
    assert code(found) == "undecided"


@pytest.mark.parametrize(
    ("has", "absent", "standing"),
    [
        (1.0, False, Standing.REPRODUCED),
        (0.0, False, Standing.CONTRADICTED),
        (0.0, True, Standing.REPRODUCED),
        (1.0, True, Standing.CONTRADICTED),
    ],
)
def test_plans_have_a_node_or_not(has: float, absent: bool, standing: Standing) -> None:
    predicate = PlanHas(("Parallel Index Scan",), ("q2.1",), absent)
    claim = alone(predicate, "parallel", at=((GUC, "last"),))
    trials = timed(PARALLEL, as_published, further=lambda _levels: {predicate.metric: has})
    found = outcome(claim, trials, PARALLEL)
    assert found.standing is standing
    assert f"in {6 * has:g} of 6 plans" in check_text(texts("en"), found.deciding, str)


def test_blocks_are_counted_so_that_no_scatter_is_certainty() -> None:
    def blocks(levels: Levels) -> Mapping[str, float]:
        pruned = levels["layout"] == "monthly"
        return {"plan_blocks:lineorder": 100_079.0 if pruned else 7_758_504.0}

    claim = about(effect(None, 0.02, "q1.2"), metric="plan_blocks:lineorder")
    found = outcome(claim, timed(OLAP, as_published, further=blocks))
    assert found.standing is Standing.REPRODUCED
    assert found.deciding is not None
    assert found.deciding.low == found.deciding.high == pytest.approx(100_079 / 7_758_504)
    said = check_text(texts("en"), found.deciding, str)
    assert said == "blocks of lineorder, q1.2: monthly ÷ plain: 0.013"


def test_a_number_of_plans_lies_within_bounds() -> None:
    at = (("layout", "monthly"),)
    claim = alone(
        PlanValue((QueryBounds(0.1, None, ("q2.1",)),)), metric="plan_share:Append", at=at
    )

    def found(share: float) -> ClaimOutcome:
        random = iter(range(10_000))
        return outcome(
            claim,
            timed(
                OLAP,
                as_published,
                further=lambda _levels: {"plan_share:Append": share + next(random) % 3 / 1000},
            ),
        )

    assert found(0.18).standing is Standing.REPRODUCED
    assert found(0.02).standing is Standing.CONTRADICTED


def test_the_printed_rules_of_workers() -> None:
    """Table 6.9, and 6.36 with the formula of the text, which is one less for powers of two."""
    table = "parallel-2020-workers-by-index-size"
    with (PUBLISHED / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            pages = round(float(row["size_mb"]) * 1024**2 / 8192)
            assert workers_by_size(pages, 64) == int(row["workers"])
    assert workers_by_size(7_758_504, 1024) == 9
    assert workers_by_partitions(84) == math.ceil(math.log2(84)) == 7
    assert workers_by_partitions(64) == math.ceil(math.log2(64)) + 1


def of_plans(parallel: bool, rule: int | None, found: int) -> Further:
    numbers = dict(workers(found, rule)({}))
    return lambda _levels: numbers if parallel else {**numbers, SERIAL: 1.0}


@pytest.mark.parametrize(
    ("predicate", "rule"),
    [
        (WorkersByRule(WorkerRule.SIZE), None),
        (replace(BY_SIZE, fewer=True), 5),
    ],
)
def test_a_serial_plan_neither_keeps_nor_lacks_a_rule_of_workers(
    predicate: WorkersByRule, rule: int | None
) -> None:
    """Not "the sizes were not recorded", and not "fewer than by the rule": it asked for none."""
    claim = alone(predicate, "parallel", at=((GUC, "last"),))
    serial = timed(PARALLEL, as_published, further=of_plans(False, rule, 0))
    found = outcome(claim, serial, PARALLEL)
    assert found.standing is Standing.NOT_APPLICABLE
    assert code(found) == "serial"


def test_a_rule_of_whatever_the_plan_scans_first_is_judged() -> None:
    """It names no relation: what its trials have for it has no part, and is found all the same."""
    rule = WorkersByRule(WorkerRule.SIZE)
    numbers = {LAUNCHED: 5.0, rule.metric: 5.0, PERMITTED: 16.0}
    claim = alone(rule, "parallel", at=((GUC, "last"),))
    found = outcome(claim, timed(PARALLEL, as_published, further=lambda _levels: numbers), PARALLEL)
    assert found.standing is Standing.REPRODUCED, code(found)


def test_a_parallel_plan_whose_workers_did_not_start_has_fewer() -> None:
    claim = alone(replace(BY_SIZE, fewer=True), "parallel", at=((GUC, "last"),))
    found = outcome(claim, timed(PARALLEL, as_published, further=of_plans(True, 5, 0)), PARALLEL)
    assert found.standing is Standing.REPRODUCED


def test_tables_of_a_source_are_listed_as_the_language_lists() -> None:
    source = ClaimSource("PGECons WG3 2020", "6.4", "6.28, 6.29")
    assert place_text(texts("en"), source) == "table 6.28, 6.29"
    assert place_text(texts("ja"), source) == "表6.28、6.29"
    assert source_text(texts("ja"), source).endswith("、表6.28、6.29")


def test_a_finding_about_some_queries_reads_no_others() -> None:
    def read(predicate: object) -> set[str]:
        (judged,) = assess([about(predicate)], OLAP, FACTS, timed(OLAP, as_published))
        return {dict(context)["query"] for _, context in judged.levels}

    assert read(effect(0.1, None, "q1.1", "q2.1")) == {"q1.1", "q2.1"}
    assert read(effect(0.1, None)) == set(QUERIES)
