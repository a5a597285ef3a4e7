"""A trial that was measured and checked is recorded, whatever comes between its check and that."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from teiten.errors import ServerError
from teiten.execute.executor import Facts
from teiten.execute.scheduler import run_campaign
from teiten.execute.sites.cluster_node import NOT_KEPT, ClusterNode
from teiten.execute.sites.hosted import HostLostError
from teiten.host.system.signals import Interrupted, interruptible, one_interruption
from teiten.ledger.store import Ledger
from teiten.model.plan import FIRST, Plan, PlannedTrial
from teiten.model.trial import Outcome, Problem
from teiten.plan.dry import DryExecutor, DryTrial
from tests.fixtures.pairs import ab_plan, new_ledger
from tests.fixtures.synthetic_plan import make_plan
from tests.unit.test_trial import Watch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
ENDING = ("check", "sample_stacks", "stop", "abandon")


class Meeting(DryTrial):
    """A dry trial that something meets in one of its last steps."""

    def __init__(self, plan: Plan, trial: PlannedTrial, step: str, meet: Callable[[], None]):
        super().__init__(plan, trial, [])
        self._step, self._meet = step, meet
        self.abandoned = 0

    def _met(self, step: str) -> None:
        if step == self._step:
            self._meet()

    def check(self) -> tuple[Problem, ...]:
        self._met("check")
        return super().check()

    def sample_stacks(self) -> Facts:
        self._met("sample_stacks")
        return super().sample_stacks()

    def stop(self, *, sound: bool) -> Facts:
        self._met("stop")
        return super().stop(sound=sound)

    def abandon(self) -> None:
        self.abandoned += 1
        if self.abandoned == 1:
            self._met("abandon")


class MeetingExecutor(DryExecutor):
    def __init__(self, plan: Plan, step: str, meet: Callable[[], None]) -> None:
        super().__init__(plan)
        self.trials: list[Meeting] = []
        self._step, self._meet = step, meet

    def begin(self, trial: PlannedTrial, attempt: int) -> DryTrial:
        del attempt
        self.trials.append(Meeting(self._plan, trial, self._step, self._meet))
        return self.trials[-1]


def side_by_side() -> Plan:
    plan = ab_plan(overrides=("slices=2",), duration="4s", blocks=2)
    measure = replace(plan.study.measure, flame_graph=True)
    return replace(plan, study=replace(plan.study, measure=measure))


def interrupted(number: signal.Signals, times: int = 1) -> Callable[[], None]:
    """Send the signals where the first side of a pair is, and none where the others are."""
    left = [number] * times

    def meet() -> None:
        while left:
            os.kill(os.getpid(), left.pop())

    return meet


def run_once_interrupted(ledger: Ledger, executor: MeetingExecutor) -> type[BaseException]:
    with (
        pytest.raises(BaseException) as raised,
        interruptible(),
        one_interruption() as interruption,
    ):
        run_campaign(ledger, executor, Watch(), interruption.check, holding=interruption.held)
    return raised.type


@pytest.mark.parametrize("step", ENDING)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_measurement_loses_no_trial(
    tmp_path: Path, step: str, number: signal.Signals
) -> None:
    plan = side_by_side()
    ledger = new_ledger(tmp_path / "ab", plan)
    executor = MeetingExecutor(plan, step, interrupted(number))
    assert issubclass(run_once_interrupted(ledger, executor), KeyboardInterrupt)
    pair = plan.pair_of(plan.trials[0])
    assert [trial.number for trial in ledger.trials()] == [trial.number for trial in pair]
    assert all(trial.outcome is Outcome.COUNTED for trial in ledger.trials())
    assert all(trial.abandoned for trial in executor.trials)
    ledger.close()


@pytest.mark.parametrize("step", ["sample_stacks", "stop"])
def test_a_second_signal_does_not_wait_and_loses_no_trial_either(tmp_path: Path, step: str) -> None:
    plan = side_by_side()
    ledger = new_ledger(tmp_path / "ab", plan)
    executor = MeetingExecutor(plan, step, interrupted(signal.SIGINT, times=2))
    assert run_once_interrupted(ledger, executor) is Interrupted
    assert len(list(ledger.trials())) == 2
    assert not any(event.detail.get("step") == "stop" for event in ledger.events())
    assert all(trial.abandoned for trial in executor.trials)
    ledger.close()


@pytest.mark.parametrize(
    "error",
    [HostLostError("the host is lost", "look"), ServerError("no end", "look"), OSError(28, "full")],
)
@pytest.mark.parametrize("step", ["sample_stacks", "stop", "abandon"])
def test_an_error_after_the_check_is_raised_once_the_trials_are_recorded(
    tmp_path: Path, step: str, error: Exception
) -> None:
    def meet() -> None:
        raise error

    plan = side_by_side()
    ledger = new_ledger(tmp_path / "ab", plan)
    executor = MeetingExecutor(plan, step, meet)
    with pytest.raises(type(error)):
        run_campaign(ledger, executor, Watch())
    assert len(list(ledger.trials())) == 2
    assert all(trial.abandoned for trial in executor.trials)
    ledger.close()


def test_a_server_file_that_cannot_be_copied_is_told_and_raises_nothing(tmp_path: Path) -> None:
    plan = make_plan()
    folder = tmp_path / "evidence"
    folder.mkdir()
    clusters: Any = SimpleNamespace(
        bench=SimpleNamespace(plan=plan), host=lambda *_: SimpleNamespace(number=0, lost=False)
    )
    node = ClusterNode(clusters, plan.trials[0], FIRST, folder)
    cluster: Any = SimpleNamespace(
        read_log=lambda _: b"LOG: ready\n" * 10_000, read_configuration=lambda: b"port = 1\n"
    )
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        node.keep_evidence(cluster)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert node.evidence == [("configuration", "postgresql.conf")]
    assert list(node.facts[NOT_KEPT]) == ["server log"]
    assert [path.name for path in folder.iterdir()] == ["postgresql.conf"]
