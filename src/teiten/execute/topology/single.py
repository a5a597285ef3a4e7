"""The real executor for one server on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.templates import TemplateStore
from teiten.execute.topology.bench import BENCH_DATABASE, Bench
from teiten.execute.topology.single_trial import SingleServerTrial
from teiten.execute.workload.pgbench import try_script
from teiten.host.paths import Workdir
from teiten.host.users import ServerUser
from teiten.model.plan import Plan, PlannedTrial, TemplateSpec


class SingleServerExecutor:
    """Runs trials on clusters cloned from templates, one server at a time.

    A cluster whose trials do not change data is kept between trials, one for each template; a
    cluster whose data was changed is given back after its trial.
    """

    def __init__(
        self,
        plan: Plan,
        campaign: Path,
        workdir: Workdir,
        user: ServerUser,
        say: Callable[[str], None],
        tell_progress: Callable[[float, float, float], None],
        known_sampling_rates: dict[str, float],
        devices: tuple[str, ...],
    ) -> None:
        self._bench = Bench(
            plan=plan,
            campaign=campaign,
            workdir=workdir,
            user=user,
            templates=TemplateStore(workdir, user),
            tell_progress=tell_progress,
            sampling_rates=known_sampling_rates,
            devices=devices,
        )
        self._say = say
        self._current: SingleServerTrial | None = None

    def prepare(self, template: TemplateSpec) -> Facts:
        store = self._bench.templates
        if store.ready(template):
            return {"built": False}
        store.build(template, self._bench.plan.pgbench, self._say)
        return {"built": True}

    def rehearse(self, trial: PlannedTrial) -> Facts:
        rehearsal = SingleServerTrial(self._bench, trial, attempt=0)
        self._current = rehearsal
        try:
            rehearsal.restore()
            started = rehearsal.start()
            cluster = rehearsal.cluster
            workload = self._bench.plan.study.workload(trial.cell.workload)
            try_script(
                pgbench=self._bench.plan.pgbench,
                socket_directory=cluster.socket_directory,
                port=cluster.port,
                dbname=BENCH_DATABASE,
                user_name=cluster.user_name,
                script=workload.script,
                scale=trial.template.data.scale or 1,
                query_mode=trial.query_mode,
                options=workload.pgbench_options,
            )
            rehearsal.stop()
            return started
        finally:
            rehearsal.abandon()
            rehearsal.forget_evidence()

    def begin(self, trial: PlannedTrial, attempt: int) -> SingleServerTrial:
        self._current = SingleServerTrial(self._bench, trial, attempt)
        return self._current

    def finish(self) -> None:
        if self._current is not None:
            self._current.abandon()
        for kept in self._bench.kept.values():
            discard(kept)
        self._bench.kept.clear()


def discard(cluster: Cluster) -> None:
    """Stop a cluster and give its disk back; its folder carries our marker."""
    cluster.stop()
    shutil.rmtree(cluster.folder, ignore_errors=True)
