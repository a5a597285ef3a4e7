"""What a sequential campaign does without, from its ledger alone."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.sequential import is_decided
from teiten.analysis.verdict.stopping import standing
from teiten.execute.scheduler import next_trial
from teiten.ledger import codec
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import Ending
from teiten.model.study import Sequential
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Seconds
from tests.fixtures.synthetic_plan import make_plan

Effect = Callable[[PlannedTrial], float]
BUDGET = 36_000.0
TRIAL = 60.0


def sequential(plan: Plan, budget: float = BUDGET) -> Plan:
    measure = replace(plan.study.measure, sequential=Sequential(Seconds(budget)))
    workloads = tuple(workload for workload in plan.study.workloads if workload.name == "read")
    study = replace(plan.study, measure=measure, workloads=workloads)
    reads = [trial for trial in plan.trials if trial.cell.workload == "read"]
    numbered = tuple(replace(one, number=at) for at, one in enumerate(reads, start=1))
    return replace(plan, study=study, trials=numbered)


ONE = sequential(make_plan(160, clients=("4",)))  # 40 blocks of one pair
SWEEP = sequential(make_plan(360, clients=("1", "2", "4")))  # 30 blocks of three pairs


def noise_of(block: int, clients: str) -> float:
    return random.Random(f"{block} {clients}").gauss(0.0, 0.01)


def run(
    plan: Plan,
    effect: Effect,
    *,
    attempts: list[Attempt] | None = None,
    outcome: Callable[[PlannedTrial, int], Outcome] = lambda _trial, _attempt: Outcome.COUNTED,
    stop_after: int = 10_000,
) -> list[Attempt]:
    """Carry on as the scheduler does; ends by itself, or after so many attempts."""
    done = [] if attempts is None else attempts
    while len(done) < stop_after:
        stands = standing(plan, done, Seconds(TRIAL * len(done)))
        finished = [(one.number, one.attempt, one.outcome) for one in done]
        remaining = next_trial(plan, finished, stands.unneeded)
        if remaining is None:
            break
        trial = remaining.trial
        d = noise_of(trial.block, trial.cell.level("clients") or "") + effect(trial)
        factor = 1 + (d if trial.cell.level("server") == "18" else 0.0)
        start = TRIAL * len(done)
        done.append(
            Attempt(
                trial.number,
                remaining.attempt,
                outcome(trial, remaining.attempt),
                {"tps": 1000.0 * factor},
                start,
                start + TRIAL,
            )
        )
    return done


def ending(plan: Plan, attempts: list[Attempt]) -> Ending | None:
    return standing(plan, attempts, Seconds(TRIAL * len(attempts))).ending


def clients_run(plan: Plan, attempts: list[Attempt]) -> list[str]:
    """The levels of each block that ran, as a word."""
    by_number = {trial.number: trial for trial in plan.trials}
    blocks: dict[int, set[str]] = {}
    for attempt in attempts:
        trial = by_number[attempt.number]
        blocks.setdefault(trial.block, set()).add(trial.cell.level("clients") or "")
    return ["".join(sorted(blocks[block])) for block in sorted(blocks)]


def test_a_fixed_design_needs_everything() -> None:
    stands = standing(make_plan(), [], Seconds(1e9))
    assert (stands.unneeded, stands.ending) == (frozenset(), None)


def test_it_stops_after_the_pair_that_decides_and_not_before() -> None:
    done = run(ONE, lambda _: 0.05)
    pairs = len(done) // 2
    assert 4 <= pairs <= 6
    assert ending(ONE, done) is Ending.DECIDED
    assert is_decided(contrasts(ONE, done)[0].overall)
    for shorter in range(2, len(done), 2):
        assert not is_decided(contrasts(ONE, done[:shorter])[0].overall)


def test_servers_that_are_equal_are_found_equivalent() -> None:
    done = run(ONE, lambda _: 0.0)
    assert ending(ONE, done) is Ending.DECIDED
    assert contrasts(ONE, done)[0].overall.kind.value == "equivalent"


def test_both_sides_of_a_pair_always_run() -> None:
    done = run(ONE, lambda _: 0.05, stop_after=7)
    stands = standing(ONE, done, Seconds(0.0))
    assert stands.ending is None
    partner = max(one.number for one in done) + 1
    assert partner not in stands.unneeded


def test_the_budget_ends_it_before_a_block_that_would_pass_it() -> None:
    plan = sequential(make_plan(160, clients=("4",)), budget=7 * TRIAL)
    done = run(plan, lambda trial: 0.3 * (trial.block % 2))
    assert len(done) == 6
    assert ending(plan, done) is Ending.BUDGET_SPENT
    assert standing(plan, [], Seconds(1e9)).ending is None, "the first block always runs"


def test_all_blocks_run_without_a_decision() -> None:
    plan = sequential(make_plan(20, clients=("4",)))
    done = run(plan, lambda trial: 0.3 * (trial.block % 2))
    assert len(done) == len(plan.trials)
    assert ending(plan, done) is Ending.BLOCKS_SPENT


def test_further_blocks_hold_only_the_levels_that_are_undecided() -> None:
    def effect(trial: PlannedTrial) -> float:
        wild = trial.cell.level("clients") == "4"
        return 0.05 + (0.04 * ((-1) ** trial.block) if wild else 0.0)

    done = run(SWEEP, effect)
    words = clients_run(SWEEP, done)
    assert words[0] == "124" and words[-1] == "4"
    assert words == sorted(words, key=lambda word: -len(word)), "a level that is out stays out"
    assert ending(SWEEP, done) is Ending.DECIDED
    (contrast,) = contrasts(SWEEP, done)
    assert is_decided(contrast.overall)
    assert all(is_decided(level.verdict) for level in contrast.levels)


def test_all_levels_run_until_the_primary_verdict_is_decided() -> None:
    def effect(trial: PlannedTrial) -> float:
        return {"1": 0.1, "2": -0.1}.get(trial.cell.level("clients") or "", 0.015)

    words = clients_run(SWEEP, run(SWEEP, effect))
    (contrast,) = contrasts(SWEEP, run(SWEEP, effect))
    assert words[: contrast.overall.pairs] == ["124"] * contrast.overall.pairs


def test_a_trial_that_does_not_count_takes_its_pair_out_and_is_not_repeated_when_decided() -> None:
    def outcome(trial: PlannedTrial, attempt: int) -> Outcome:
        return Outcome.DISTURBED if (trial.block, attempt) == (2, 1) else Outcome.COUNTED

    done = run(ONE, lambda _: 0.05, outcome=outcome)
    assert {one.attempt for one in done} == {1}
    assert ending(ONE, done) is Ending.DECIDED


def test_without_a_decision_lost_pairs_are_repeated_at_the_end() -> None:
    plan = sequential(make_plan(20, clients=("4",)))

    def outcome(trial: PlannedTrial, attempt: int) -> Outcome:
        return Outcome.FAILED if (trial.block, attempt) == (2, 1) else Outcome.COUNTED

    done = run(plan, lambda trial: 0.3 * (trial.block % 2), outcome=outcome)
    assert [one.attempt for one in done[-2:]] == [2, 2]
    assert len(done) == len(plan.trials) + 2


@cache
def whole_run(effect: float) -> tuple[Attempt, ...]:
    return tuple(run(SWEEP, lambda _: effect))


@pytest.mark.slow
@pytest.mark.parametrize("effect", [0.0, 0.03, 0.005])
@given(cut=st.integers(0, 120))
@settings(max_examples=25, deadline=None)
def test_a_campaign_cut_off_anywhere_ends_as_if_it_had_not_been(effect: float, cut: int) -> None:
    whole = list(whole_run(effect))
    resumed = run(SWEEP, lambda _: effect, attempts=whole[:cut])
    assert resumed == whole


def test_a_plan_of_an_older_teiten_is_a_fixed_design() -> None:
    """Ledgers from before sequential designs lack these keys."""
    plan = make_plan(4, clients=("1",))
    old = json.loads(codec.encode_plan(plan))
    del old["study"]["server_levels"], old["study"]["measure"]["sequential"]
    for trial in old["trials"]:
        del trial["copy"]
    assert codec.decode_plan(json.dumps(old)) == plan
    assert plan.study.measure.sequential is None


def test_beyond_delta_goes_on_until_the_interval_lies_on_one_side_of_delta() -> None:
    slower = -0.026  # δ is 2 %
    usual = contrasts(ONE, run(ONE, lambda _trial: slower))[0].overall
    assert is_decided(usual) and not usual.at_least_delta
    sequential = replace(ONE.study.measure.sequential or Sequential(None), beyond_delta=True)
    measure = replace(ONE.study.measure, sequential=sequential)
    plan = replace(ONE, study=replace(ONE.study, measure=measure))
    longer = contrasts(plan, run(plan, lambda _trial: slower))[0].overall
    assert longer.at_least_delta and longer.pairs > usual.pairs
    equal = contrasts(plan, run(plan, lambda _trial: 0.0))[0].overall
    assert is_decided(equal) and equal.pairs < 40
