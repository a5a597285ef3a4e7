"""Pairs whose servers run side by side: what is planned, in which order it is done, what counts."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from teiten.analysis.model.replication import REPLICATION, NoiseSource, Replication
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.replication import slices_by_start
from teiten.analysis.verdict.stopping import standing
from teiten.cli.campaign.decision import standing_lines
from teiten.cli.campaign.noise import against_itself
from teiten.cli.campaign.progress import PlainWatcher
from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.console import Console, Verbosity
from teiten.errors import MachineError, UsageError
from teiten.execute.scheduler import run_campaign
from teiten.execute.sites.attached.site import AttachedSite
from teiten.execute.sites.contract import Site
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import Ending
from teiten.model.text import Language
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import GIB, Bytes, Seconds
from teiten.plan.checks import check
from teiten.plan.dry import DryExecutor
from teiten.report.forms import render_markdown
from teiten.report.render.markdown import TEXT
from teiten.study.sides import Shared, null_study
from tests.fixtures.analysed import counted
from tests.fixtures.pairs import ab_plan, carry_on, new_ledger, side, tps_with
from tests.fixtures.planned import FOLDER, expanded, planned
from tests.fixtures.synthetic_plan import HOST

SLICED = ("slices=5", "settle=0s", "warmup=1s")


def sliced(*overrides: str, blocks: int = 6, **given: object) -> Plan:
    given = {"duration": "5s", "overrides": (*SLICED, *overrides), "blocks": blocks, **given}
    return ab_plan(**given)  # type: ignore[arg-type]


def test_the_order_is_in_the_plan_and_drawn_anew_for_each_pair() -> None:
    plan = sliced()
    pairs = {plan.pair_of(trial) for trial in plan.trials}
    assert all(len(pair) == 2 for pair in pairs)
    assert len({pair[0].turns for pair in pairs}) > 1
    for first, second in pairs:
        assert sorted(first.turns + second.turns) == list(range(1, 11))
        assert first.seed == second.seed and first.copy != second.copy
    assert [trial.restart for trial in plan.trials] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert sliced() == plan


def test_sides_that_run_at_the_same_time_rest_once_after_the_last_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever their servers are: what a site does in this step is the contract's."""
    plan = sliced()
    slept: list[float] = []
    monkeypatch.setattr("teiten.execute.sites.contract.time.sleep", slept.append)
    measure = replace(plan.study.measure, settle=Seconds(7.0))
    for trial in plan.pair_of(plan.trials[0]):
        of_trial: Any = SimpleNamespace(
            _bench=SimpleNamespace(plan=plan), _trial=trial, _measure=measure
        )
        Site._rest(of_trial)
    assert slept == [0.0, 7.0]
    assert "settle" not in vars(AttachedSite), "it has no rest of its own"


def test_servers_that_change_no_data_stay_up_for_as_many_pairs_as_the_study_says() -> None:
    starts = [trial.restart for trial in sliced("restart_every=3").trials]
    assert starts == [1] * 6 + [2] * 6
    assert sliced("restart_every=3").pairs_of_a_start == 3


@pytest.mark.parametrize(
    "plan",
    [
        sliced("restart_every=3", script="update"),
        planned("slices=2", "restart_every=3", "workloads=read", "clients=1,2"),
    ],
    ids=["changed data are restored before every trial", "in a sweep another level comes next"],
)
def test_where_servers_cannot_stay_up_every_pair_has_its_start(plan: Plan) -> None:
    starts = Counter(trial.restart for trial in plan.trials)
    assert set(starts.values()) == {2}


def test_one_server_with_two_settings_needs_two_data_directories() -> None:
    given = (side("a", "18"), side("b", "18", "work_mem=64MB"))
    together = ab_plan(*given, overrides=("slices=2",), duration="4s", blocks=4)
    assert {trial.copy for trial in together.trials} == {1, 2}
    assert {trial.copy for trial in ab_plan(*given, blocks=4).trials} == {1}


def test_slices_are_whole_seconds() -> None:
    with pytest.raises(UsageError, match=r"5 slices do not divide the duration of 7 s"):
        sliced(duration="7s")
    derived = ab_plan(overrides=("slices=4",), budget="7m")
    duration = derived.study.measure.duration
    assert duration is not None and duration % 4 == 0


def test_the_memory_of_both_servers_is_counted() -> None:
    given = (side("a", "18", "shared_buffers=3GB"), side("b", "18", "shared_buffers=4GB"))
    alone = ab_plan(*given, blocks=4).needs.memory
    together = ab_plan(*given, blocks=4, overrides=("slices=2",), duration="4s")
    assert 3 * GIB < together.needs.memory - alone < 4 * GIB
    with pytest.raises(MachineError, match=r"2 servers side by side, each with up to 4\.0 GiB"):
        check(together, HOST, FOLDER)


