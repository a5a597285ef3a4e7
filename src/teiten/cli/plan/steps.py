"""Steps of a plan's trials, said by the loop that runs them, with a dry executor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from teiten.cli.text.layout import bullets
from teiten.execute.executor import Facts
from teiten.execute.trial import TrialRun, run_trial
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.trial import Step, Trial
from teiten.model.units import Seconds
from teiten.plan.dry import DryExecutor


def step_lines(plan: Plan) -> Iterator[str]:
    """The first trial of each workload; of its slices the first."""
    first: dict[str, PlannedTrial] = {}
    for trial in plan.trials:
        first.setdefault(trial.cell.workload, trial)
    for trial in first.values():
        yield ""
        yield f"Trial {trial.number}, step by step ({trial.cell})"
        yield from bullets(steps_of(plan, trial))


def steps_of(plan: Plan, trial: PlannedTrial) -> list[str]:
    """One line for each step of a trial."""
    executor = DryExecutor(plan)
    watch = _Watch(executor)
    run_trial(TrialRun(executor, watch, watch.record), trial, 1)
    return watch.said


@dataclass
class _Watch:
    """Joins the steps with what they would do; told nothing else by a dry run."""

    executor: DryExecutor
    said: list[str] = field(default_factory=list)
    _measured: bool = False

    def record(self, trial: PlannedTrial, step: Step, facts: Facts) -> None:
        del trial, facts
        if step is not Step.MEASURE or not self._measured:
            self.said.append(self.executor.actions[-1])
        self._measured = self._measured or step is Step.MEASURE

    def preparing(self, what: str) -> None: ...
    def trial_started(self, trial: PlannedTrial, attempt: int, ended: int, total: int) -> None: ...
    def step_started(self, trial: PlannedTrial, step: Step) -> None: ...
    def progress(self, second: Seconds, tps: float, latency: Seconds) -> None: ...
    def trial_finished(self, trial: Trial) -> None: ...
