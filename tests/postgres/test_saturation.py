"""``--find-saturation`` with real servers: foretold, killed, resumed, kept in the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.ledger.campaigns import find_campaign
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten, kill, step_of

FEW = ("--guc", "max_connections=12", "--find-saturation", "--name", "found")
"""Two connections are left for clients, so that the search has two steps at the most."""


@pytest.fixture
def study(teiten: Teiten, installation: Callable[[str], Installation]) -> Path:
    newest = installation("18")
    return teiten.study(newest, newest, workload="select-only", blocks=1)


def test_a_killed_search_is_resumed_and_its_campaign_follows(teiten: Teiten, study: Path) -> None:
    foretold = teiten.run("plan", study, *FEW, "--set", "conclusive=no", "--json")
    assert foretold.returncode == 0, foretold.stderr
    told = json.loads(foretold.stdout)
    assert told["upper_bound"] and told["provisional"]["clients"] == [1, 2]

    running = teiten.start("run", study, *FEW, "--set", "conclusive=no", "--yes")
    teiten.wait_for(running, step_of(1, "stop"))
    kill(running)
    resumed = teiten.run("resume", "last", "--json")
    assert resumed.returncode == 0, resumed.stderr

    campaigns = teiten.workdir.campaigns
    assert {path.parent.name for path in campaigns.glob(f"*/{FILE_NAME}")} == {
        "found",
        "found-provisional",
    }
    assert json.loads(resumed.stdout)["campaign"] == "found"
    with Ledger.open(find_campaign(campaigns, "found-provisional"), read_only=True) as ledger:
        tried = [(trial.number, trial.attempt) for trial in ledger.trials(series=False)]
        assert tried == [(1, 1), (2, 1)]
    with Ledger.open(find_campaign(campaigns, "found"), read_only=True) as ledger:
        (event,) = (one for one in ledger.events() if one.kind == "saturation")
        assert [one["clients"] for one in event.detail["probes"]] == [1, 2]
        chosen = tuple(map(str, event.detail["levels"]))
        assert {trial.cell.level("clients") for trial in ledger.plan.trials} == set(chosen)
        assert "--find-saturation" not in ledger.command
        assert f"clients={','.join(chosen)}" in ledger.command
    report = campaigns / "found" / "report" / "report.en.html"
    assert "Provisional run" in report.read_text(encoding="utf-8")

    again = teiten.run("resume", "found-provisional")
    assert again.returncode == 2 and "teiten resume found" in again.stderr


def test_fixed_clients_contradict_the_search(teiten: Teiten, study: Path) -> None:
    words = ("--find-saturation", "--set", "conclusive=no", "--set", "clients=1,2")
    refused = teiten.run("run", study, *words)
    assert refused.returncode == 2
    assert "--find-saturation chooses the clients" in refused.stderr
