"""Whole campaigns with real servers, undisturbed and broken off in every way."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from teiten.ledger.store import Ledger
from teiten.model.installation import Installation
from teiten.model.trial import Outcome, Trial
from tests.fixtures.campaigns import PATIENCE, Teiten, kill, step_of
from tests.fixtures.servers import left_processes, servers

Find = Callable[[str], Installation]


@pytest.fixture
def teiten(emptied: Teiten) -> Teiten:
    return emptied


@pytest.fixture
def newest(installation: Find) -> Installation:
    return installation("18")


def assert_complete(teiten: Teiten) -> None:
    """Every planned trial counts, once unless its pair was run again as a whole; nothing is
    recorded twice, no cluster left."""
    trials = teiten.trials()
    last = {trial.number: trial for trial in sorted(trials, key=lambda one: one.attempt)}
    assert sorted(last) == list(range(1, teiten.planned() + 1))
    assert {trial.outcome for trial in last.values()} == {Outcome.COUNTED}
    counted = Counter(trial.number for trial in trials if trial.outcome is Outcome.COUNTED)
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        block = {trial.number: trial.block for trial in ledger.plan.trials}
    broken = {block[trial.number] for trial in trials if trial.outcome is not Outcome.COUNTED}
    assert all(times == 1 or block[number] in broken for number, times in counted.items())
    assert len({(trial.number, trial.attempt) for trial in trials}) == len(trials)
    assert not list(teiten.workdir.clusters.iterdir())


def wait_until_nothing_runs(folder: Path) -> list[str]:
    deadline = time.monotonic() + PATIENCE
    while left := left_processes([folder]):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return left


def test_a_campaign_ends_with_numbers_and_reports(teiten: Teiten, installation: Find) -> None:
    old, new = servers()[0], installation("18")
    teiten = replace(teiten, drawn=True)
    study = teiten.study(old, new, workload="tpcb-like", clients="1, 2")
    result = teiten.run("run", study, "--json", "--seed", "7")
    assert result.returncode == 0, result.stderr
    outcome = json.loads(result.stdout)
    assert outcome["complete"]
    assert {contrast["metric"] for contrast in outcome["contrasts"]} >= {"tps", "latency_mean"}
    assert all(Path(path).stat().st_size > 10_000 for path in outcome["reports"])
    assert_complete(teiten)
    for trial in teiten.trials():
        assert trial.metrics["tps"] > 0
        assert trial.metrics["latency_p50"] <= trial.metrics["latency_p99"]
        assert trial.metrics["wal_bytes_per_transaction"] > 0
        assert 0 < trial.metrics["server_cpu_share"] <= 1
        assert (teiten.campaign() / dict(trial.evidence)["server log"]).is_file()
    assert {trial.facts["version"].split()[1] for trial in teiten.trials()} == {
        str(old.version),
        str(new.version),
    }


def test_a_campaign_that_is_killed_three_times_loses_nothing(
    teiten: Teiten, newest: Installation
) -> None:
    process = teiten.start("run", teiten.study(newest, newest))
    before: list[Trial] = []
    for number, step in ((2, "restore"), (3, "warm-up"), (4, "measure")):
        teiten.wait_for(process, step_of(number, step))
        kill(process)
        assert not wait_until_nothing_runs(teiten.workdir.root)
        kept = teiten.trials()
        assert len(kept) >= number - 1 and kept[: len(before)] == before
        before, process = kept, teiten.start("resume")
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert_complete(teiten)
    assert teiten.trials()[: len(before)] == before


def test_ctrl_c_ends_in_order_and_says_how_to_go_on(teiten: Teiten, newest: Installation) -> None:
    process = teiten.start("run", teiten.study(newest, newest))
    teiten.wait_for(process, step_of(1, "warm-up"))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert "hint: teiten resume tiny-" in errors
    assert not left_processes([teiten.workdir.root])
    assert not list(teiten.workdir.clusters.iterdir())
    assert teiten.run("resume").returncode == 0
    assert_complete(teiten)


VICTIMS = {1: "backend", 3: "postmaster", 5: "pgbench"}
"""By the trial in which it is killed, the first of its block."""


def test_a_crash_marks_its_trial_and_the_campaign_goes_on(
    teiten: Teiten, newest: Installation
) -> None:
    process = teiten.start("run", teiten.study(newest, newest, blocks=3, seconds=3))
    for number, victim in VICTIMS.items():
        teiten.wait_for(process, step_of(number, "warm-up"))
        while next(teiten.processes("pgbench"), None) is None or not backends(teiten):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        time.sleep(0.5)  # it is connected, and the load runs
        find_victim(teiten, victim).kill()
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert_complete(teiten)
    failed = {trial.number: trial for trial in teiten.trials() if trial.outcome is Outcome.FAILED}
    assert set(failed) == set(VICTIMS)
    for number, trial in failed.items():
        codes = {problem.code for problem in trial.problems}
        assert ("server-crash" if VICTIMS[number] == "backend" else "pgbench-failed") in codes
        assert (teiten.campaign() / dict(trial.evidence)["server log"]).is_file()


def find_victim(teiten: Teiten, victim: str) -> psutil.Process:
    if victim == "pgbench":
        return next(teiten.processes("pgbench"))
    return teiten.postmasters()[0] if victim == "postmaster" else backends(teiten)[0]


def backends(teiten: Teiten) -> list[psutil.Process]:
    """Those that work on the database of the load."""
    with suppress(psutil.NoSuchProcess):
        return [
            child
            for postmaster in teiten.postmasters()
            for child in postmaster.children()
            if " bench [local]" in " ".join(child.cmdline())
        ]
    return []


def test_two_campaigns_at_once_are_refused(teiten: Teiten, newest: Installation) -> None:
    # longer than three programs take to begin on the busiest machine: it is ended below
    study = teiten.study(newest, newest, seconds=120)
    first = teiten.start("run", study)
    teiten.wait_for(first, lambda event: event.kind == "trial-started")
    second = teiten.run("run", study, "--name", "second")
    assert second.returncode == 2
    assert "another campaign is being measured" in second.stderr
    resumed = teiten.run("resume", "tiny")
    assert resumed.returncode == 2
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 130
