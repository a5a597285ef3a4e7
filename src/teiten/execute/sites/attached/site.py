"""One trial on a server that Teiten did not start: METHOD.md's steps as far as they go there."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Mapping
from typing import Any

import psycopg

from teiten.errors import ServerError, TeitenError
from teiten.execute.executor import Facts
from teiten.execute.sites.attached.connection import Route, answering
from teiten.execute.sites.attached.keeper import AttachedDatabase, Attachments
from teiten.execute.bench import Bench
from teiten.execute.sites.server_facts import non_default_settings, prewarm, read_server_facts
from teiten.execute.sites.local.site import SingleServerTrial
from teiten.model.attached import AttachedServer
from teiten.model.installation import Version
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Problem

OF_THE_CLIENT = frozenset(
    {"cpu_steal_share", "cpu_other_share", "pgbench_cpu_share", "teiten_cpu_share"}
)
CPU_METRICS = OF_THE_CLIENT | {
    "cpu_user_share",
    "cpu_system_share",
    "cpu_iowait_share",
    "cpu_idle_share",
    "server_cpu_share",
    "context_switches",
}
MACHINE_METRICS = ("cpu_", "disk_", "context_")


SECRET = re.compile(r"password|passphrase|secret|token|conninfo|_command$|_key", re.IGNORECASE)
"""In the names of parameters whose values may hold a password, such as primary_conninfo."""


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a server that is somebody's, as they may stand in a ledger."""
    return {name: value for name, value in settings.items() if SECRET.search(name) is None}


class AttachedTrial(SingleServerTrial):
    """No restart, no files, no server log; the database is dropped where the trial changed it."""

    def __init__(self, bench: Bench, trial: PlannedTrial, attempt: int) -> None:
        super().__init__(bench, trial, attempt)
        attached, attachments = trial.template.installation.attached, bench.attachments
        if attached is None or attachments is None:
            raise RuntimeError("the trial's server is not attached")
        self._attached: AttachedServer = attached
        self._attachments: Attachments = attachments
        self._database: AttachedDatabase | None = None
        self._copy: str | None = None

    @property
    def server(self) -> AttachedDatabase:
        if self._database is None:
            raise ServerError("the trial has no database yet", "see the trial's log")
        return self._database

    def restore(self) -> Facts:
        shutil.rmtree(self.evidence, ignore_errors=True)
        self.evidence.mkdir(parents=True)
        template = self._trial.template
        original = self._attachments.original(template, self._trial.copy)
        if self._keeps:
            self._database = self._attachments.open(template, original)
            return {"restored": False, "database": original}
        self._copy = self._attachments.copy(template, original)
        self._database = self._attachments.open(template, self._copy)
        return {"restored": True, "database": self._copy}

    def caches(self) -> Facts:
        return {"caches": "kept: the server is attached"}

    def start(self) -> Facts:
        with self._answering():
            facts = read_server_facts(self._connect)
            settings = without_secrets(non_default_settings(self._connect))
        self._require_version(Version(facts["version_number"]))
        level = self._trial.cell.level("server") or self._trial.template.installation.name
        self._bench.note_server(level, facts, self._trial)
        self._gathered.facts["version"] = facts["version"]
        self._gathered.facts["settings"] = settings
        self._gathered.facts["session_settings"] = dict(self._trial.settings)
        return {"version": facts["version_number"], "started": False}

    def prewarm(self) -> Facts:
        if not self._measure.prewarm or not self._attached.can_prewarm:
            return {"prewarmed": False}
        with self._answering():
            return prewarm(self._connect)

    def settle(self) -> Facts:
        if self._attached.can_checkpoint:
            with self._answering(), self._connect() as connection:
                connection.execute("CHECKPOINT")
        time.sleep(self._measure.settle)
        return {"checkpoint": self._attached.can_checkpoint}

    def collect(self) -> Facts:
        facts = super().collect()
        kept = self._told_by_this_machine()
        gathered = self._gathered
        for name in {name for one in self._measured.slices for name in one.sampling.metrics}:
            of_machine = name.startswith(MACHINE_METRICS) or name.endswith("_cpu_share")
            if of_machine and name not in kept:
                gathered.metrics.pop(name, None)
        sources = ("disk:",) if self.server.pid is not None else ("os", "cpu:", "disk:")
        gathered.series = tuple(
            one for one in gathered.series if not one.source.startswith(sources)
        )
        return facts

    @property
    def profiles(self) -> bool:
        return False

    def stop(self, *, sound: bool) -> Facts:  # noqa: ARG002 - the server goes on either way
        self._drop_copy()
        return {"stopped": False}

    def abandon(self) -> None:
        """End what still runs, and drop the trial's own database; the server goes on."""
        if self._pgbench is not None:
            self._pgbench.stop()
        if self._sampler is not None:
            self._sampler.stop()
        self._drop_copy()
        if self._database is not None:
            self._note_evidence([])
        self._database = None

    def _require_version(self, found: Version) -> None:
        """The server may have been replaced since it was planned."""
        planned = self._trial.template.installation.version
        if found != planned:
            raise ServerError(
                f"the server {self.server.route.name} is PostgreSQL {found} now; the campaign was"
                f" planned for {planned}",
                "begin a new campaign: versions are not mixed on one side",
            )

    def _drop_copy(self) -> None:
        """One that cannot be dropped now is dropped at the campaign's end, or by teiten clean."""
        if self._copy is not None:
            with contextlib.suppress(TeitenError, OSError):
                self._attachments.drop(self._copy)
            self._copy = None

    def _told_by_this_machine(self) -> frozenset[str]:
        """The metrics of the machine that say something of this trial.

        The load generator's machine is all that we see of a server elsewhere. Which disk is an
        attached server's is never known.
        """
        if self.server.pid is not None:
            return CPU_METRICS
        if self._attached.loopback:  # here, but its processes cannot be told from those of others
            return OF_THE_CLIENT - {"cpu_other_share"}
        return OF_THE_CLIENT

    def _is_running(self) -> bool:
        return self._database is not None

    def _connect(self) -> psycopg.Connection[Any]:
        return self.server.connect(settings=self._trial.settings)

    def _log_problems(self) -> tuple[Problem, ...]:
        return ()

    def _answering(self) -> contextlib.AbstractContextManager[None]:
        route: Route = self.server.route
        return answering(route)
