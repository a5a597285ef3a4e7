"""The order of a trial's steps, and what becomes of a step that fails."""

from __future__ import annotations

import dataclasses

import pytest

from teiten.errors import MachineError, ServerError
from teiten.execute.executor import Facts
from teiten.execute.trial import TrialRun, outcome_of, run_trial
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.trial import Outcome, Problem, Step, Trial
from teiten.model.units import Seconds
from teiten.plan.dry import DryExecutor, DryTrial
from tests.fixtures.synthetic_plan import make_plan

METHOD = [
    Step.RESTORE,
    Step.CACHES,
    Step.START,
    Step.PREWARM,
    Step.SETTLE,
    Step.WARM_UP,
    Step.MEASURE,
    Step.COLLECT,
    Step.CHECK,
    Step.STOP,
]


class Watch:
    """Notes what the observer and the record are told."""

    def __init__(self) -> None:
        self.shown: list[Step] = []
        self.recorded: list[Step] = []

    def record(self, planned: PlannedTrial, step: Step, facts: Facts) -> None:
        assert step is Step.CHECK or facts["seconds"] >= 0
        self.recorded.append(step)

    def preparing(self, what: str) -> None: ...
    def trial_started(self, trial: PlannedTrial, attempt: int, ended: int, total: int) -> None: ...
    def progress(self, second: Seconds, tps: float, latency: Seconds) -> None: ...
    def trial_finished(self, trial: Trial) -> None: ...

    def step_started(self, trial: PlannedTrial, step: Step) -> None:
        self.shown.append(step)


class FailingTrial(DryTrial):
    """A dry trial, one of whose steps raises."""

    error: Exception = ServerError("it did not start", "look")
    abandoned = 0

    def start(self) -> Facts:
        raise self.error

    def abandon(self) -> None:
        self.abandoned += 1


class FailingExecutor(DryExecutor):
    def __init__(self, plan: Plan, trial: FailingTrial) -> None:
        super().__init__(plan)
        self.trial = trial

    def begin(self, trial: PlannedTrial, attempt: int) -> DryTrial:
        return self.trial


@pytest.fixture
def plan() -> Plan:
    return make_plan()


def test_the_steps_come_in_the_order_of_the_method(plan: Plan) -> None:
    watch = Watch()
    executor = DryExecutor(plan)
    trial = run_trial(TrialRun(executor, watch, watch.record), plan.trials[0], 1)
    assert watch.shown == METHOD
    assert watch.recorded == METHOD
    assert len(executor.actions) == len(METHOD)
    assert trial.outcome is Outcome.COUNTED


def test_a_trial_that_counts_is_profiled_after_its_checks_where_the_study_asks(plan: Plan) -> None:
    measure = dataclasses.replace(plan.study.measure, flame_graph=True)
    asking = dataclasses.replace(plan, study=dataclasses.replace(plan.study, measure=measure))
    watch = Watch()
    run_trial(TrialRun(DryExecutor(asking), watch, watch.record), plan.trials[0], 1)
    assert watch.recorded == [*METHOD[:-1], Step.STACKS, Step.STOP]

    class Disturbed(DryTrial):
        def check(self) -> tuple[Problem, ...]:
            return (Problem("steal", "0.2"),)

    class DisturbedExecutor(DryExecutor):
        def begin(self, trial: PlannedTrial, attempt: int) -> DryTrial:
            return Disturbed(asking, trial, self.actions)

    watch = Watch()
    run_trial(TrialRun(DisturbedExecutor(asking), watch, watch.record), plan.trials[0], 1)
    assert Step.STACKS not in watch.recorded, "it is repeated, and profiled then"


def test_a_server_that_fails_makes_a_failed_trial_that_was_stopped(plan: Plan) -> None:
    watch = Watch()
    steps = FailingTrial(plan, plan.trials[0], [])
    run = TrialRun(FailingExecutor(plan, steps), watch, watch.record)
    trial = run_trial(run, plan.trials[0], 2)
    assert trial.outcome is Outcome.FAILED
    assert trial.attempt == 2
    assert trial.problems == (Problem("start-failed", "it did not start"),)
    assert watch.recorded == [Step.RESTORE, Step.CACHES, Step.CHECK, Step.STOP]
    assert steps.abandoned == 1


@pytest.mark.parametrize("error", [MachineError("the disk is full", "free some"), OSError("gone")])
def test_anything_else_leaves_no_record_and_no_process(plan: Plan, error: Exception) -> None:
    watch = Watch()
    steps = FailingTrial(plan, plan.trials[0], [])
    steps.error = error
    run = TrialRun(FailingExecutor(plan, steps), watch, watch.record)
    with pytest.raises(type(error)):
        run_trial(run, plan.trials[0], 1)
    assert steps.abandoned == 1


@pytest.mark.parametrize(
    ("codes", "outcome"),
    [
        ((), Outcome.COUNTED),
        (("steal",), Outcome.DISTURBED),
        (("steal", "other-load"), Outcome.DISTURBED),
        (("steal", "server-error"), Outcome.FAILED),
        (("invariant",), Outcome.FAILED),
    ],
)
def test_an_outcome_follows_from_the_problems(codes: tuple[str, ...], outcome: Outcome) -> None:
    assert outcome_of(tuple(Problem(code, "seen") for code in codes)) is outcome


def test_problems_are_told_once(plan: Plan) -> None:
    class Repeating(FailingTrial):
        def check(self) -> tuple[Problem, ...]:
            return (Problem("start-failed", "it did not start"), Problem("server-error", "PANIC"))

    watch = Watch()
    run = TrialRun(FailingExecutor(plan, Repeating(plan, plan.trials[0], [])), watch, watch.record)
    codes = [problem.code for problem in run_trial(run, plan.trials[0], 1).problems]
    assert codes == ["start-failed", "server-error"]


def test_dry_steps_say_what_they_would_do(plan: Plan) -> None:
    by_workload = {}
    for trial in plan.trials:
        executor = DryExecutor(plan)
        watch = Watch()
        run_trial(TrialRun(executor, watch, watch.record), trial, 1)
        by_workload[plan.study.workload(trial.cell.workload).changes_data] = executor.actions
    assert by_workload[True][0].startswith("clone template")
    assert "does not change it" in by_workload[False][0]
    assert dataclasses.asdict(plan.trials[0])["seed"] >= 0
