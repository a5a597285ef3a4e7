"""The one protocol through which trials are executed, for real or dry.

An executor prepares templates and begins trials; a trial is a set of steps that ``execute.trial``
calls in METHOD.md's order. Every step returns what it did, as JSON values for the ledger's events.
"""

from __future__ import annotations

from typing import Any, Protocol

from teiten.model.plan import PlannedTrial, TemplateSpec
from teiten.model.trial import Gathered, Problem, Step, Trial
from teiten.model.units import Seconds

Facts = dict[str, Any]


class TrialSteps(Protocol):
    """The steps of one trial, called in order, each once, ``measure`` once for each slice;
    ``abandon`` at any time."""

    def restore(self) -> Facts: ...
    def caches(self) -> Facts: ...
    def start(self) -> Facts: ...
    def prewarm(self) -> Facts: ...
    def settle(self) -> Facts: ...
    def warm_up(self) -> Facts: ...
    def measure(self, number: int) -> Facts:
        """Measure one slice; ``number``: of the trial's slices, from 1 and rising."""

    def collect(self) -> Facts: ...
    def check(self) -> tuple[Problem, ...]: ...

    @property
    def samples_stacks(self) -> bool:
        """Whether the study asks for the step ``profile``, which only a trial that counts has."""

    def sample_stacks(self) -> Facts:
        """An extra window; whatever fails in it is a caution, and the trial counts all the same."""

    def stop(self, *, sound: bool) -> Facts:
        """Stop the server, unless the next pair of the plan shares its start and all of this pair
        is ``sound``."""

    def collected(self) -> Gathered:
        """Give the results known so far: after a failure, the evidence alone."""

    def abandon(self) -> None:
        """End every process of the trial at once; never raises, may be called twice."""


class Executor(Protocol):
    """Prepares what trials need, and begins them."""

    def prepare(self, template: TemplateSpec) -> Facts:
        """Make a template ready; raises ServerError or WorkloadError where that cannot be."""

    def rehearse(self, trial: PlannedTrial) -> None:
        """Start a server as the trial will and try its script, so that errors come first."""

    def begin(self, trial: PlannedTrial, attempt: int) -> TrialSteps: ...

    def finish(self) -> None:
        """Give back the disk and the processes that are left; never raises."""


class Observer(Protocol):
    """Is told how the campaign goes, for a live view or plain lines."""

    def preparing(self, what: str) -> None: ...
    def trial_started(self, trial: PlannedTrial, attempt: int, ended: int, total: int) -> None: ...
    def step_started(self, trial: PlannedTrial, step: Step) -> None: ...
    def progress(self, second: Seconds, tps: float, latency: Seconds) -> None: ...
    def trial_finished(self, trial: Trial) -> None: ...