def test_the_disk_of_both_changed_clusters_is_counted() -> None:
    alone = ab_plan(script="update", blocks=4, duration="4s")
    together = ab_plan(script="update", blocks=4, overrides=("slices=2",), duration="4s")
    assert together.needs.disk > alone.needs.disk + Bytes(alone.templates[0].expected_bytes)


def steps(ledger_folder: Path, plan: Plan) -> list[tuple[int, str]]:
    ledger = new_ledger(ledger_folder, plan)
    watcher = PlainWatcher(Console(Verbosity.QUIET, "never"), plan, "dry")
    run_campaign(ledger, DryExecutor(plan), watcher)
    found = [
        (event.trial or 0, event.detail["step"])
        for event in ledger.events()
        if event.kind == "step"
    ]
    ledger.close()
    return found


def test_each_step_is_done_for_both_sides_and_slices_take_turns(tmp_path: Path) -> None:
    plan = sliced(blocks=2)
    found = steps(tmp_path / "dry", plan)
    pair = plan.trials[:2]
    before = ("restore", "caches", "start", "prewarm", "settle", "warm-up")
    after = ("collect", "check", "stop")
    turns = sorted((place, trial.number) for trial in pair for place in trial.turns)
    assert found[: len(found) // 2] == [
        *((trial.number, step) for step in before for trial in pair),
        *((number, "measure") for _, number in turns),
        *((trial.number, step) for step in after for trial in pair),
    ]


def test_dry_steps_tell_what_stays_up(tmp_path: Path) -> None:
    plan = sliced("restart_every=2", blocks=4)
    executor = DryExecutor(plan)
    ledger = new_ledger(tmp_path / "dry", plan)
    watcher = PlainWatcher(Console(Verbosity.QUIET, "never"), plan, "dry")
    run_campaign(ledger, executor, watcher)
    ledger.close()
    assert sum(action.startswith("start PostgreSQL") for action in executor.actions) == 4
    assert sum(action == "stop the server" for action in executor.actions) == 4
    assert sum("leave the server running" in action for action in executor.actions) == 4


def test_a_pair_counts_as_a_whole_and_is_repeated_as_a_whole(tmp_path: Path) -> None:
    plan = sliced("repeats=1", blocks=4)
    ledger = new_ledger(tmp_path / "ab", plan)

    def fails(trial: PlannedTrial, attempt: int) -> bool:
        return trial.number == 3 and attempt == 1

    carry_on(ledger, tps_with(0.0, 0.2), fails=fails)
    trials = list(ledger.trials())
    ledger.close()
    first = {trial.number: trial for trial in trials if trial.attempt == 1}
    partner = first[4]
    assert (first[3].outcome, partner.outcome) == (Outcome.DISTURBED, Outcome.DISTURBED)
    assert [(problem.code, problem.detail) for problem in partner.problems] == [
        ("partner", "trial 3: steal")
    ]
    again = [trial.number for trial in trials if trial.attempt == 2]
    assert again in ([3, 4], []), "a sequential campaign may end without a repeat"


@pytest.mark.parametrize("cut", range(1, 40, 6))
def test_a_campaign_cut_off_inside_a_pair_runs_that_pair_again_and_no_other(
    tmp_path: Path, cut: int
) -> None:
    plan = sliced(blocks=4)
    ledger = new_ledger(tmp_path / "ab", plan)
    looks = iter(range(10**6))

    def interrupt() -> None:
        if next(looks) == cut:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_on(ledger, tps_with(0.0, 0.2), check_interruption=interrupt)
    kept = [(number, attempt) for number, attempt, _ in ledger.finished()]
    assert len(kept) % 2 == 0
    carry_on(ledger, tps_with(0.0, 0.2))
    finished = [(number, attempt) for number, attempt, _ in ledger.finished()]
    ledger.close()
    assert finished[: len(kept)] == kept
    assert len(set(finished)) == len(finished)


def measured(
    plan: Plan, folder: Path, tps_of: Callable[[PlannedTrial], float]
) -> list[tuple[int, ...]]:
    ledger = new_ledger(folder, plan)
    carry_on(ledger, tps_of)
    (result,) = contrasts(plan, ledger.attempts("tps"), judged_only=True)
    trials = len(ledger.finished())
    ledger.close()
    return [(result.overall.pairs, trials)]


