"""The real executor for one server on this machine."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from teiten.errors import TeitenError, WorkloadError
from teiten.execute.executor import Facts, Observer
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.record import CampaignRecord
from teiten.execute.topology.attached_trial import AttachedTrial
from teiten.execute.topology.attachments import Attachments
from teiten.execute.topology.bench import Bench
from teiten.execute.topology.query_trial import QueryTrial
from teiten.execute.topology.remote_site import RemoteSite
from teiten.execute.topology.remote_trial import RemoteTrial
from teiten.execute.topology.single_trial import SingleServerTrial
from teiten.execute.workload.log_folder import new_log_folder, remove_log_folder
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.kinds.queries.model import NAME as QUERIES
from teiten.model.plan import PlannedTrial, TemplateSpec

TOLD_EVERY = 10.0
"""Seconds between two words on a template that takes long."""


class SingleServerExecutor:
    """Runs trials on clusters cloned from templates: one server at a time, or those of a pair.

    A cluster whose trials do not change data is kept between trials, one for each template; a
    cluster whose data was changed is given back after its trial.
    """

    def __init__(
        self,
        *,
        record: CampaignRecord,
        campaign: Path,
        workdir: Workdir,
        user: ServerUser,
        observer: Observer,
        say: Callable[[str], None],
        check_interruption: Callable[[], None],
        devices: tuple[str, ...],
        passwords: Mapping[str, str] | None = None,
        site: RemoteSite | None = None,
    ) -> None:
        """``passwords``: by address of an attached server, those that were in it. ``site``: the
        hosts that the study names; they are closed with this."""
        hosts = record.plan.hosts
        self._site = site
        self._attachments = Attachments(
            record=record,
            plan=record.plan,
            folder=workdir.attached,
            campaign=campaign.name,
            passwords=passwords or {},
            say=say,
        )
        self._bench = Bench(
            plan=record.plan,
            campaign=campaign,
            workdir=workdir,
            user=user,
            templates=TemplateStore(workdir, user),
            observer=observer,
            check_interruption=check_interruption,
            record=record,
            devices=devices,
            log_folder=new_log_folder(),
            attachments=self._attachments,
            client_cores=float(hosts.client.facts.cpu.logical) if hosts is not None else None,
        )
        self._say = say
        self._begun: dict[int, SingleServerTrial] = {}
        """By the trial's number: those that may still run."""

    def prepare(self, template: TemplateSpec) -> Facts:
        if template.installation.attached is not None:
            return self._attachments.prepare(template)
        if self._site is not None:
            return self._site.prepare(template)
        store = self._bench.templates
        if store.ready(template):
            return {"built": False}
        store.build(template, self._bench.plan.pgbench, self._telling(template))
        return {"built": True}

    def _telling(self, template: TemplateSpec) -> Callable[[str], None]:
        """Every step as a detail; of a long build now and then how far it is, for everybody."""
        told = time.monotonic()

        def say(text: str) -> None:
            nonlocal told
            self._say(text)
            if time.monotonic() - told >= TOLD_EVERY:
                told = time.monotonic()
                self._bench.observer.preparing(f"{template.data}: {text}")

        return say

    def rehearse(self, trial: PlannedTrial) -> None:
        rehearsal = self._trial(trial, 0)
        self._begun = {0: rehearsal}
        try:
            rehearsal.restore()
            rehearsal.start()
            if isinstance(rehearsal, QueryTrial):
                rehearsal.try_queries()
            else:
                self._try_script(rehearsal)
            rehearsal.stop(sound=True)
        finally:
            rehearsal.abandon()
            shutil.rmtree(rehearsal.evidence, ignore_errors=True)

    def _try_script(self, rehearsal: SingleServerTrial) -> None:
        try:
            rehearsal.try_script()
        except WorkloadError as error:
            raise WorkloadError(
                error.message,
                "correct it and run again: every script is tried with one transaction before the"
                " first trial",
            ) from error

    def begin(self, trial: PlannedTrial, attempt: int) -> SingleServerTrial:
        pair = {one.number for one in self._bench.plan.pair_of(trial)}
        self._begun = {number: one for number, one in self._begun.items() if number in pair}
        self._bench.end_others(trial, attempt)
        begun = self._begun[trial.number] = self._trial(trial, attempt)
        return begun

    def _trial(self, trial: PlannedTrial, attempt: int) -> SingleServerTrial:
        workload = self._bench.plan.study.workload(trial.cell.workload)
        if workload.kind == QUERIES:
            return QueryTrial(self._bench, trial, attempt)
        if self._site is not None:
            return RemoteTrial(self._bench, trial, attempt, self._site)
        kind = AttachedTrial if trial.template.installation.attached else SingleServerTrial
        return kind(self._bench, trial, attempt)

    def finish(self) -> None:
        for trial in self._begun.values():
            trial.abandon()
        for server in self._bench.running.values():
            with contextlib.suppress(TeitenError, OSError):
                server.cluster.stop(immediately=True)
        self._bench.running.clear()
        for cluster in self._bench.kept.values():
            self._bench.remove(cluster)
        self._bench.kept.clear()
        self._attachments.finish()
        if self._site is not None:
            self._site.close()
        if self._bench.log_folder is not None:
            remove_log_folder(self._bench.log_folder)
            self._bench.log_folder = None
