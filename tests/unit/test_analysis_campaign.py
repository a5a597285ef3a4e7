"""A campaign as a whole: complete or not, its times, its trials as the report lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.across.fingerprint import machine_fingerprint
from teiten.analysis.campaign import wall_seconds
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.analysis.verdict.pairs import observe
from teiten.cli.campaign.read import analyse_campaign
from teiten.ledger.store import Ledger
from teiten.model.progress import RESUMED, compared_together, counting, open_trials
from teiten.model.trial import Event, Outcome, Problem, Trial
from tests.fixtures.analysed import analysed
from tests.fixtures.synthetic import (
    CAUTIONS,
    SERVER_FACTS,
    START,
    synthetic_trials,
    write_synthetic_ledger,
)
from tests.fixtures.synthetic_plan import HOST, make_plan

PLAN = make_plan(60)
TRIALS = tuple(synthetic_trials(PLAN, 10, 1))


def analysis(trials: Iterable[Trial], events: tuple[Event, ...] = ()) -> CampaignAnalysis:
    known = {"cautions": CAUTIONS, "server_facts": SERVER_FACTS, "created_at": START}
    return analysed(PLAN, trials, "n", events=events, **known)


def test_every_trial_is_listed_whatever_its_outcome() -> None:
    found = analysis(iter(TRIALS))
    assert [(view.number, view.attempt) for view in found.trials] == [
        (trial.number, trial.attempt) for trial in TRIALS
    ]
    assert {view.outcome for view in found.trials} == set(Outcome)
    first = found.trials[0]
    assert (first.workload, first.levels) == (
        PLAN.trials[0].cell.workload,
        PLAN.trials[0].cell.levels,
    )
    assert first.histogram[-1][1] == 1.0
    assert found.complete and found.missing == 0
    assert found.finished_at == max(trial.finished_at for trial in TRIALS)
    assert found.measured == pytest.approx(10 * len(TRIALS))


def test_a_campaign_that_was_cut_off_says_what_is_missing() -> None:
    found = analysis(TRIALS[:20])
    finished = [(trial.number, trial.attempt, trial.outcome) for trial in TRIALS[:20]]
    ended = {number for number, _ in counting(PLAN, finished)}
    assert not found.complete
    assert found.missing == 60 - len(ended)
    assert found.finished_at is None


def test_an_empty_campaign_is_analysed_too() -> None:
    found = analysis(())
    assert (found.missing, found.trials, found.measured, found.wall) == (60, (), 0.0, 0.0)
    assert all(contrast.overall.kind is VerdictKind.INCONCLUSIVE for contrast in found.contrasts)


def test_a_trial_has_ended_when_it_counted_or_was_repeated_in_vain() -> None:
    failed, counted = Outcome.FAILED, Outcome.COUNTED
    finished = [(1, 1, counted), (2, 1, failed), (2, 2, Outcome.DISTURBED), (2, 3, failed)]
    finished += [(3, 1, failed), (3, 2, counted), (4, 1, failed), (4, 2, failed)]
    left = {one.trial.number: one.attempt for one in open_trials(PLAN, finished)}
    assert left == {1: 3, 3: 3, 4: 3, **dict.fromkeys(range(5, 61), 1)}


def test_a_trial_whose_partner_was_disturbed_does_not_count_however_it_ended() -> None:
    number, other = (one.number for one in next(compared_together(PLAN)))
    one, partner = (next(trial for trial in TRIALS if trial.number == at) for at in (number, other))
    sound = [replace(one, attempt=at, outcome=Outcome.COUNTED, problems=()) for at in (1, 2)]
    steal = (Problem("steal", "9 %"),)
    first = replace(partner, attempt=1, outcome=Outcome.DISTURBED, problems=steal)
    second = replace(partner, attempt=2, outcome=Outcome.COUNTED, problems=())
    found = {
        (view.number, view.attempt): (view.outcome, view.problems)
        for view in analysis([sound[0], first, sound[1], second]).trials
    }
    beside = (Problem("partner", f"trial {other}: steal"),)
    assert found[number, 1] == (Outcome.DISTURBED, beside)
    assert found[other, 1] == (Outcome.DISTURBED, steal)
    assert found[number, 2] == found[other, 2] == (Outcome.COUNTED, ())
    values = observe(PLAN, [sound[0], first, sound[1]])
    assert [(view.side, view.block) for view in values] == [
        (PLAN.trials[number - 1].cell.level("server"), 1)
    ], "the repeat of the one, and nothing of the other"
    old = observe(PLAN, [sound[0], first, second])
    assert {view.side for view in old} == {PLAN.trials[other - 1].cell.level("server")}


def test_the_time_between_two_sessions_is_not_the_campaigns() -> None:
    def event(at: float, kind: str) -> Event:
        return Event(at, kind, None, None, {})

    events = (
        event(1000.0, "campaign-started"),
        event(1005.0, "trial-started"),
        event(9000.0, "resumed"),
        event(9010.0, "campaign-finished"),
    )
    assert wall_seconds(990.0, events, [1030.0, 9008.0]) == 30.0 + 10.0
    assert wall_seconds(990.0, (), []) == 0.0


def test_a_campaign_that_went_on_on_another_machine_has_a_caution() -> None:
    larger = replace(HOST, cpu=replace(HOST.cpu, logical=2 * HOST.cpu.logical))
    codes = {}
    for name, detail in (
        ("older", {}),
        ("same", {"machine": machine_fingerprint(HOST)}),
        ("larger", {"machine": machine_fingerprint(larger)}),
    ):
        resumed = Event(START + 1, RESUMED, None, None, detail)
        cautions = analysis(TRIALS, (resumed,)).cautions
        codes[name] = "resumed-elsewhere" in {caution.code for caution in cautions}
    assert codes == {"older": False, "same": False, "larger": True}


def test_a_campaign_that_another_version_resumed_has_a_caution() -> None:
    def values(*versions: str | None) -> list[dict[str, str]]:
        details = ({} if version is None else {"teiten": version} for version in versions)
        resumed = [Event(START + 1, RESUMED, None, None, detail) for detail in details]
        code = "resumed-by-another-version"
        cautions = analysis((), tuple(resumed)).cautions
        return [dict(caution.values) for caution in cautions if caution.code == code]

    began = analysis((), ()).teiten_version
    assert values() == values(None) == values(began, None) == []
    found = values("8.1", began, "8.0", "8.1")
    assert found == [{"began": began, "resumed": "8.1, 8.0"}]


def test_a_ledger_is_analysed_with_and_without_its_series(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    write_synthetic_ledger(folder, trials=60, samples=3_600)
    with Ledger.open(folder, read_only=True) as ledger:
        whole = analyse_campaign(ledger)
        light = analyse_campaign(ledger, series=False)
    assert whole.name == "made"
    assert [one.source for one in whole.trials[0].series] == [
        "pgbench",
        "os",
        "postgres",
        "waits",
        "disk:sda",
        "cpu:0",
    ]
    assert light.trials[0].series == ()
    assert whole.contrasts == light.contrasts
    read = whole.contrasts[0]
    assert (read.workload, read.metric.name) == ("read", "tps")
    assert read.overall.kind is VerdictKind.FASTER
    assert whole.server_facts == SERVER_FACTS
    assert whole.cautions == CAUTIONS
