"""Blocks of a collection go where findings are decided soonest; with invented numbers."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from functools import partial

import pytest

from teiten.analysis.claims.checks import check_of, estimated
from teiten.analysis.claims.forecast import (
    Allotment,
    CampaignProgress,
    OpenFinding,
    further_blocks,
    next_allotment,
)
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import (
    Check,
    CheckKind,
    ClaimOutcome,
    ClaimQuestion,
    ClaimStanding,
)
from teiten.analysis.verdict.sequential import half_width
from teiten.analysis.verdict.stopping import standing
from teiten.claims.catalogue import claims_of
from teiten.claims.curves import LEVELS
from teiten.claims.predicates.effect import CONTRAST
from teiten.cli.collection.carry_out import seconds_of_levels
from teiten.model.plan import Level, Plan
from teiten.model.progress import (
    ALLOTTED,
    Ending,
    GivenBlocks,
    MoreBlocks,
    given_blocks,
    level_of,
    levels_of,
    with_more,
)
from teiten.model.trial import Attempt, Event, Outcome
from teiten.model.units import Seconds, Share
from tests.fixtures.two_machines import campaign
from tests.unit.test_stopping import ONE, SWEEP, clients_run

ALPHA, DELTA = Share(0.05), Share(0.02)
READ: Level = ("read", ())
WRITE: Level = ("write", ())
FIRST = with_more({}, {READ, WRITE}, 6)
A = CampaignProgress("a", FIRST, False, 6, 60, Seconds(0), Seconds(100), {READ: Seconds(100)})
B = replace(A, name="b")
NEW = CampaignProgress("new", {}, False, 6, 60, Seconds(50), Seconds(100))


def outcome(
    *values: tuple[float, ...],
    low: float = 0.0,
    high: float = math.inf,
    kind: CheckKind = LEVELS,
) -> ClaimOutcome:
    """A finding with a check for each column of invented logarithms of ratios."""
    checks = tuple(
        check_of(
            ClaimQuestion(kind, ("18",), (1, 2), dict(enumerate(column)), low, high),
            ALPHA,
            partial(estimated, width=half_width),
            among=len(values),
            delta=DELTA,
        )
        for column in values
    )
    return ClaimOutcome(claims_of("buffers")[0], *standing_of(checks), checks)


def drawn(mean: float, count: int, deviation: float = 0.1) -> tuple[float, ...]:
    """Values with exactly this mean and deviation, in an order that does not matter."""
    chance = random.Random(count)
    raw = [chance.gauss(0, 1) for _ in range(count)]
    middle = sum(raw) / count
    scatter = math.sqrt(sum((value - middle) ** 2 for value in raw) / (count - 1))
    return tuple(mean + deviation * (value - middle) / scatter for value in raw)


@pytest.mark.parametrize("mean", [0.05, -0.05, 0.02])
def test_so_many_further_blocks_like_those_decide_and_one_less_does_not(mean: float) -> None:
    found = outcome(drawn(mean, 8))
    further = further_blocks(found, ALPHA)
    assert found.standing is ClaimStanding.INCONCLUSIVE and further is not None
    expected = ClaimStanding.REPRODUCED if mean > 0 else ClaimStanding.CONTRADICTED
    assert outcome(drawn(mean, 8 + further)).standing is expected
    assert outcome(drawn(mean, 7 + further)).standing is ClaimStanding.INCONCLUSIVE


@pytest.mark.parametrize("mean", [0.004, 0.015, -0.005])
def test_a_direction_is_decided_by_the_nearer_of_one_and_delta(mean: float) -> None:
    found = outcome(drawn(mean, 8, 0.02), kind=CONTRAST)
    further = further_blocks(found, ALPHA)
    assert found.standing is ClaimStanding.INCONCLUSIVE and further is not None
    expected = ClaimStanding.REPRODUCED if mean > 0.01 else ClaimStanding.CONTRADICTED
    assert outcome(drawn(mean, 8 + further, 0.02), kind=CONTRAST).standing is expected
    before = outcome(drawn(mean, 7 + further, 0.02), kind=CONTRAST)
    assert before.standing is ClaimStanding.INCONCLUSIVE


def test_all_checks_are_needed_to_reproduce_and_one_to_contradict() -> None:
    near, far = drawn(0.06, 8), drawn(0.03, 8)
    both = further_blocks(outcome(near, far), ALPHA)
    assert both == further_blocks(outcome(far), ALPHA)
    assert both is not None and both > (further_blocks(outcome(near), ALPHA) or 0)
    against = further_blocks(outcome(far, drawn(-0.06, 8)), ALPHA)
    assert against is not None and against < both


def test_nothing_is_foretold_of_what_is_decided_or_has_no_number() -> None:
    assert further_blocks(outcome(drawn(1.0, 12)), ALPHA) is None
    unknown: Check = replace(outcome(drawn(0.0, 12)).checks[0], ratio=None, low=None, high=None)
    lacking = ClaimOutcome(claims_of("buffers")[0], ClaimStanding.INCONCLUSIVE, checks=(unknown,))
    assert further_blocks(lacking, ALPHA) is None
    few = replace(lacking, checks=(replace(unknown, pairs=3),))
    assert further_blocks(few, ALPHA) == 3  # from six on there is an interval
    never = replace(lacking, checks=(replace(unknown, pairs=0),))
    assert further_blocks(never, ALPHA) is None


@pytest.mark.parametrize("mean", [0.5, -0.5])
def test_too_few_blocks_for_an_interval_are_foretold_to_get_one(mean: float) -> None:
    """Two blocks have a ratio, and an interval without ends; from six on there is one."""
    two = outcome(drawn(mean, 2))
    assert (two.checks[0].low, two.checks[0].high) == (0.0, math.inf)
    assert further_blocks(two, ALPHA) == 4
    assert further_blocks(two, ALPHA, blocks_of_a_number=3) == 12, "a start of three pairs each"


def opened(*blocks: int, at: Level = READ, ran: int = 6) -> tuple[OpenFinding, ...]:
    return tuple(OpenFinding(further, frozenset({at}), ran) for further in blocks)


def given(name: str, more: int, *levels: Level) -> Allotment:
    return Allotment(name, MoreBlocks(more, frozenset(levels or (READ,))))


def every_level(name: str, more: int) -> Allotment:
    return Allotment(name, MoreBlocks(more))


def test_every_campaign_has_its_first_blocks_before_any_has_more() -> None:
    nearly = replace(A, open=opened(1))
    assert next_allotment([nearly, NEW], Seconds(10_000)) == every_level("new", 6)
    assert next_allotment([NEW, replace(NEW, name="later")], Seconds(700)) == every_level("new", 6)


def test_what_was_cut_off_is_finished_first_whatever_time_is_left() -> None:
    cut = replace(B, unfinished=True)
    assert next_allotment([NEW, cut], Seconds(0)) == Allotment("b", None)


def test_a_first_pass_that_does_not_fit_leaves_the_time_to_others() -> None:
    assert next_allotment([NEW, replace(A, open=opened(2))], Seconds(300)) == given("a", 2)


def test_time_goes_where_a_finding_costs_least_of_it() -> None:
    single, several = replace(A, open=opened(3)), replace(B, open=opened(4, 4))
    assert next_allotment([single, several], Seconds(10_000)) == given("b", 4)
    slow = replace(several, levels={READ: Seconds(900)})
    assert next_allotment([single, slow], Seconds(10_000)) == given("a", 3)


def test_further_blocks_hold_only_the_levels_by_which_their_findings_are_judged() -> None:
    both = {READ: Seconds(95), WRITE: Seconds(5)}
    some = replace(A, levels=both, open=(*opened(3), *opened(5, at=WRITE)))
    assert next_allotment([some], Seconds(10_000)) == given("a", 5, WRITE)
    assert next_allotment([some], Seconds(20)) is None, "five blocks take 25 seconds"
    near = replace(A, levels=both, open=(*opened(1), *opened(2, at=WRITE)))
    alike = replace(B, open=opened(1))
    assert next_allotment([alike, near], Seconds(10_000)) == given("a", 2, WRITE)
    crossing = replace(near, open=(OpenFinding(2, frozenset({READ, WRITE}), 6),))
    assert next_allotment([crossing], Seconds(10_000)) == given("a", 2, READ, WRITE)


def test_blocks_are_at_most_doubled_before_the_next_forecast() -> None:
    assert next_allotment([replace(A, open=opened(40))], Seconds(10_000)) == given("a", 6)
    far = replace(A, given=with_more({}, {READ}, 24), open=opened(20))
    assert next_allotment([far], Seconds(10_000)) == given("a", 6), "six of them counted"


def test_nothing_is_given_that_cannot_decide() -> None:
    beyond_time, beyond_plan = replace(A, open=opened(20)), replace(B, open=opened(55))
    assert next_allotment([beyond_time, beyond_plan, A], Seconds(1_500)) is None
    both = {READ: Seconds(100), WRITE: Seconds(1)}
    cheap_but_many = replace(B, levels=both, open=(*opened(55, at=WRITE), *opened(3)))
    assert next_allotment([cheap_but_many], Seconds(1_500)) == given("b", 3)


def test_blocks_of_one_level_leave_those_of_another() -> None:
    both = {READ: Seconds(100), WRITE: Seconds(1)}
    spent = replace(A, given=with_more(FIRST, {WRITE}, 52), levels=both, open=opened(3))
    assert next_allotment([spent], Seconds(1_500)) == given("a", 3)
    beyond = replace(spent, open=(*opened(3), *opened(3, at=WRITE)))
    assert next_allotment([beyond], Seconds(1_500)) == given("a", 3), "the plan has 60"
    crossing = (OpenFinding(2, frozenset({READ, WRITE}), 6),)
    assert next_allotment([replace(spent, open=crossing)], Seconds(1_500)) == given(
        "a", 2, READ, WRITE
    )
    crossing = (OpenFinding(3, frozenset({READ, WRITE}), 6),)
    assert next_allotment([replace(spent, open=crossing)], Seconds(1_500)) is None, "two are free"


def test_pairs_that_share_a_start_are_given_together() -> None:
    assert next_allotment([replace(A, open=opened(1), unit=4)], Seconds(1_000)) == given("a", 4)


def attempts(blocks: int) -> list[Attempt]:
    return [
        Attempt(trial.number, 1, Outcome.COUNTED, {"tps": 1000.0 + trial.number}, 0.0, 1.0)
        for trial in SWEEP.trials
        if trial.block <= blocks
    ]


def blocks_given(plan: Plan, *times: MoreBlocks) -> GivenBlocks:
    details = [json.loads(json.dumps(some.detail)) for some in times]
    return given_blocks(plan, [Event(0.0, ALLOTTED, None, None, detail) for detail in details])


def test_a_campaign_runs_the_blocks_that_it_was_given_with_every_level() -> None:
    three = blocks_given(SWEEP, MoreBlocks(3))
    stands = standing(SWEEP, attempts(2), Seconds(0), three)
    last = {trial.number for trial in SWEEP.trials if trial.block == 3}
    assert stands.ending is None and not last & stands.unneeded
    assert {trial.number for trial in SWEEP.trials if trial.block > 3} <= stands.unneeded
    assert standing(SWEEP, attempts(3), Seconds(0), three).ending is Ending.ALLOTTED_SPENT
    assert clients_run(SWEEP, attempts(3)) == ["124"] * 3


def test_levels_that_get_blocks_at_one_time_get_the_same_ones() -> None:
    only, both = with_more(FIRST, {READ}, 2), {READ, WRITE}
    together = with_more(only, both, 2)
    assert set(together[READ]) == {*range(1, 11)}
    assert set(together[WRITE]) == {*range(1, 7), 9, 10}
    assert {together[level][9] for level in both} == {3}, "the third time"
    filled = with_more(together, {WRITE}, 2)
    assert (set(filled[WRITE]), filled[WRITE][7], filled[READ][7]) == ({*range(1, 11)}, 4, 2)


def test_each_level_has_the_first_blocks_of_the_plan_that_it_was_given() -> None:
    chosen = level_of(SWEEP, SWEEP.trials[0])
    some = MoreBlocks(2, frozenset({chosen}))
    blocks = blocks_given(SWEEP, MoreBlocks(2), some, MoreBlocks(1))
    stands = standing(SWEEP, attempts(2), Seconds(0), blocks)
    wanted = {
        trial.number
        for trial in SWEEP.trials
        if trial.block in (1, 2, 5) or (trial.block in (3, 4) and level_of(SWEEP, trial) == chosen)
    }
    assert stands.ending is None
    assert stands.unneeded == {trial.number for trial in SWEEP.trials} - wanted
    ran = [attempt for attempt in attempts(5) if attempt.number in wanted]
    assert standing(SWEEP, ran, Seconds(0), blocks).ending is Ending.ALLOTTED_SPENT
    cut = [attempt for attempt in ran if attempt.number < max(wanted)]
    assert standing(SWEEP, cut, Seconds(0), blocks).ending is None, "the last one is missing"


def test_decided_verdicts_do_not_end_a_campaign_of_a_collection() -> None:
    large = [
        Attempt(trial.number, 1, Outcome.COUNTED, {"tps": 1000.0 * side + trial.block}, 0.0, 1.0)
        for trial in ONE.trials
        for side in [2.0 if trial.cell.level("server") == "18" else 1.0]
        if trial.block <= 12
    ]
    assert standing(ONE, large, Seconds(0)).ending is Ending.DECIDED
    assert standing(ONE, large, Seconds(0), blocks_given(ONE, MoreBlocks(14))).ending is None


def test_the_numbers_of_older_ledgers_are_shared_by_all_levels() -> None:
    """Each time's blocks came after all before."""
    chosen = level_of(SWEEP, SWEEP.trials[0])
    listed = [[chosen[0], [list(pair) for pair in chosen[1]]]]
    details = ({"blocks": 2}, {"blocks": 4, "levels": listed}, {"blocks": 5}, {"more": 2})
    events = [Event(0.0, ALLOTTED, None, None, detail) for detail in details]
    older, now = given_blocks(SWEEP, events[:3]), given_blocks(SWEEP, events)
    assert set(older) == set(now) == levels_of(SWEEP)
    for level in levels_of(SWEEP):
        assert set(older[level]) == ({1, 2, 3, 4, 5} if level == chosen else {1, 2, 5})
        assert set(now[level]) == {*older[level], 6, 7}
    assert given_blocks(SWEEP, []) == {}


def test_a_level_costs_what_its_trials_took() -> None:
    analysis = campaign("night")
    took = tuple(
        replace(view, started_at=0.0, finished_at=float(dict(view.levels)["clients"]))
        for view in analysis.trials
    )
    few, many = (("clients", "1"),), (("clients", "4"),)
    seconds = seconds_of_levels(replace(analysis, trials=took))
    assert {context: seconds["read", context] for context in (few, many)} == {few: 2.0, many: 8.0}
    only_few = tuple(view for view in took if view.context("server") == few)
    assert seconds_of_levels(replace(analysis, trials=only_few))["read", many] == 2.0
    assert seconds_of_levels(replace(analysis, trials=())) == {}
