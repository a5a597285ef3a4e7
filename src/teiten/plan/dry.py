"""The dry executor: says what each step of a trial would do, to which machine, and does
nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from teiten.kinds.contract import plan_of
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan, PlannedTrial, TemplateSpec
from teiten.model.starts import last_of_their_start, started_before
from teiten.model.study import Measure
from teiten.model.trial import Gathered, Problem
from teiten.plan.sites.contract import ActionContext
from teiten.plan.sites.of import site_in, sites_of

Facts = dict[str, Any]
RUNNING = "nothing: the server runs already"


class DryTrial:
    """Says the steps of one trial."""

    def __init__(self, plan: Plan, trial: PlannedTrial, actions: list[str]) -> None:
        self._plan = plan
        self._trial = trial
        self._actions = actions
        self._workload = plan.study.workload(trial.cell.workload)
        self._restores = plan.study.restores(self._workload)
        self._goes_on = trial.restart > 0 and trial.number in started_before(plan)
        """The server is up from the pair before, or for another side of this one."""
        self._is_guest = plan.starter_of(trial) is not trial
        self._site = site_in(plan, trial.template.installation)
        self._kind = plan_of(self._workload.kind)

    @property
    def _started(self) -> PlannedTrial:
        """The trial with the parameters that its server starts with."""
        return replace(self._trial, settings=self._measure.of_server(self._trial.settings))

    def restore(self) -> Facts:
        return self._unless_up(self._site.restore(self._trial, restores=self._restores))

    def caches(self) -> Facts:
        return self._unless_up(self._site.caches(self._measure))

    def start(self) -> Facts:
        return self._unless_up(self._site.start(self._started))

    def prewarm(self) -> Facts:
        return self._unless_up(self._site.prewarm(self._trial, self._measure))

    def settle(self) -> Facts:
        return self._unless_up(self._site.settle(self._trial, self._measure))

    def warm_up(self) -> Facts:
        action = self._kind.warm_up(self._plan.study, self._workload).phrase
        own = self._measure.of_session(self._trial.settings)
        if own:
            self._say(f"SET {', '.join(f'{name} = {value}' for name, value in own)}")
        return self._unless_up(action) if self._kind.lasts else self._say(action)

    def measure(self, number: int) -> Facts:
        return self._say(self._kind.turn(self._plan.study, self._trial, number))

    def collect(self) -> Facts:
        return self._say("collect results, series, latencies, settings and the server's log")

    def check(self) -> tuple[Problem, ...]:
        self._say("check the server's log, invariants, and what else used the CPU")
        return ()

    @property
    def samples_stacks(self) -> bool:
        return self._plan.study.measure.flame_graph

    def sample_stacks(self) -> Facts:
        seconds = self._plan.study.measure.flame_graph_window
        return self._say(f"{seconds:g} s of load, not counted, while perf samples the server")

    def stop(self, *, sound: bool) -> Facts:
        if self._is_guest:
            return self._say("nothing: the server is stopped for all sides")
        last = self._trial.restart == 0 or self._trial.number in last_of_their_start(self._plan)
        if sound and not last:
            return self._say("leave the server running for the next pair")
        return self._say(self._site.stop(restores=self._restores))

    def collected(self) -> Gathered:
        """Nothing is measured, and so there are no metrics."""
        return Gathered()

    def abandon(self) -> None:
        return

    @property
    def _measure(self) -> Measure:
        return self._plan.study.measure

    def _unless_up(self, action: str) -> Facts:
        return self._say(RUNNING if self._goes_on else action)

    def _say(self, action: str) -> Facts:
        self._actions.append(action)
        return {"action": action}


class DryExecutor:
    """Collects in ``actions`` what would be done, one line for each step."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.actions: list[str] = []

    def prepare(self, template: TemplateSpec) -> Facts:
        action = site_in(self._plan, template.installation).prepare(template)
        self.actions.append(action)
        return {"action": action}

    def rehearse(self, trial: PlannedTrial) -> None:
        kind = plan_of(self._plan.study.workload(trial.cell.workload).kind)
        self.actions.append(f"start a server for {trial.cell} once and {kind.rehearsal().phrase}")

    def begin(self, trial: PlannedTrial, attempt: int) -> DryTrial:
        del attempt
        return DryTrial(self._plan, trial, self.actions)

    def finish(self) -> None:
        return


def actions(
    plan: Plan, facts: HostFacts, *, folder: Path, user: str, ready: Collection[str] = ()
) -> tuple[str, ...]:
    """Everything that running the plan does to the machine, one sentence each.

    ``folder``: Teiten's working folder; ``user``: as whom servers run; ``ready``: fingerprints of
    templates that exist.
    """
    context = ActionContext(plan, facts, folder, user, ready)
    sites = sites_of(plan)
    sentences = [sentence for site in sites for sentence in site.actions(context)]
    return (*sentences, *sites[0].closing(context))
