"""What is left to do is derived from the ledger: nothing twice, nothing forgotten."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.errors import TrialsFailedError
from teiten.execute.scheduler import FailureStreaks, next_trial, rehearsals
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import Finished, compared_together, counting, most_attempts
from teiten.model.trial import Outcome, Problem, Trial
from tests.fixtures.synthetic_plan import make_plan

PLAN = make_plan()
PAIRS = list(compared_together(PLAN))


def carry_on(plan: Plan, finished: list[Finished], outcome_of_trial: random.Random) -> None:
    """Run to the end, each attempt ending in an arbitrary way."""
    while (remaining := next_trial(plan, finished)) is not None:
        outcome = outcome_of_trial.choice(list(Outcome))
        finished.append((remaining.trial.number, remaining.attempt, outcome))


def test_the_first_trial_of_an_empty_ledger_is_the_plans_first() -> None:
    remaining = next_trial(PLAN, [])
    assert remaining is not None
    assert (remaining.trial, remaining.attempt) == (PLAN.trials[0], 1)


def test_a_disturbed_pair_is_repeated_as_a_whole_at_the_end_and_at_most_twice() -> None:
    finished: list[Finished] = []
    order = []
    while (remaining := next_trial(PLAN, finished)) is not None:
        number = remaining.trial.number
        order.append(number)
        outcome = Outcome.DISTURBED if number == 3 else Outcome.COUNTED
        finished.append((number, remaining.attempt, outcome))
    total = len(PLAN.trials)
    pair = next([one.number for one in pair] for pair in PAIRS if PLAN.trials[2] in pair)
    assert len(pair) == 2
    assert order == [*range(1, total + 1), *pair, *pair]
    assert [attempt for number, attempt, _ in finished if number == 3] == [1, 2, 3]
    assert not {number for number, _ in counting(PLAN, finished)} & set(pair)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), cut=st.integers(0, 400))
@settings(max_examples=50, deadline=None)
def test_a_campaign_cut_off_anywhere_goes_on_as_if_it_had_not_been(seed: int, cut: int) -> None:
    whole: list[Finished] = []
    carry_on(PLAN, whole, random.Random(seed))
    resumed = whole[:cut]
    carry_on(PLAN, resumed, random.Random(seed + 1))
    assert resumed[: len(whole[:cut])] == whole[:cut]
    attempts = Counter(number for number, _, _ in resumed)
    outcomes = {(number, attempt): outcome for number, attempt, outcome in resumed}
    counted = counting(PLAN, resumed)
    assert set(attempts) == {trial.number for trial in PLAN.trials}
    assert len(outcomes) == len(resumed)
    for pair in PAIRS:
        times = {attempts[one.number] for one in pair}
        assert len(times) == 1, "no side is tried more often than the other"
        last = times.pop()
        sound = [
            all(outcomes[one.number, attempt] is Outcome.COUNTED for one in pair)
            for attempt in range(1, last + 1)
        ]
        assert not any(sound[:-1]), "what counts is not run again"
        assert sound[-1] or last == 1 + PLAN.study.measure.repeats
        for one in pair:
            mine = [attempt for number, attempt in counted if number == one.number]
            assert mine == ([last] if sound[-1] else [])


def test_each_kind_of_server_and_script_is_rehearsed_once() -> None:
    kinds = {
        (trial.template.fingerprint, trial.settings, trial.cell.workload) for trial in PLAN.trials
    }
    assert len(rehearsals(PLAN)) == len(kinds)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.DISTURBED])
def test_trials_that_do_not_count_are_left_when_their_repeats_are_used_up(outcome: Outcome) -> None:
    finished = [
        (trial.number, attempt, outcome)
        for attempt in range(1, PLAN.study.measure.repeats + 2)
        for trial in PLAN.trials
    ]
    assert next_trial(PLAN, finished) is None


def ended(number: int, outcome: Outcome) -> Trial:
    problems = () if outcome is Outcome.COUNTED else (Problem("server-error", "PANIC: no"),)
    return Trial(
        number=number,
        attempt=1,
        outcome=outcome,
        problems=problems,
        started_at=0.0,
        finished_at=1.0,
        metrics={},
    )


def test_a_kind_of_trial_that_always_fails_ends_the_campaign() -> None:
    streaks = FailureStreaks(PLAN, limit=3)
    trial = PLAN.trials[0]
    streaks.ended(trial, ended(1, Outcome.FAILED))
    streaks.ended(trial, ended(1, Outcome.FAILED))
    with pytest.raises(TrialsFailedError, match=r"3 trials in a row of .* failed.*PANIC: no"):
        streaks.ended(trial, ended(1, Outcome.FAILED))


@pytest.mark.parametrize("between", [Outcome.COUNTED, Outcome.DISTURBED])
def test_a_streak_is_broken_by_a_trial_that_did_not_fail(between: Outcome) -> None:
    streaks = FailureStreaks(PLAN, limit=2)
    trial = PLAN.trials[0]
    for outcome in (Outcome.FAILED, between, Outcome.FAILED):
        streaks.ended(trial, ended(1, outcome))


@pytest.mark.parametrize(("repeats", "failures"), [(0, 4), (2, 4), (6, 8)])
def test_a_trial_may_use_up_its_repeats_before_the_campaign_is_given_up(
    repeats: int, failures: int
) -> None:
    measure = replace(PLAN.study.measure, repeats=repeats)
    streaks = FailureStreaks(replace(PLAN, study=replace(PLAN.study, measure=measure)))
    trial = PLAN.trials[0]
    for _ in range(failures - 1):
        streaks.ended(trial, ended(1, Outcome.FAILED))
    with pytest.raises(TrialsFailedError, match=f"{failures} trials in a row"):
        streaks.ended(trial, ended(1, Outcome.FAILED))


def in_block(number: int) -> list[PlannedTrial]:
    return [trial for trial in PLAN.trials if trial.block == number]


def test_a_machine_that_is_busy_throughout_is_not_asked_again() -> None:
    finished = [(trial.number, 1, Outcome.DISTURBED) for trial in PLAN.trials]
    assert most_attempts(PLAN, finished) == 1 and next_trial(PLAN, finished) is None
    (number, _, _), *others = finished
    calmer = [(number, 1, Outcome.COUNTED), *others]
    assert most_attempts(PLAN, calmer) == 1 + PLAN.study.measure.repeats
    again = [*calmer, *((number, 2, Outcome.DISTURBED) for number, _, _ in finished)]
    assert next_trial(PLAN, again) is None


def test_less_than_a_block_of_disturbed_trials_is_asked_again() -> None:
    first = [(trial.number, 1, Outcome.DISTURBED) for trial in in_block(1)]
    assert most_attempts(PLAN, first[:-1]) == 1 + PLAN.study.measure.repeats
    failed = [*first[:-1], (first[-1][0], 1, Outcome.FAILED)]
    assert most_attempts(PLAN, failed) == 1 + PLAN.study.measure.repeats
