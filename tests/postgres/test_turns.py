"""Three sides in paired transactions with real servers: a parameter of Teiten's own tells each
side's transactions how long to sleep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teiten.host.facts.cpus import allowed_processors
from teiten.ledger.campaigns import CampaignState, summarise
from teiten.model.trial import Trial
from tests.fixtures.campaigns import Teiten, kill, step_of

native = pytest.importorskip("teiten_native", reason="the native part is not built: make native")
if not hasattr(native, "pairs_main"):
    pytest.skip("the native part is older than this test: make native", allow_module_level=True)

PARAMETER = "guc:teiten.milliseconds"
MILLISECONDS = {"20": 20.0, "40": 40.0, "10": 10.0}
SLEEP = """SELECT pg_sleep(
    CASE WHEN count(*) = 3 THEN current_setting('teiten.milliseconds')::float8 ELSE 20 END / 1000)
 FROM pg_stat_activity WHERE backend_type = 'client backend' AND query = '';
"""
"""As long as is said where three connections do nothing, and else alike on all sides."""
SMALL = (
    *("way=pairs", "workloads=read", "scale=1", "settle=0s", "warmup=0s", "duration=1s"),
    *("blocks=2", "disturbed_share=100%", f"contrast={PARAMETER}"),
    f"{PARAMETER}={','.join(MILLISECONDS)}",
)


def test_three_sides_share_a_start_which_is_run_again_where_it_is_killed(
    teiten: Teiten, server: str, tmp_path: Path
) -> None:
    script = tmp_path / "sleep.sql"
    script.write_text(SLEEP, encoding="ascii")
    clients = f"1,{allowed_processors() + 1}"
    workload = (f"workloads.read.script={script}", "workloads.read.idle_connections=3")
    given = (*SMALL, f"server={server}", f"clients={clients}", *workload)
    settings = [word for setting in given for word in ("--set", setting)]
    process = teiten.start("run", "observe", "--profile", "quick", *settings, "--yes")
    teiten.wait_for(process, step_of(5, "measure"))
    kill(process)
    before = {(trial.number, trial.attempt): trial.metrics for trial in teiten.trials()}
    assert {number for number, _ in before} == {1, 2, 3}, "all sides of a start are one record"
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert summarise(teiten.campaign()).state is CampaignState.COMPLETE
    after = {(trial.number, trial.attempt): trial for trial in teiten.trials()}
    assert len(after) == 12, "no trial is run twice"
    assert all(after[key].metrics == metrics for key, metrics in before.items())
    assert not list(teiten.processes("postgres"))
    assert not list(teiten.workdir.clusters.iterdir())
    starts: dict[int, dict[str, Trial]] = {}
    for planned in teiten.plan().trials:
        level = planned.cell.level(PARAMETER) or ""
        starts.setdefault(planned.restart, {})[level] = after[planned.number, 1]
    assert len(starts) == 4
    assert {trial.facts["way"] for sides in starts.values() for trial in sides.values()} == {
        "pairs",
        "in-step",
    }
    for sides in starts.values():
        assert {trial.facts["pairs"] for trial in sides.values()} == {sides["20"].facts["pairs"]}
        by_speed = sorted(sides, key=lambda level: sides[level].metrics["tps"], reverse=True)
        assert by_speed == sorted(sides, key=lambda level: MILLISECONDS[level])
    found = json.loads(result.stdout)["contrasts"]
    judged = [each for each in found if each["metric"] == "tps"]
    assert {(each["old"], each["new"]) for each in judged} == {("20", "40"), ("20", "10")}
    assert {each["pairs"] for each in judged} == {2}


def test_lookups_are_counted_on_each_server_of_a_start(teiten: Teiten, server: str) -> None:
    given = (
        *("way=pairs", "scale=1", "settle=0s", "warmup=0s", "duration=2s", "blocks=2"),
        *("layout=visible-100,visible-0,vacuumed", "clients=1", "disturbed_share=100%"),
        f"server={server}",
    )
    settings = [word for setting in given for word in ("--set", setting)]
    result = teiten.run("run", "index-only", "--profile", "quick", *settings, "--yes")
    assert result.returncode == 0, result.stderr
    fetched: dict[str, list[float]] = {}
    for planned, trial in zip(teiten.plan().trials, teiten.trials(), strict=True):
        level = planned.cell.level("layout") or ""
        fetched.setdefault(level, []).append(trial.metrics["heap_fetches_per_lookup"])
        lookups, transactions = trial.metrics["index_lookups"], trial.metrics["transactions"]
        assert lookups == pytest.approx(transactions, abs=20), "those of this side's load alone"
    assert max(fetched["visible-100"]) < 0.1 < 0.5 < min(fetched["visible-0"])
    assert max(fetched["vacuumed"]) < 0.1
