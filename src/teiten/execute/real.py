"""The real executor: a trial is a site, where its servers run, times a load."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench, CampaignRecord, ThisMachine
from teiten.execute.executor import Facts, Observer
from teiten.execute.load import Begin
from teiten.execute.sites.campaign import Sites
from teiten.execute.steps import Steps
from teiten.execute.trial import rehearse
from teiten.kinds.registry import Stage, kind
from teiten.model.plan import PlannedTrial, TemplateSpec


class RealExecutor:
    """Runs the trials of a campaign on real servers."""

    def __init__(
        self,
        *,
        record: CampaignRecord,
        campaign: Path,
        machine: ThisMachine,
        observer: Observer,
        say: Callable[[str], None],
        tell: Callable[[str], None],
        check_interruption: Callable[[], None],
        passwords: Mapping[str, str],
    ) -> None:
        """``say``, ``tell`` and ``passwords``: see ``Sites``. Raises MachineError."""
        self._bench = Bench(record.plan, campaign, observer, check_interruption, record)
        self._sites = Sites(self._bench, machine, passwords, say, tell)
        self._loads: dict[str, Begin] = {}
        """By kind: what begins its loads, and knows what its trials share."""
        self._begun: dict[int, Steps] = {}
        """By the trial's number: those that may still run."""

    def prepare(self, template: TemplateSpec) -> Facts:
        return self._sites.of(template).prepare(template)

    def rehearse(self, trial: PlannedTrial) -> None:
        rehearsal = self._steps(trial, 0)
        self._begun = {0: rehearsal}
        try:
            rehearse(rehearsal)
        except WorkloadError as error:
            version = trial.template.installation.version
            raise WorkloadError(f"PostgreSQL {version}: {error.message}", error.hint) from error
        finally:
            shutil.rmtree(rehearsal.evidence, ignore_errors=True)

    def begin(self, trial: PlannedTrial, attempt: int) -> Steps:
        pair = {member.number for member in self._bench.plan.pair_of(trial)}
        self._begun = {number: steps for number, steps in self._begun.items() if number in pair}
        begun = self._begun[trial.number] = self._steps(trial, attempt)
        return begun

    def finish(self) -> None:
        with ExitStack() as ends:  # where one cannot be ended, the others are all the same
            ends.callback(self._sites.finish)
            for steps in self._begun.values():
                ends.callback(steps.abandon)

    def _steps(self, trial: PlannedTrial, attempt: int) -> Steps:
        name = str(self._bench.plan.study.workload(trial.cell.workload).kind)
        if name not in self._loads:
            self._loads[name] = kind(name, Stage.RUN).loads(self._bench)
        site = self._sites.of(*trial.templates).site(trial, attempt)
        folder = self._bench.evidence_folder(trial, attempt)
        return Steps(self._bench, trial, site, self._loads[name](trial, site, folder), folder)