def test_pairs_that_share_a_start_count_as_one(tmp_path: Path) -> None:
    """Where the start decides all, its pairs agree, and are no evidence of their own."""

    def tps_of(trial: PlannedTrial) -> float:
        start = random.Random(trial.restart).gauss(0.0, 0.05)
        return 1000.0 * (1 + start * (trial.cell.levels[0][1] == "18"))

    plan = sliced("restart_every=5", blocks=20)
    assert measured(plan, tmp_path / "ab", tps_of) == [(4, 40)]


def test_the_verdict_of_shared_starts_is_that_of_their_means(tmp_path: Path) -> None:
    plan = sliced("restart_every=2", blocks=8)
    ledger = new_ledger(tmp_path / "ab", plan)
    carry_on(ledger, tps_with(0.0, 0.05))
    attempts = ledger.attempts("tps")
    ledger.close()
    (result,) = contrasts(plan, attempts, judged_only=True)
    assert result.overall == result.levels[0].verdict
    assert len(result.levels[0].old_values) == 8
    assert result.overall.pairs == 4
    (cut,) = contrasts(plan, attempts[:6], judged_only=True)
    assert cut.overall.pairs == 1, "the second start is not complete"


def test_a_start_whose_pairs_do_not_all_fit_into_the_budget_is_not_begun() -> None:
    plan = sliced("restart_every=4", blocks=8, budget="10m")
    times = 40.0
    attempts = [
        Attempt(
            trial.number,
            1,
            Outcome.COUNTED,
            {"tps": 1000.0 + trial.number},
            times * trial.block,
            times * (trial.block + 1),
        )
        for trial in plan.trials[:8]
    ]
    assert standing(plan, attempts, Seconds(600 - 4 * times + 1)).ending is Ending.BUDGET_SPENT
    assert standing(plan, attempts, Seconds(600 - 4 * times - 1)).ending is None
    inside = standing(plan, attempts[:6], Seconds(600 - times - 1))
    assert inside.ending is None, "one more pair ends the start"


def test_how_it_stands_is_told_in_starts(tmp_path: Path) -> None:
    plan = sliced("restart_every=2", blocks=8)
    ledger = new_ledger(tmp_path / "ab", plan)
    carry_on(ledger, tps_with(0.0, 0.2))
    attempts = ledger.attempts("tps")
    ledger.close()
    (line,) = standing_lines(plan, contrasts(plan, attempts[:8], judged_only=True), attempts[:8])
    assert line.startswith("no interval yet; 2 starts of 2 pairs, ")


def test_slices_of_a_null_campaign_tell_the_parts_of_the_noise() -> None:
    plan = sliced("restart_every=2", blocks=8)
    trials = [
        counted(trial.number, {}, facts={"slices": [{"tps": 1000.0 * (1 + (trial.copy == 2))}] * 5})
        for trial in plan.trials[:7]
    ]
    starts = slices_by_start(plan, trials)
    assert [len(start) for start in starts] == [10, 5], "a pair that lacks a side tells nothing"
    assert starts[0] == pytest.approx([math.log(2)] * 10)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            (
                "5 s measured in 5 slices of 1 s",
                "their trimmed mean (the least and the greatest 1 left out)",
                "2 pairs share a start and count as one pair",
                "chosen by a pilot that does not count (3 starts of both servers, 5 slices",
                "only one server is under load at a time",
            ),
        ),
        ("ja", ("トリム平均を併記する", "2組が1回の起動を共有", "予備測定", "負荷は一度に1台")),
    ],
)
def test_the_report_tells_how_it_was_measured(
    tmp_path: Path, language: Language, words: tuple[str, ...]
) -> None:
    plan = sliced("restart_every=2", blocks=8)
    chosen = Replication(
        NoiseSource.PILOT, 0.01, 0.03, Seconds(4.2), Seconds(5.0), 5, 2, 9, starts=3, seen=5,
        took=Seconds(50.0),
    )  # fmt: skip
    with new_ledger(tmp_path / "ab", plan) as ledger:
        ledger.record_event(REPLICATION, **asdict(chosen))
        carry_on(ledger, tps_with(0.0, 0.2))
        analysis = analyse_campaign(ledger)
    assert analysis.replication == chosen
    text = render_markdown(analysis, language)[TEXT].decode().replace("\u00a0", " ")
    for word in words:
        assert word in text


def test_only_sides_that_are_the_same_in_everything_measure_the_noise() -> None:
    for slices in (1, 2):
        study = null_study("18", Shared(clients="2", duration="4s", slices=slices))
        assert against_itself(expanded(study))
    given = (side("a", "18"), side("b", "18", "work_mem=64MB"))
    for overrides in ((), ("slices=2",)):
        assert not against_itself(ab_plan(*given, overrides=overrides, duration="4s"))
        assert not against_itself(ab_plan(overrides=overrides, duration="4s"))
