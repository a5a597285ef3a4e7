"""What all trials of a campaign share on this machine."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from teiten.errors import MachineError, TeitenError
from teiten.execute.executor import Facts, Observer
from teiten.execute.postgres import elsewhere
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.marker import read_marker, remove_marked
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.postgres.templates.store import BENCH_DATABASE, TemplateStore
from teiten.execute.record import CampaignRecord
from teiten.execute.remote.cluster import RemoteCluster
from teiten.execute.topology.answers import Answers
from teiten.execute.topology.attachments import AttachedDatabase, Attachments
from teiten.execute.workload.command import PgbenchRun
from teiten.execute.workload.sampling import suggested_sampling_rate
from teiten.host.build_cautions import build_cautions
from teiten.host.cautions import compiler_cautions
from teiten.host.paths import Workdir
from teiten.host.users import ServerUser
from teiten.model.build import BuildFacts
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.starts import Start, last_of_their_start
from teiten.model.study import Setting
from teiten.model.text import Bilingual
from teiten.model.units import Seconds

SAMPLING = "log-sampling"
"""The kind of the event that records the share of transactions that pgbench logs."""
VARIED = Bilingual("varied by the study", "本検証で変化させる要因")


CHECKSUMS = "data_checksums"
Place = tuple[str, int, str | None]
"""Of a cluster: the template's fingerprint, the copy, and the folder that the study names."""


@dataclass(frozen=True)
class RunningServer:
    """A server that a pair has left running for the next one."""

    cluster: Cluster
    start: Start
    facts: Facts
    """What it said of itself when it was started."""
    cflags: str


def asked_facts(asked: BuildFacts) -> dict[str, Any]:
    """From what and how Teiten built a server, for the ledger."""
    return {
        "source": asked.source,
        "configure": " ".join(asked.configure),
        "cflags": asked.cflags or "",
        "build system": "meson" if asked.meson else "configure",
        "compiler": asked.compiler,
        "digest": asked.digest,
    }


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
    client_cores: float | None = None
    """Of the host where pgbench runs; None for this machine's."""
    attachments: Attachments | None = None
    """The servers of the plan that Teiten did not start."""
    kept: dict[Place, Cluster] = field(default_factory=dict)
    """Stopped clusters whose data no trial has changed."""
    running: dict[Place, RunningServer] = field(default_factory=dict)
    """Servers that were left running."""

    def goes_on(self, trial: PlannedTrial, attempt: int) -> bool:
        """Whether a later trial shares the start of this one's server; never of a repeat, which
        runs out of order."""
        return attempt == 1 and trial.number not in self._last_of_their_start

    def end_others(self, trial: PlannedTrial, attempt: int) -> None:
        """Stop the servers that were left running for another pair than that of this trial."""
        for place, server in list(self.running.items()):
            if attempt != 1 or server.start[0] != trial.restart:
                del self.running[place]
                server.cluster.stop()

    @cached_property
    def _last_of_their_start(self) -> frozenset[int]:
        return last_of_their_start(self.plan)

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
        if trial.directory is None:
            return self.workdir.clusters / name
        return Path(trial.directory) / f"teiten-{name}-{_short_hash(trial.directory)}"

    def clone(self, trial: PlannedTrial, folder: Path) -> CloneReport:
        """Make the cluster's folder from the trial's template.

        Raises MachineError where the folder that the study names cannot hold it.
        """
        if trial.directory is not None:
            elsewhere.require_room(folder.parent)
            elsewhere.note(self.workdir, folder)
        try:
            return self.templates.clone(trial.template, folder)
        except BaseException as error:
            marker = read_marker(folder)
            if marker is not None and marker.pid == os.getpid():
                with contextlib.suppress(TeitenError, OSError):
                    remove_marked(folder)
            elsewhere.forget(self.workdir, folder)
            if isinstance(error, OSError):
                raise MachineError(
                    f"{folder} cannot be made: {error.strerror or error}",
                    "name another folder, or give its file system what it lacks",
                ) from error
            raise

    def remove(self, cluster: Cluster) -> None:
        """Delete a cluster; what cannot be deleted now, the next start sweeps."""
        with contextlib.suppress(TeitenError, OSError):
            cluster.remove()
        elsewhere.forget(self.workdir, cluster.data_directory.parent)

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

    def note_server(self, level: str, facts: dict[str, Any], trial: PlannedTrial) -> None:
        """Record what a server says of itself, whether that is what a build was asked for, and
        whether the sides differ in their compiler.

        Where checksums are varied on one server, they are a fact of the trial, not of the server.
        """
        server = trial.cell.level("server")
        made = {
            one.template.checksums for one in self.plan.trials if one.cell.level("server") == server
        }
        noted = {key: one for key, one in facts.items() if len(made) == 1 or key != CHECKSUMS}
        asked = dict(self.plan.servers)[level].build
        if asked is not None:
            noted["asked"] = asked_facts(asked)
        self.record.record_server_facts(level, noted)
        if level not in self.versions:
            self.versions[level] = facts["version"]
            if asked is not None:
                for caution in build_cautions(level, asked, facts["build"], facts["version"]):
                    self.record.record_caution(caution)
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
            rate = suggested_sampling_rate(warm_up_tps, self.client_cores)
            self.sampling_rates[context] = rate
            self.record.record_event(SAMPLING, context=context, rate=rate, tps=warm_up_tps)
        return self.sampling_rates[context]

    def pgbench_run(
        self,
        trial: PlannedTrial,
        server: Cluster | AttachedDatabase | RemoteCluster,
        folder: Path,
        *,
        duration: Seconds,
        seed: int,
        log_sampling_rate: float | None,
    ) -> PgbenchRun:
        workload = self.plan.study.workload(trial.cell.workload)
        run = PgbenchRun(
            pgbench=self.plan.pgbench,
            socket_directory=server.socket_directory,
            port=server.port,
            dbname=BENCH_DATABASE,
            user_name=server.user_name,
            script=workload.script,
            scale=int(trial.template.data.scale or 1),
            clients=trial.clients,
            threads=trial.threads,
            duration=duration,
            seed=seed,
            query_mode=trial.query_mode,
            options=workload.pgbench_options,
            log_sampling_rate=log_sampling_rate,
            folder=folder,
            log_folder=self.log_folder,
            cpus=trial.client_cpus,
        )
        if isinstance(server, Cluster):
            return replace(run, environment=server.client_environment)
        return replace(
            run,
            conninfo=server.pgbench_conninfo,
            environment=server.pgbench_environment(trial.settings),
        )


def _short_hash(text: str) -> str:
    """So that clusters in two folders have two names, and so two notes."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]
