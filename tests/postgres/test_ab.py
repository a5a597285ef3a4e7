"""``teiten ab`` and ``teiten null`` with real servers, in the classic way. The difference is
certain: a parameter of Teiten's own tells each side's transactions how long to sleep."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.ledger.campaigns import CampaignState, summarise
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten, kill, step_of

SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"
SHORT = (
    *("--way", "classic", "--clients", "1", "--duration", "1s"),
    *("--set", "scale=1", "--set", "changes_data=no"),
)
QUICK = (*SHORT, "--set", "settle=0s", "--set", "warmup=0s", "--set", "disturbed_share=100%")
SLOWER = ("--guc-a", "teiten.milliseconds=10", "--guc-b", "teiten.milliseconds=20")


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "sleep.sql"
    path.write_text(SLEEP, encoding="ascii")
    return str(path)


def test_a_side_that_sleeps_twice_as_long_is_slower_after_a_few_pairs(
    teiten: Teiten, server: str, script: str
) -> None:
    words = ("ab", server, server, *SLOWER, "--script", script, *QUICK, "--json")
    result = teiten.run(*words, "--fail-on", "slower", "--seed", "3")
    assert result.returncode == 5, result.stderr
    outcome = json.loads(result.stdout)
    assert outcome["verdict"] == "slower" and outcome["at_least_delta"]
    assert outcome["interval"][0] < 0.75 and outcome["interval"][1] > 0.4, "near a half"
    assert outcome["interval"][0] < outcome["ratio"] < outcome["interval"][1] < 1
    assert 4 <= outcome["pairs"] <= 8
    assert outcome["ending"] == "decided" and outcome["seconds"] > 0
    assert all(Path(path).stat().st_size > 10_000 for path in outcome["reports"])
    assert "error: --fail-on slower: B (PostgreSQL 18" in result.stderr
    assert summarise(teiten.campaign()).state is CampaignState.COMPLETE
    assert len(teiten.trials()) == 2 * outcome["pairs"]
    configurations = [
        (teiten.campaign() / dict(trial.evidence)["configuration"]).read_text()
        for trial in teiten.trials()
    ]
    for value in ("10", "20"):
        with_it = [text for text in configurations if f"teiten.milliseconds = '{value}'" in text]
        assert len(with_it) == outcome["pairs"]
    assert [event.kind for event in teiten.events()][-2:] == ["decided", "campaign-finished"]
    assert not list(teiten.workdir.clusters.iterdir())


def test_a_killed_one_goes_on_where_it_was(teiten: Teiten, server: str, script: str) -> None:
    process = teiten.start("ab", server, server, *SLOWER, "--script", script, *QUICK)
    teiten.wait_for(process, step_of(4, "measure"))
    kill(process)
    assert summarise(teiten.campaign()).state is CampaignState.INTERRUPTED
    before = {(trial.number, trial.attempt) for trial in teiten.trials()}
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    (contrast, *_) = json.loads(result.stdout)["contrasts"]
    assert contrast["verdict"] == "slower"
    trials = [(trial.number, trial.attempt) for trial in teiten.trials()]
    assert before < set(trials) and len(set(trials)) == len(trials)


def test_too_few_pairs_stay_inconclusive_without_a_number(
    teiten: Teiten, server: str, script: str
) -> None:
    words = ("ab", server, server, *SLOWER, "--script", script, *QUICK, "--blocks", "2", "--json")
    result = teiten.run(*words)
    assert result.returncode == 0, result.stderr
    assert "caution: budget: At most 2 of the " in result.stderr
    outcome = json.loads(result.stdout)
    assert (outcome["verdict"], outcome["ratio"], outcome["interval"]) == (
        "inconclusive",
        None,
        None,
    )
    assert (outcome["reason"], outcome["ending"]) == ("infinite-interval", "blocks-spent")


def test_a_server_against_itself_leaves_its_noise_for_plans_and_reports(
    teiten: Teiten, server: str, installation: Callable[[str], Installation]
) -> None:
    words = (*SHORT, "--set", "settle=0s", "--set", "disturbed_share=100%")
    result = teiten.run(
        "null", server, "--script", teiten.script("reads"), *words, "--blocks", "4", "--json"
    )
    assert result.returncode == 0, result.stderr
    (noise,) = json.loads(result.stdout)["noise"]
    assert noise["pairs"] == 4 and noise["deviation"] > 0
    assert 0 <= noise["false_alarms"] <= 1
    assert set(noise["pairs_needed"]) == {"0.01", "0.02", "0.05"}
    (kept,) = teiten.workdir.caches.glob("noise-*.json")
    assert json.loads(kept.read_text())["campaign"] == noise["campaign"]
    restored = [
        event.trial
        for event in teiten.events()
        if event.kind == "step" and event.detail.get("restored")
    ]
    assert restored == [2], "the rehearsal made the data directory of the first side"
    one = installation("18")
    study = teiten.study(one, one, workload="reads")
    planned = teiten.run("plan", study, "--json")
    assert planned.returncode == 0, planned.stderr
    assert [one["campaign"] for one in json.loads(planned.stdout)["noise"]] == [noise["campaign"]]
