"""A database on a server that Teiten did not start: METHOD.md's steps as far as they go there.

No restart, no files, no server log; the database is dropped where the trial changed it.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import MachineError, ServerError, TeitenError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.probes.sampler import Sampler, Sampling
from teiten.execute.sites.attached.connection import unanswered
from teiten.execute.sites.contract import Node
from teiten.execute.sites.server_facts import non_default_settings, prewarm, read_server_facts
from teiten.model.attached import AttachedServer
from teiten.model.installation import Version
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.attached.keeper import AttachedDatabase, AttachedKeeper

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


class AttachedSampler(Sampler):
    """Tells of this machine only what says something of a server that may be elsewhere."""

    def __init__(self, database: AttachedDatabase, version: Version, *, loopback: bool) -> None:
        super().__init__(
            conninfo=database.conninfo(),
            version=version,
            postmaster_pid=database.pid or 0,
            devices=(),
        )
        self._here, self._loopback = database.pid is not None, loopback

    def _end(self) -> Sampling:
        found = super()._end()
        told = self._told_by_this_machine()
        sources = ("disk:",) if self._here else ("os", "cpu:", "disk:")
        return replace(
            found,
            metrics={
                name: value
                for name, value in found.metrics.items()
                if name in told or not _is_of_machine(name)
            },
            series=tuple(one for one in found.series if not one.source.startswith(sources)),
        )

    def _told_by_this_machine(self) -> frozenset[str]:
        """The load generator's machine is all that we see of a server elsewhere. Which disk is an
        attached server's is never known."""
        if self._here:
            return CPU_METRICS
        if self._loopback:  # here, but its processes cannot be told from those of others
            return OF_THE_CLIENT - {"cpu_other_share"}
        return OF_THE_CLIENT


class AttachedSite:
    """One trial's database; the server goes on whatever happens."""

    warm = False

    def __init__(self, keeper: AttachedKeeper, trial: PlannedTrial) -> None:
        attached = trial.template.installation.attached
        if attached is None:
            raise RuntimeError("the trial's server is not attached")
        bench = keeper.bench
        self._keeper, self._bench, self._trial = keeper, bench, trial
        self._measure = bench.plan.study.measure
        self._keeps = not bench.plan.study.workload(trial.cell.workload).changes_data
        self._attached: AttachedServer = attached
        self._database: AttachedDatabase | None = None
        self._copy: str | None = None
        self.client: Client = keeper.client
        self.facts: Facts = {}
        self.evidence: list[tuple[str, str]] = []

    @property
    def database(self) -> AttachedDatabase:
        if self._database is None:
            raise ServerError("the trial has no database yet", "see the trial's log")
        return self._database

    def restore(self) -> Facts:
        template = self._trial.template
        original = self._keeper.original(template, self._trial.copy)
        if self._keeps:
            self._database = self._keeper.open(template, original)
            return {"restored": False, "database": original}
        self._copy = self._keeper.copy(template, original)
        self._database = self._keeper.open(template, self._copy)
        return {"restored": True, "database": self._copy}

    def caches(self) -> Facts:
        return {"caches": "kept: the server is attached"}

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        if cpus is None and memory is None:
            return {}
        raise MachineError(
            f"the server {self._trial.template.installation.name} is attached: Teiten does not"
            " start it, and cannot limit what it uses",
            "leave the limit out, or compare servers that Teiten starts: --servers 17,18",
        )

    def start(self) -> Facts:
        facts = read_server_facts(self.connect)
        settings = without_secrets(non_default_settings(self.connect))
        self._require_version(Version(facts["version_number"]))
        level = self._trial.cell.level("server") or self._trial.template.installation.name
        self._bench.note_server(level, facts, self._trial)
        self.facts["version"] = facts["version"]
        self.facts["settings"] = settings
        self.facts["session_settings"] = dict(self._trial.settings)
        return {"version": facts["version_number"], "started": False}

    def prewarm(self) -> Facts:
        if not self._measure.prewarm or not self._attached.can_prewarm:
            return {"prewarmed": False}
        return prewarm(self.connect)

    def settle(self) -> Facts:
        if self._attached.can_checkpoint:
            with self.connect() as connection:
                connection.execute("CHECKPOINT")
        time.sleep(self._measure.settle)
        return {"checkpoint": self._attached.can_checkpoint}

    def connect(self, _node: Node = None) -> psycopg.Connection[Any]:
        return self.database.connect(settings=self._trial.settings)

    def address(self, _node: Node = None) -> Address:
        return self.database.address(self._trial.settings)

    def spawn(self, program: Program) -> Running:
        return self.client.spawn(program)

    def sampler(self, _node: Node = None) -> Sampler:
        version = self._trial.template.installation.version
        return AttachedSampler(self.database, version, loopback=self._attached.loopback)

    def quiet(self) -> AbstractContextManager[None]:
        return nullcontext()

    def page_cache(
        self,
        _relation: str | None = None,
        _node: Node = None,
        *,
        first: Bytes | None = None,
    ) -> None:
        """Nobody but the server sees its files."""

    def evict(self, _relation: str, _node: Node = None) -> bool:
        return False

    def is_running(self) -> bool:
        return self._database is not None

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def stacks(self) -> None:
        return None

    def failure(self, error: psycopg.Error) -> ServerError:
        return unanswered(self.database.route, error)

    def stop(self, *, sound: bool) -> Facts:  # noqa: ARG002 - the server goes on either way
        self._drop_copy()
        return {"stopped": False}

    def abandon(self) -> None:
        """Drop the trial's own database."""
        self._drop_copy()
        self._database = None

    def _require_version(self, found: Version) -> None:
        """The server may have been replaced since it was planned."""
        planned = self._trial.template.installation.version
        if found != planned:
            raise ServerError(
                f"the server {self.database.route.name} is PostgreSQL {found} now; the campaign was"
                f" planned for {planned}",
                "begin a new campaign: versions are not mixed on one side",
            )

    def _drop_copy(self) -> None:
        """One that cannot be dropped now is dropped at the campaign's end, or by teiten clean."""
        if self._copy is not None:
            with contextlib.suppress(TeitenError, OSError):
                self._keeper.drop(self._copy)
            self._copy = None


def _is_of_machine(name: str) -> bool:
    return name.startswith(MACHINE_METRICS) or name.endswith("_cpu_share")
