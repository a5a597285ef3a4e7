"""Latency's tail: what a constant leaves as it is, and what answer and discussion say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from teiten.kinds.pgbench.load.paired_numbers import PairedTimes, of_sides
from teiten.kinds.pgbench.present.groups import tail_sentences
from teiten.kinds.pgbench.present.paired import of_the_typical
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.plan import Plan
from teiten.model.trial import Trial
from teiten.report.view.kit import Kit
from tests.fixtures.analysed import counted
from tests.fixtures.drawn import analysed
from tests.unit.test_paired_way import paired

STARTS, PAIRS = 8, 4000
Times = npt.NDArray[np.float64]


def starts(plan: Plan, change: Callable[[Times], Times], count: int = STARTS) -> Iterator[Trial]:
    """Of servers whose transactions take a millisecond in the median; B's are changed."""
    chance = np.random.default_rng(5)
    for block in range(1, count + 1):
        a, b = chance.lognormal(np.log(1e6), 0.5, (2, PAIRS))
        sides = np.column_stack((a, change(b))).astype(np.uint64)
        zeros = np.zeros((PAIRS, 2), dtype=np.uint64)
        times = PairedTimes(
            zeros,
            sides,
            np.zeros((PAIRS, 2), dtype=bool),
            np.arange(PAIRS) % 2,
            np.zeros(PAIRS, dtype=int),
        )
        numbers = of_sides([times], 1, 8.0)
        assert numbers is not None
        for trial in plan.trials:
            if trial.block == block:
                side = int(trial.cell.level("server") == "18")
                yield counted(trial.number, numbers[side].metrics)


def answer_and_discussion(change: Callable[[Times], Times]) -> tuple[str, str]:
    plan = paired(budget="10m")
    analysis = analysed("pgbench", plan, tuple(starts(plan, change))).analysis
    kit = Kit(analysis, "en")
    judged = next(contrast for contrast in analysis.contrasts if contrast.metric.judged)
    assert len(pgbench_found(analysis).tails) == 1
    said = of_the_typical(kit.t, kit.names, analysis, judged)
    return said, " ".join(tail_sentences(kit, judged.workload))


def test_a_constant_gives_no_side_more_slow_transactions() -> None:
    """B waits a millisecond in each (commit_delay): its mean is nearer to its typical one."""
    answer, discussed = answer_and_discussion(lambda times: times + 1e6)
    assert "The two disagree" in answer and "Neither is shown to have the longer tail" in answer
    assert "is not shown to differ" in discussed


def test_slow_transactions_are_told_in_milliseconds_by_both_alike() -> None:
    chance = np.random.default_rng(7)

    def stalling(times: Times) -> Times:
        return np.where(chance.random(PAIRS) < 0.02, times * 20, times)

    answer, discussed = answer_and_discussion(stalling)
    assert "has the longer tail: p99 − p50 is" in answer
    assert "Latency's tail, p99 − p50, is longer on" in discussed
    difference = answer.split("(difference ")[1].split(")")[0]
    assert difference in discussed


@pytest.mark.parametrize("times", [0.5, 2.0])
def test_a_side_that_is_slower_in_proportion_differs_in_neither(times: float) -> None:
    answer, _ = answer_and_discussion(lambda each: each * times)
    assert "Its typical transaction is" in answer and "The two disagree" not in answer


def test_a_sequential_campaign_of_few_starts_says_nothing_of_tails() -> None:
    """Five starts have no verdict, so that "is not shown to differ" would say too much."""
    plan = paired(budget="10m")
    analysis = analysed("pgbench", plan, tuple(starts(plan, np.positive, count=5))).analysis
    assert [
        level.change.low for tail in pgbench_found(analysis).tails for level in tail.levels
    ] == [None]
    workload = plan.study.workloads[0].name
    assert not [*tail_sentences(Kit(analysis, "en"), workload)]
