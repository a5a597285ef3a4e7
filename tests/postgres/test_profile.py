"""Flame graphs of real servers: an extra window after each counted trial."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil
import pytest

from teiten.cli.campaign.read import analyse_campaign
from teiten.host.facts.stacks import profiling_caution, read_profiling_facts
from teiten.host.system.paths import Workdir
from teiten.ledger.store import Ledger
from teiten.model.facts import Caution, Severity
from teiten.model.installation import Installation
from teiten.model.stacks import CallGraph, StackSamples
from teiten.model.trial import Outcome, Step, Trial
from tests.fixtures import campaigns
from tests.fixtures.campaigns import Teiten, step_of

Find = Callable[[str], Installation]
FEW = re.compile(r"only \d+ samples")
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
    trials, cautions = recorded(teiten)
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 4
    steps = [event.detail["step"] for event in teiten.events() if event.kind == "step"]
    assert steps.count(Step.STACKS.value) == 4
    assert not list(teiten.campaign().glob("evidence/*/profile")), "perf's files are given back"
    profiles = [trial.stack_samples for trial in trials if trial.stack_samples is not None]
    if len(profiles) < 4:
        reasons = [
            dict(caution.values)["reason"]
            for caution in cautions
            if caution.code == "profile-failed"
        ]
        assert reasons and all(FEW.fullmatch(reason) for reason in reasons), "only a starved server"
        pytest.skip("this machine is too busy for a window with samples enough")
    for profile in profiles:
        assert_whole(profile)
    with Ledger.open(teiten.campaign(), read_only=True) as ledger:
        (contrast,) = analyse_campaign(ledger).stacks.contrasts
    assert contrast.pairs == 2 and contrast.old_cost > 0
    page = (teiten.campaign() / "report" / "report.en.html").read_text(encoding="utf-8")
    assert page.count('class="flame-graph"') == 3


def assert_whole(profile: StackSamples) -> None:
    """Stacks from main inwards, with PostgreSQL's own names, and no sample lost."""
    assert profile.call_graph is CallGraph.DWARF
    assert profile.transactions > 0
    frames = {frame for stack in profile.stacks for frame in stack.split(";")}
    assert {"main", "PostmasterMain", "PostgresMain", "exec_simple_query"} <= frames
    assert profile.truncated <= 0.05 * profile.samples
    whole = sum(count for stack, count in profile.stacks.items() if stack.startswith("main;"))
    assert whole >= 0.9 * profile.samples
    if profile.kernel:
        expected = profile.frequency * profile.counters["cpu_seconds"]
        assert 0.5 < profile.samples / expected < 1.5


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
    killed = 0
    while not killed and time.monotonic() < deadline:
        while not list(perfs(teiten)) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.7)  # attached, and the load runs
        for each in perfs(teiten):
            with suppress(psutil.NoSuchProcess):
                each.kill()
                killed += 1
    _, errors = process.communicate(timeout=campaigns.PATIENCE)
    assert process.returncode == 0, errors
    trials, cautions = recorded(teiten)
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED] * 4
    assert any(trial.stack_samples is None for trial in trials)
    failed = next(caution for caution in cautions if caution.code == "profile-failed")
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
        time.sleep(0.05)
    process.send_signal(2)
    process.communicate(timeout=campaigns.PATIENCE)
    assert process.returncode == 130
    assert not list(perfs(teiten))
    trials, _ = recorded(teiten)
    assert [trial.outcome for trial in trials] == [Outcome.COUNTED], "it was measured and checked"
