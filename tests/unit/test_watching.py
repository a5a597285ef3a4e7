"""How the progress of a sequential campaign is shown."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
import rich.console
from rich.live import Live

from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.sequential import decide_sequentially
from teiten.analysis.verdict.verdict import Rule
from teiten.cli.campaign.decision import standing_lines
from teiten.cli.campaign.progress import LiveWatcher, Pace, PlainWatcher
from teiten.cli.console import Console, Verbosity
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.model.metrics import Better
from teiten.model.plan import Plan
from teiten.model.trial import Attempt, Outcome, Problem, Trial
from teiten.model.units import Share
from tests.fixtures.invented_probes import Invented, probes_plan
from tests.fixtures.pairs import ab_plan
from tests.fixtures.synthetic_plan import make_plan

PLAN = ab_plan(duration="5s")


def attempts(ratios: list[float], plan: Plan = PLAN) -> list[Attempt]:
    return [
        Attempt(
            trial.number,
            1,
            Outcome.COUNTED,
            {
                "tps": 1000.0
                * (ratios[trial.block - 1] if trial.cell.level("server") == "18" else 1)
            },
            10.0 * trial.number,
            10.0 * trial.number + 9.0,
        )
        for trial in plan.trials
        if trial.block <= len(ratios)
    ]


def lines(ratios: list[float], plan: Plan = PLAN) -> list[str]:
    done = attempts(ratios, plan)
    found = standing_lines(plan, contrasts(plan, done, judged_only=True), done)
    return [line.replace("\u00a0", " ") for line in found]


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([], []),
        ([1.02], ["no interval yet; 1 pair, a decision needs 6 at least"]),
        ([1.02, 1.03], ["no interval yet; 2 pairs, about 4 more to a decision (72 s)"]),
        (
            [1.02, 1.06, 0.99, 1.03],
            ["no interval yet; 4 pairs, about 14 more to a decision (4 min)"],
        ),
        (
            [1.02, 1.06, 0.99, 1.03, 1.0, 1.04],
            [
                "+2.3 % (95 % interval −2.6 % to +7.4 %), inconclusive; 6 pairs,"
                " about 11 more to a decision (3 min)"
            ],
        ),
        (
            [1.05, 1.06, 1.05, 1.06, 1.055, 1.055],
            ["+5.5 % (95 % interval +4.6 % to +6.4 %), faster by at least 2 %; 6 pairs"],
        ),
    ],
)
def test_estimate_interval_verdict_pairs_and_the_way_to_a_decision(
    ratios: list[float], expected: list[str]
) -> None:
    assert lines(ratios) == expected


def test_a_decision_beyond_the_budget_is_said_to_be() -> None:
    (line,) = lines([1.2, 0.8, 1.3, 0.75, 1.1])
    assert line.endswith("beyond the budget)")


def test_a_decision_needs_pairs_for_the_level_that_a_comparison_has() -> None:
    plan = probes_plan(Invented(servers=("15", "18")))
    known = contrasts(plan, [], judged_only=True)
    writes = next(one for one in known if one.workload == "writes")
    begun = replace(writes, overall=replace(writes.overall, pairs=1))
    (line,) = standing_lines(plan, [begun], [])
    assert line.endswith("a decision needs 6 at least"), "5 at α of a primary statement"
    alpha, levels = comparison_alpha(plan, "writes", 4), len(writes.levels)
    ratios = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]
    for pairs, decides in ((5, False), (6, True)):
        rule = Rule(Share(0.02), alpha, Better.LOWER, worded=True)
        verdict = decide_sequentially(ratios[:pairs], rule, levels=levels)
        assert (verdict.effect is not None) == decides


def test_plain_lines_tell_a_change_once(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = PlainWatcher(Console(Verbosity.NORMAL, "never"), PLAN, "ab-1")
    watcher.stands(("one",))
    watcher.stands(("one",))
    watcher.stands(("two",))
    assert capsys.readouterr().err == "  one\n  two\n"


def test_the_live_view_shows_how_it_stands() -> None:
    watcher = LiveWatcher(Console(Verbosity.NORMAL, "never"), PLAN, "ab-1")
    watcher.stands(("+2.5 % (95 % interval +1 % to +4 %), faster; 7 pairs",))
    screen = rich.console.Console(file=io.StringIO(), width=100)
    screen.print(watcher.view())
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "+2.5 % (95 % interval +1 % to +4 %), faster; 7 pairs" in shown
    assert "at most" in shown


def ended(number: int, outcome: Outcome, attempt: int = 1) -> Trial:
    problems = () if outcome is Outcome.COUNTED else (Problem("other-load", "31% > 5%"),)
    return Trial(
        number=number,
        attempt=attempt,
        outcome=outcome,
        problems=problems,
        started_at=10.0 * number,
        finished_at=10.0 * number + 9.0,
        metrics={},
    )


def test_what_does_not_count_stays_on_the_terminal() -> None:
    watcher = LiveWatcher(Console(Verbosity.NORMAL, "never"), PLAN, "ab-1")
    screen = rich.console.Console(file=io.StringIO(), width=100, force_terminal=True)
    watcher.console.people = screen
    with Live(console=screen, get_renderable=watcher.view, transient=True):
        watcher.trial_finished(ended(1, Outcome.COUNTED))
        watcher.trial_finished(ended(2, Outcome.DISTURBED))
        assert "disturbed: other-load" not in "".join(watcher.recent)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count("disturbed: other-load (31% > 5%)") == 1


def test_the_time_left_knows_of_repeats_and_of_their_end() -> None:
    """On a clock that stands still: trials of 9 s each."""
    plan = make_plan()
    count, block = len(plan.trials), sum(trial.block == 1 for trial in plan.trials)
    pace = Pace(plan, clock=lambda: 0.0)
    for trial in plan.trials[:block]:
        pace.finished(trial, ended(trial.number, Outcome.DISTURBED), 9.0)
    assert pace.seconds_left() == pytest.approx(9.0 * (count - block))  # no repeat helps
    for trial in plan.trials[block:]:
        pace.finished(trial, ended(trial.number, Outcome.COUNTED), 9.0)
    likely = sum((block / count) ** times for times in range(plan.study.measure.repeats))
    assert pace.seconds_left() == pytest.approx(9.0 * block * likely)
    for trial in plan.trials[:block]:
        pace.finished(trial, ended(trial.number, Outcome.DISTURBED, 2), 9.0)
    assert pace.seconds_left() == 0.0  # a whole block once more in vain
