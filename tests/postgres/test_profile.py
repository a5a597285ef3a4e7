"""Flame graphs of real servers: an extra window after each counted trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from teiten.cli.analysing import analyse_campaign
from teiten.host.paths import Workdir
from teiten.host.profiling import profiling_caution, read_profiling_facts
from teiten.ledger.store import Ledger
from teiten.model.facts import Caution, Severity
from teiten.model.installation import Installation
from teiten.model.profile import CallGraph
from teiten.model.trial import Outcome, Step, Trial
from tests.fixtures import campaigns
from tests.fixtures.campaigns import Teiten, step_of

Find = Callable[[str], Installation]
FLAMES = ("--flame-graph", "--set", "flame_graph_window=2s")


@pytest.fixture
def teiten(workdir: Workdir) -> Teiten:
    caution = profiling_caution(read_profiling_facts())
    if caution is not None and caution.severity is Severity.WARNING:
        pytest.skip(f"perf cannot sample here: {caution.code}")
    return Teiten.prepared(workdir)


def recorded(teiten: Teiten) -> tuple[list[Trial], tuple[Caution, ...]]:
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        return list(ledger.trials()), ledger.cautions


def test_every_counted_trial_has_a_profile_of_the_servers_own_functions(
    teiten: Teiten, installation: Find
) -> None:
    study = teiten.study(installation("13"), installation("18"), workload="select-only")
    result = teiten.run("run", study, *FLAMES)
    assert result.returncode == 0, result.stderr
    trials, _ = recorded(teiten)
    for trial in trials:
        profile = trial.profile
        assert profile is not None and trial.outcome is Outcome.COUNTED
        assert profile.call_graph is CallGraph.DWARF
        assert profile.seconds == pytest.approx(2, abs=0.5)
        assert profile.transactions > 0
        assert trial.metrics["measured_seconds"] < 1.5, "the window is no part of the measured one"
        frames = {frame for stack in profile.stacks for frame in stack.split(";")}
        assert {"main", "PostmasterMain", "PostgresMain", "exec_simple_query"} <= frames
        assert profile.truncated <= 0.02 * profile.samples
        whole = sum(count for stack, count in profile.stacks.items() if stack.startswith("main;"))
        assert whole >= 0.95 * profile.samples
        if profile.kernel:
            expected = profile.frequency * profile.counters["cpu_seconds"]
            assert 0.5 < profile.samples / expected < 1.5
    steps = [event.detail["step"] for event in teiten.events() if event.kind == "step"]
    assert steps.count(Step.PROFILE.value) == len(trials)
    assert not list(teiten.campaign().glob("evidence/*/profile")), "perf's files are given back"
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        (contrast,) = analyse_campaign(ledger).profiles.contrasts
    assert contrast.pairs == 2 and contrast.old_cost > 0
    page = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert page.count('class="flame-graph"') == 3


def perfs(teiten: Teiten) -> Iterator[psutil.Process]:
    for process in teiten.processes("perf"):
        if "record" in process.cmdline():
            yield process


def test_perf_that_dies_in_mid_window_is_a_caution_and_the_trial_counts(
    teiten: Teiten, installation: Find
) -> None:
    one = installation("18")
    study = teiten.study(one, one, workload="select-only")
    process = teiten.start("run", study, *FLAMES)
    teiten.wait_for(process, step_of(1, "check"))
    deadline = time.monotonic() + campaigns.PATIENCE
    while not (found := list(perfs(teiten))) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.7)  # attached, and the load runs
    for each in found:
        each.kill()
    _, errors = process.communicate(timeout=campaigns.PATIENCE)
    assert process.returncode == 0, errors
    trials, cautions = recorded(teiten)
    assert [one.outcome for one in trials] == [Outcome.COUNTED] * 4
    assert [one.profile is not None for one in trials] == [False, True, True, True]
    (failed,) = [one for one in cautions if one.code == "profile-failed"]
    assert dict(failed.values)["server"] == f"PostgreSQL {one_version(teiten)}"


def one_version(teiten: Teiten) -> str:
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        return str(ledger.plan.servers[0][1].version)


def test_an_interruption_in_the_window_leaves_no_perf(teiten: Teiten, installation: Find) -> None:
    one = installation("18")
    study = teiten.study(one, one, workload="select-only")
    process = teiten.start("run", study, *FLAMES)
    teiten.wait_for(process, step_of(1, "check"))
    deadline = time.monotonic() + campaigns.PATIENCE
    while not list(perfs(teiten)) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(2)
    process.communicate(timeout=campaigns.PATIENCE)
    assert process.returncode == 130
    assert not list(perfs(teiten))
