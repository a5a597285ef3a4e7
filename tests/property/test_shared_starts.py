"""Pairs that share a start of their servers are one piece of evidence, and never half of one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.analysis.verdict.pairs import by_start
from teiten.model.plan import Plan
from teiten.model.trial import Attempt, Outcome
from tests.fixtures.pairs import ab_plan

PLANS = {
    shared: ab_plan(duration="2s", overrides=("slices=2", f"restart_every={shared}"), blocks=12)
    for shared in (1, 2, 3, 5)
}
D = st.floats(-1.0, 1.0)


def tried(plan: Plan, blocks: set[int]) -> list[Attempt]:
    return [
        Attempt(trial.number, 1, Outcome.COUNTED, {})
        for trial in plan.trials
        if trial.block in blocks
    ]


@given(
    shared=st.sampled_from(sorted(PLANS)),
    values=st.dictionaries(st.integers(1, 12), D, max_size=12),
    run=st.integers(0, 12),
)
@settings(deadline=None)
def test_each_complete_start_is_the_mean_of_its_pairs(
    shared: int, values: dict[int, float], run: int
) -> None:
    plan = PLANS[shared]
    ran = set(range(1, run + 1))
    d = {block: value for block, value in values.items() if block in ran}
    found = by_start(plan, tried(plan, ran), d)
    starts = {trial.block: trial.restart for trial in plan.trials}
    if shared == 1:
        assert found == d
        return
    whole = [
        [block for block in starts if starts[block] == start]
        for start in sorted(set(starts.values()))
    ]
    complete = [blocks for blocks in whole if set(blocks) <= ran]
    expected = {blocks[0]: [d[block] for block in blocks if block in d] for blocks in complete}
    assert found.keys() == {first for first, seen in expected.items() if seen}
    for first, mean in found.items():
        assert mean == pytest.approx(math.fsum(expected[first]) / len(expected[first]))


@given(d=st.lists(D, min_size=12, max_size=12))
@settings(deadline=None)
def test_exchanging_the_sides_mirrors_every_start(d: list[float]) -> None:
    plan = PLANS[3]
    attempts = tried(plan, set(range(1, 13)))
    one = by_start(plan, attempts, dict(enumerate(d, start=1)))
    other = by_start(plan, attempts, {block: -value for block, value in enumerate(d, start=1)})
    assert other == {block: -value for block, value in one.items()}
    assert math.fsum(one.values()) / 4 == pytest.approx(math.fsum(d) / 12, abs=1e-12)
