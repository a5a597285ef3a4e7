"""What all trials of a campaign share on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from teiten.execute.executor import Observer
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.templates.store import BENCH_DATABASE, TemplateStore
from teiten.execute.record import CampaignRecord
from teiten.execute.topology.answers import Answers
from teiten.execute.workload.command import PgbenchRun
from teiten.execute.workload.sampling import suggested_sampling_rate
from teiten.host.cautions import compiler_cautions
from teiten.host.paths import Workdir
from teiten.host.users import ServerUser
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import Setting
from teiten.model.text import Bilingual
from teiten.model.units import Seconds

SAMPLING = "log-sampling"
"""The kind of the event that records the share of transactions that pgbench logs."""
VARIED = Bilingual("varied by the study", "本検証で変化させる要因")


@dataclass
class Bench:
    """The plan, the folders, and what one trial leaves for the next."""

    plan: Plan
    campaign: Path
    workdir: Workdir
    user: ServerUser
    templates: TemplateStore
    observer: Observer
    check_interruption: Callable[[], None]
    """Raises KeyboardInterrupt where someone asked for the end."""
    record: CampaignRecord
    devices: tuple[str, ...]
    log_folder: Path | None
    """In memory; None where logs go beside the other evidence."""
    sampling_rates: dict[str, float] = field(default_factory=dict)
    """By context: decided once, so that both sides of a contrast log alike."""
    versions: dict[str, str] = field(default_factory=dict)
    """What ``version()`` says on each level of the factor server that was started."""
    kept: dict[tuple[str, int], Cluster] = field(default_factory=dict)
    """By template fingerprint and copy: stopped clusters whose data no trial has changed."""

    @cached_property
    def answers(self) -> Answers:
        """What queries answered first."""
        return Answers(self.record)

    def evidence_folder(self, trial: PlannedTrial, attempt: int) -> Path:
        return self.campaign / "evidence" / f"trial-{trial.number:04d}.{attempt}"

    def cluster_folder(self, trial: PlannedTrial, *, kept: bool) -> Path:
        use = "kept" if kept else "once"
        copy = "" if trial.copy == 1 else f"-{trial.copy}"
        name = f"{self.campaign.name}-{trial.template.fingerprint[:12]}{copy}-{use}"
        return self.workdir.clusters / name

    def settings_of(self, trial: PlannedTrial) -> tuple[Setting, ...]:
        """The trial's parameters, each with the study's reason."""
        known = {setting.name: setting for setting in self.plan.study.settings}
        shared = {
            name
            for name, value in trial.settings
            if name in known and known[name].value in (None, value)
        }
        return tuple(
            Setting(
                name=name,
                value=value,
                reason=known[name].reason if name in shared else VARIED,
                source=known[name].source if name in shared else "factor",
            )
            for name, value in trial.settings
        )

    def note_server(self, level: str, facts: dict[str, Any]) -> None:
        """Record what a server says of itself, and whether the sides differ in their compiler."""
        self.record.record_server_facts(level, facts)
        if level not in self.versions:
            self.versions[level] = facts["version"]
            for caution in compiler_cautions(self.versions):
                self.record.record_caution(caution)

    def sampling_rate(self, trial: PlannedTrial, warm_up_tps: float) -> float:
        """The share of transactions that pgbench logs (0 to 1), decided by a context's first
        warm-up and kept for all of its trials, also when the campaign is resumed."""
        context = " ".join(
            (
                trial.cell.workload,
                *(
                    f"{name}={level}"
                    for name, level in trial.cell.context(self.plan.study.contrast)
                ),
            )
        )
        if not self.sampling_rates:
            for event in self.record.events():
                if event.kind == SAMPLING:
                    self.sampling_rates[event.detail["context"]] = event.detail["rate"]
        if context not in self.sampling_rates:
            rate = suggested_sampling_rate(warm_up_tps)
            self.sampling_rates[context] = rate
            self.record.record_event(SAMPLING, context=context, rate=rate, tps=warm_up_tps)
        return self.sampling_rates[context]

    def pgbench_run(
        self,
        trial: PlannedTrial,
        cluster: Cluster,
        folder: Path,
        *,
        duration: Seconds,
        seed: int,
        log_sampling_rate: float | None,
    ) -> PgbenchRun:
        workload = self.plan.study.workload(trial.cell.workload)
        return PgbenchRun(
            pgbench=self.plan.pgbench,
            socket_directory=cluster.socket_directory,
            port=cluster.port,
            dbname=BENCH_DATABASE,
            user_name=cluster.user_name,
            script=workload.script,
            scale=trial.template.data.scale or 1,
            clients=trial.clients,
            threads=trial.threads,
            duration=duration,
            seed=seed,
            query_mode=trial.query_mode,
            options=workload.pgbench_options,
            log_sampling_rate=log_sampling_rate,
            folder=folder,
            log_folder=self.log_folder,
        )
