"""Both servers of a pair run at the same time, and take turns under load."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.model.installation import Installation
from teiten.model.trial import Outcome, Trial
from tests.fixtures.campaigns import PATIENCE, Teiten, kill, step_of
from tests.fixtures.servers import left_processes, servers

SLEEP = "SELECT pg_sleep(current_setting('teiten.milliseconds')::float8 / 1000);\n"
QUICK = ("--clients", "1", "--set", "scale=1", "--set", "settle=0s", "--set", "warmup=0s")
CALM = ("--set", "changes_data=no", "--set", "disturbed_share=100%")
FIVE_SLICES = (*QUICK, "--duration", "5s", "--set", "slices=5")
TWO_SLICES = (*QUICK, "--duration", "2s", "--set", "slices=2")
SLOWER = ("--guc-a", "teiten.milliseconds=10", "--guc-b", "teiten.milliseconds=20")


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "sleep.sql"
    path.write_text(SLEEP, encoding="ascii")
    return str(path)


def steps(teiten: Teiten, step: str) -> list[int]:
    """The trials of a step, in the order in which it was done; without those of a warm server."""
    return [
        event.trial or 0
        for event in teiten.events()
        if event.kind == "step" and event.detail["step"] == step and "running" not in event.detail
    ]


def counted(teiten: Teiten) -> list[Trial]:
    """On a machine that is very busy, some only when they are repeated."""
    return [trial for trial in teiten.trials() if trial.outcome is Outcome.COUNTED]


def test_two_versions_take_turns_and_stay_up_for_two_pairs(
    teiten: Teiten, installation: Callable[[str], Installation], script: str
) -> None:
    old, new = servers()[0], installation("18")
    sides = (str(old.bin_directory), str(new.bin_directory))
    words = ("ab", *sides, *SLOWER, "--script", script, *TWO_SLICES, *CALM, "--blocks", "4")
    result = teiten.run(*words, "--set", "restart_every=2", "--json", "--seed", "5")
    assert result.returncode == 0, result.stderr
    outcome = json.loads(result.stdout)
    assert outcome["pairs"] == 2, "two pairs share a start and count as one"
    trials = counted(teiten)
    assert [trial.number for trial in trials] == list(range(1, 9))
    if {trial.attempt for trial in teiten.trials()} == {1}:  # nothing else took the machine away
        assert sorted(steps(teiten, "start")) == [1, 2, 5, 6]
    measured = steps(teiten, "measure")
    assert set(Counter(measured).values()) <= {2, 4, 6}
    for at in range(0, len(measured), 2):
        assert measured[at] != measured[at + 1], "each round holds a slice of both sides"
    versions = {trial.facts["version"].split()[1] for trial in trials}
    assert versions == {str(old.version), str(new.version)}
    for trial in trials:
        assert "data_checksums" in trial.facts, "known of each, whichever trial started its server"
        slices = [one["tps"] for one in trial.facts["slices"]]
        assert min(slices) <= trial.metrics["tps"] <= max(slices)
        assert "tps_trimmed" not in trial.metrics, "two slices cannot be trimmed"
        assert trial.metrics["measured_seconds"] > 1
        assert trial.metrics["latency_p50"] <= trial.metrics["latency_p99"]
        assert 0 < trial.metrics["server_cpu_share"] <= 1
        folder = teiten.campaign() / Path(dict(trial.evidence)["pgbench output"]).parent
        assert (folder / "pgbench-output.txt").read_text().count("tps = ") == 2
        assert not list(folder.glob("slice-*"))
        assert (folder / "sleep.sql").read_text() == SLEEP
        assert (folder / "server.log").read_text().count("database system is ready") <= 1
    assert not list(teiten.workdir.clusters.iterdir())
    assert not left_processes([teiten.workdir.root])


def test_changed_data_are_restored_on_both_sides_before_every_pair(
    teiten: Teiten, installation: Callable[[str], Installation]
) -> None:
    server = str(installation("18").bin_directory)
    words = ("ab", server, server, "--guc-b", "work_mem=5MB", "--script", teiten.script("paced"))
    options = (*TWO_SLICES, "--set", "disturbed_share=100%", "--set", "restart_every=2")
    result = teiten.run(*words, *options, "--blocks", "2")
    assert result.returncode == 0, result.stderr
    assert steps(teiten, "restore")[:4] == [1, 2, 3, 4]
    for trial in counted(teiten):
        assert "tps_trimmed" not in trial.metrics, "stalls are part of what is measured"
        assert trial.metrics["wal_bytes"] > 0
    assert not list(teiten.workdir.clusters.iterdir())


def test_a_kill_in_a_pair_loses_that_pair_alone(
    teiten: Teiten, installation: Callable[[str], Installation], script: str
) -> None:
    server = str(installation("18").bin_directory)
    words = ("ab", server, server, *SLOWER, "--script", script, *FIVE_SLICES, *CALM)
    process = teiten.start(*words, "--blocks", "2", "--set", "restart_every=2")
    teiten.wait_for(process, step_of(4, "measure"))
    assert len({parent.pid for parent in teiten.postmasters()}) == 2, "two servers run"
    kill(process)
    wait_until_nothing_runs(teiten)
    before = teiten.trials()
    assert [(trial.number, trial.attempt) for trial in before] == [(1, 1), (2, 1)]
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert [one for one in teiten.trials() if one in before] == before
    assert {trial.number for trial in counted(teiten)} == {1, 2, 3, 4}
    assert set(steps(teiten, "start")) == {1, 2, 3, 4}
    for trial in counted(teiten):
        slices = sorted(one["tps"] for one in trial.facts["slices"])
        assert trial.metrics["tps_trimmed"] == pytest.approx(sum(slices[1:-1]) / 3)
        assert slices[0] <= trial.metrics["tps"] <= slices[-1]
    assert not list(teiten.workdir.clusters.iterdir())


def test_a_pilot_chooses_the_slices_and_its_pairs_do_not_count(
    teiten: Teiten, installation: Callable[[str], Installation], script: str
) -> None:
    server = str(installation("18").bin_directory)
    words = ("ab", server, server, *SLOWER, "--script", script, *QUICK, *CALM, "--json")
    result = teiten.run(
        *words, "--way", "classic", "--budget", "4m", "--blocks", "2", "--fail-on", "inconclusive"
    )
    assert result.returncode == 5, result.stderr
    outcome = json.loads(result.stdout)
    assert outcome["chosen_by"] == "pilot"
    assert outcome["slices"] == outcome["duration"] >= 5
    assert "pilot: 2 pairs that do not count" in result.stderr
    (chosen,) = [event.detail for event in teiten.events() if event.kind == "replication"]
    assert chosen["starts"] == 2 and chosen["within"] > 0
    assert len(counted(teiten)) == 2 * outcome["pairs"], "no trial of the pilot is in the ledger"
    report = next(path for path in outcome["reports"] if path.endswith("report.en.html"))
    assert "chosen by a pilot that does not count (2 starts" in Path(report).read_text()
    assert not list(teiten.workdir.clusters.iterdir())


def wait_until_nothing_runs(teiten: Teiten) -> None:
    deadline = time.monotonic() + PATIENCE
    while left_processes([teiten.workdir.root]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left_processes([teiten.workdir.root])
