"""A sequential campaign from first trial to end: a real ledger, invented servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten import __version__
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.cli.campaign.carry_out import note_resumed
from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.host.system.paths import Workdir
from teiten.ledger.campaigns import CampaignState, summarise
from teiten.ledger.store import Ledger
from teiten.model.plan import PlannedTrial
from teiten.model.progress import Ending
from teiten.report.sentences import verdict_sentence
from tests.fixtures.pairs import ab_plan, carry_on, new_ledger, side, tps_with

PLAN = ab_plan(duration="5s")


def kinds(ledger: Ledger) -> list[str]:
    return [event.kind for event in ledger.campaign_events()]


def test_it_ends_as_soon_as_it_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with new_ledger(tmp_path / "made", PLAN) as ledger:
        carry_on(ledger, tps_with(0.05))
        analysis = analyse_campaign(ledger)
        assert kinds(ledger)[-2:] == ["decided", "campaign-finished"]
    (contrast,) = analysis.contrasts
    assert contrast.overall.kind is VerdictKind.FASTER
    assert 6 <= contrast.overall.pairs < 10 < PLAN.study.measure.blocks
    assert len(analysis.trials) == 2 * contrast.overall.pairs == len(analysis.due)
    assert analysis.complete and analysis.missing == 0 and analysis.finished_at is not None
    assert analysis.standing.ending is Ending.DECIDED
    said = capsys.readouterr().err
    assert "no interval yet; 1 pair, a decision needs 6 at least" in said
    assert "faster" in said.splitlines()[-1] or "faster" in said
    summary = summarise(tmp_path / "made")
    assert summary.state is CampaignState.COMPLETE
    assert summary.done < summary.planned


class StopAfter:
    """An interruption at the n-th look."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def whole(module_folder: Path) -> CampaignAnalysis:
    """A campaign that nothing has interrupted."""
    with new_ledger(module_folder / "made", PLAN) as ledger:
        carry_on(ledger, tps_with(0.03))
        return analyse_campaign(ledger)


@pytest.mark.parametrize("looks", [0, 5, 31, 64])
def test_a_campaign_that_was_interrupted_goes_on_to_the_same_verdict(
    tmp_path: Path, looks: int, whole: CampaignAnalysis
) -> None:
    with new_ledger(tmp_path / "cut", PLAN) as ledger:
        with pytest.raises(KeyboardInterrupt):
            carry_on(ledger, tps_with(0.03), check_interruption=StopAfter(looks))
        cut = analyse_campaign(ledger)
        assert not cut.complete and cut.standing.ending is None and cut.missing > 0
        ledger.record_event("resumed")
        carry_on(ledger, tps_with(0.03))
        resumed = analyse_campaign(ledger)
    assert resumed.contrasts == whole.contrasts
    assert [(trial.number, trial.attempt) for trial in resumed.trials] == [
        (trial.number, trial.attempt) for trial in whole.trials
    ]


def test_a_finished_campaign_that_is_resumed_runs_nothing(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "made", PLAN) as ledger:
        carry_on(ledger, tps_with(0.05))
        before = ledger.finished()
        ledger.record_event("resumed")
        carry_on(ledger, tps_with(0.05))
        assert ledger.finished() == before


def test_a_resumed_campaign_records_by_which_version(tmp_path: Path, workdir: Workdir) -> None:
    session = Session(workdir, Console(Verbosity.NORMAL, "never"))
    with new_ledger(tmp_path / "made", PLAN) as ledger:
        note_resumed(session, ledger)
        detail = ledger.campaign_events()[-1].detail
        assert detail["teiten"] == ledger.teiten_version == __version__


def test_disturbed_trials_are_excluded_and_made_up_for(tmp_path: Path) -> None:
    def fails(trial: PlannedTrial, _attempt: int) -> bool:
        return trial.number in (3, 8)

    with new_ledger(tmp_path / "made", PLAN) as ledger:
        carry_on(ledger, tps_with(0.05), fails=fails)
        analysis = analyse_campaign(ledger)
    (contrast,) = analysis.contrasts
    assert analysis.standing.ending is Ending.DECIDED
    assert contrast.overall.pairs == len(analysis.trials) // 2 - 2


def test_without_a_decision_it_ends_after_the_most_blocks(tmp_path: Path) -> None:
    plan = ab_plan(duration="5s", blocks=6)
    with new_ledger(tmp_path / "made", plan) as ledger:
        carry_on(ledger, tps_with(0.0, deviation=0.2))
        analysis = analyse_campaign(ledger)
        assert "blocks-spent" in kinds(ledger)
    assert analysis.complete
    assert analysis.contrasts[0].overall.kind is VerdictKind.INCONCLUSIVE
    assert analysis.contrasts[0].overall.smallest_detectable is not None


def test_a_side_with_settings_of_its_own_is_named_with_them(tmp_path: Path) -> None:
    plan = ab_plan(side("a", "18"), side("b", "18", "jit=off"), duration="5s")
    with new_ledger(tmp_path / "made", plan) as ledger:
        carry_on(ledger, tps_with(0.05))
        analysis = analyse_campaign(ledger)
    sentence = verdict_sentence(analysis, analysis.contrasts[0], "en")
    assert sentence.startswith("B (PostgreSQL 18.4, jit = off) is ")
    assert " faster than A (PostgreSQL 18.4) on “" in sentence


def test_the_ledger_gives_attempts_with_their_metric_or_without(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "made", ab_plan(duration="5s", blocks=2)) as ledger:
        carry_on(ledger, tps_with(0.05))
        found, other = ledger.attempts("tps"), ledger.attempts("latency_p99")
        trials = list(ledger.trials(series=False))
    assert [one.metrics["tps"] for one in found] == [trial.metrics["tps"] for trial in trials]
    assert [one.metrics for one in other] == [{}] * 4
    assert [(one.started_at, one.finished_at) for one in found] == [
        (trial.started_at, trial.finished_at) for trial in trials
    ]
