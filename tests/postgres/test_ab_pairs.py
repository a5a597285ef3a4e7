"""``teiten ab`` in paired transactions with real servers: a parameter of Teiten's own tells each
side's transactions how long to sleep."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from teiten.cli.console import Console, Verbosity
from teiten.cli.doctor.measure import check_pairs
from teiten.cli.main import Session
from teiten.host.facts.cpus import allowed_processors
from teiten.host.facts.kept import known_check
from teiten.host.facts.kernel import boot_id
from teiten.host.facts.machine import read_host_facts
from teiten.ledger.campaigns import CampaignState, summarise
from teiten.model.pairs_check import BEYOND
from teiten.model.units import Seconds
from tests.fixtures.campaigns import Teiten, kill, step_of

native = pytest.importorskip("teiten_native", reason="the native part is not built: make native")
if not hasattr(native, "pairs_main"):
    pytest.skip("the native part is older than this test: make native", allow_module_level=True)

SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"
TWO_STARTS = (
    *("--clients", "2", "--duration", "1s", "--set", "scale=1", "--set", "changes_data=no"),
    *("--set", "settle=0s", "--set", "warmup=0s", "--set", "disturbed_share=100%"),
    *("--set", "rounds=yes"),
    *("--guc-a", "teiten.milliseconds=20", "--guc-b", "teiten.milliseconds=40", "--blocks", "2"),
)


def test_a_start_that_is_killed_runs_again_and_no_finished_one_is_lost(
    teiten: Teiten, server: str, tmp_path: Path
) -> None:
    script = tmp_path / "sleep.sql"
    script.write_text(SLEEP, encoding="ascii")
    process = teiten.start("ab", server, server, "--script", str(script), *TWO_STARTS)
    teiten.wait_for(process, step_of(3, "settle"))
    kill(process)
    before = {(one.number, one.attempt): one.metrics for one in teiten.trials()}
    assert set(before) == {(1, 1), (2, 1)}, "both sides of a start are one record"
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert summarise(teiten.campaign()).state is CampaignState.COMPLETE
    after = {(one.number, one.attempt): one for one in teiten.trials()}
    assert {number for number, _ in after} == {1, 2, 3, 4} and len(after) == 4
    assert all(after[key].metrics == metrics for key, metrics in before.items())
    assert not list(teiten.processes("postgres"))
    assert not list(teiten.workdir.clusters.iterdir())
    copied = [one.detail for one in teiten.events() if one.detail.get("step") == "restore"]
    assert {one["method"] for one in copied} == {"parallel copy"}, (
        "no round has the files of another"
    )
    assert len(copied) == len(after) + 2, "nor has a start that was begun again"
    assert {one.facts["boot"] for one in after.values()} == {boot_id()}
    for one in after.values():
        assert one.facts["way"] == "pairs" and one.metrics["transactions"] > 10
        assert not list((teiten.campaign() / "evidence").glob("*/pairs.npy")), "numbers are kept"
    found = {one["metric"]: one for one in json.loads(result.stdout)["contrasts"]}
    assert found["tps"]["pairs"] == found["latency_typical"]["pairs"] == 2
    sides: dict[str, list[dict[str, float]]] = {"A": [], "B": []}
    for planned in teiten.plan().trials:
        sides[planned.cell.level("server") or ""].append(after[planned.number, 1].metrics)
    for a, b in zip(sides["A"], sides["B"], strict=True):
        assert 0.4 < b["tps"] / a["tps"] < 0.75
        assert math.log(b["latency_typical"] / a["latency_typical"]) > math.log(1.4)
        assert a["measured_seconds"] == b["measured_seconds"]


def test_more_clients_than_processors_are_loaded_in_step_and_processor_time_is_beside_tps(
    teiten: Teiten, server: str
) -> None:
    clients = allowed_processors() + 1
    given = ("--script", str(teiten.script("reads")), *TWO_STARTS[2:14], "--blocks", "2")
    sides = (server, server, "--guc-b", "work_mem=8MB")
    result = teiten.run("ab", *sides, *given, "--clients", f"1,{clients}", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["way_by_clients"] == {"1": "pairs", str(clients): "in-step"}
    ways = {trial.load.connections: set[str]() for trial in teiten.plan().trials}
    for planned, trial in zip(teiten.plan().trials, teiten.trials(), strict=True):
        ways[planned.load.connections].add(trial.facts["way"])
    assert ways == {1: {"pairs"}, clients: {"in-step"}}
    assert "server_cpu_per_transaction" in found["metrics"]


def test_the_check_of_pairs_keeps_its_result_and_leaves_nothing(
    teiten: Teiten, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two starts of a second: what they came to is no matter here."""
    facts = read_host_facts(teiten.workdir.root)
    session = Session(teiten.workdir, Console(Verbosity.NORMAL, "never"))
    found = check_pairs(session, facts, "en", starts=2, seconds=Seconds(1.0), scale=1)
    assert [number.name for number in found.numbers] == ["throughput", "typical"] * 2
    at_cores, beyond = facts.cpu.logical, BEYOND * facts.cpu.logical
    assert [number.clients for number in found.numbers] == [at_cores] * 2 + [beyond] * 2
    assert known_check(teiten.workdir.caches, facts) == found
    assert "start 2 of 2" in capsys.readouterr().err
    assert not list(teiten.processes("postgres"))
    assert not list(teiten.workdir.clusters.iterdir())
