"""A database on a server that Teiten did not start: METHOD.md's steps as far as they go there.

No restart, no files, no server log; the database is dropped where the trial changed it.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping
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
from teiten.execute.sites.nodes import node_of, together
from teiten.execute.sites.server_facts import non_default_settings, prewarm, read_server_facts
from teiten.model.attached import AttachedServer
from teiten.model.installation import Version
from teiten.model.plan import FIRST, Node, PlannedTrial, TemplateSpec
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
            postmasters=() if database.pid is None else (database.pid,),
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


class AttachedNode:
    """A database of one trial on one of its servers."""

    def __init__(self, keeper: AttachedKeeper, trial: PlannedTrial, number: Node) -> None:
        self._keeper, self._trial = keeper, trial
        self.number = number
        self.template = dict(trial.nodes)[number]
        self.server: AttachedServer = permitted(self.template)
        self._keeps = not keeper.bench.plan.study.workload(trial.cell.workload).changes_data
        self.found: AttachedDatabase | None = None
        self._copy: str | None = None
        self.facts: Facts = {}
        self.told: dict[str, Any] = {}
        """What the server has said of itself."""

    @property
    def database(self) -> AttachedDatabase:
        if self.found is None:
            raise ServerError("the trial has no database yet", "see the trial's log")
        return self.found

    def restore(self) -> Facts:
        original = self._keeper.original(self.template, self._trial.cluster_of(self.number))
        if self._keeps:
            self.found = self._keeper.open(self.template, original)
            return {"restored": False, "database": original}
        self._copy = self._keeper.copy(self.template, original)
        self.found = self._keeper.open(self.template, self._copy)
        return {"restored": True, "database": self._copy}

    def start(self) -> Facts:
        told = self.told = read_server_facts(self.connect)
        settings = without_secrets(non_default_settings(self.connect))
        self._require_version(Version(told["version_number"]))
        self.facts["version"] = told["version"]
        self.facts["settings"] = settings
        self.facts["session_settings"] = dict(self._trial.settings)
        return {"version": told["version_number"], "started": False}

    def prewarm(self) -> Facts:
        return prewarm(self.connect) if self.server.can_prewarm else {"prewarmed": False}

    def checkpoint(self) -> Facts:
        if self.server.can_checkpoint:
            with self.connect() as connection:
                connection.execute("CHECKPOINT")
        return {"checkpoint": self.server.can_checkpoint}

    def connect(self) -> psycopg.Connection[Any]:
        return self.database.connect(settings=self._trial.settings)

    def drop_copy(self) -> None:
        """One that cannot be dropped now is dropped at the campaign's end, or by teiten clean."""
        if self._copy is not None:
            with contextlib.suppress(TeitenError, OSError):
                self._keeper.drop(self._copy)
            self._copy = None

    def _require_version(self, found: Version) -> None:
        """The server may have been replaced since it was planned."""
        planned = self.template.installation.version
        if found != planned:
            raise ServerError(
                f"the server {self.database.route.name} is PostgreSQL {found} now; the campaign was"
                f" planned for {planned}",
                "begin a new campaign: versions are not mixed on one side",
            )


class AttachedSite:
    """One trial's databases; the servers go on whatever happens."""

    warm = False

    def __init__(self, keeper: AttachedKeeper, trial: PlannedTrial) -> None:
        bench = keeper.bench
        self._bench, self._trial = bench, trial
        self._measure = bench.plan.study.measure
        self._nodes = tuple(AttachedNode(keeper, trial, number) for number, _ in trial.nodes)
        self._first = self._asked = self._nodes[0]
        self.client: Client = keeper.client
        self.evidence: tuple[tuple[str, str], ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(one.number for one in self._nodes)

    @property
    def facts(self) -> Facts:
        return together([one.facts for one in self._nodes])

    def restore(self) -> Facts:
        return self._of_each(AttachedNode.restore)

    def caches(self) -> Facts:
        return {"caches": "kept: the server is attached"}

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        if cpus is None and memory is None:
            return {}
        raise MachineError(
            f"the server {self._first.template.installation.name} is attached: Teiten does not"
            " start it, and cannot limit what it uses",
            "leave the limit out, or compare servers that Teiten starts: --servers 17,18",
        )

    def start(self) -> Facts:
        started = self._of_each(AttachedNode.start)
        level = self._trial.cell.level("server") or self._first.template.installation.name
        self._bench.note_server(level, self._first.told, self._trial)
        return started

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return self._of_each(AttachedNode.prewarm)

    def settle(self) -> Facts:
        settled = self._of_each(AttachedNode.checkpoint)
        time.sleep(self._measure.settle)
        return settled

    def _of_each(self, step: Callable[[AttachedNode], Facts]) -> Facts:
        found = []
        for one in self._nodes:
            self._asked = one
            found.append(step(one))
        return together(found)

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        self._asked = node_of(self._nodes, node)
        return self._asked.connect()

    def address(self, node: Node = FIRST) -> Address:
        return node_of(self._nodes, node).database.address(self._trial.settings)

    def spawn(self, program: Program) -> Running:
        return self.client.spawn(program)

    def sampler(self, node: Node = FIRST) -> Sampler:
        one = node_of(self._nodes, node)
        version, loopback = one.template.installation.version, one.server.loopback
        return AttachedSampler(one.database, version, loopback=loopback)

    def quiet(self) -> AbstractContextManager[None]:
        return nullcontext()

    def page_cache(
        self,
        _relation: str | None = None,
        _node: Node = FIRST,
        *,
        first: Bytes | None = None,
    ) -> None:
        """Nobody but the server sees its files."""

    def evict(self, _relation: str, _node: Node = FIRST) -> bool:
        return False

    def is_running(self) -> bool:
        return all(one.found is not None for one in self._nodes)

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def stacks(self) -> None:
        return None

    def failure(self, error: psycopg.Error) -> ServerError:
        """An error does not say which node's it is: the one that was asked last."""
        return unanswered(self._asked.database.route, error)

    def stop(self, *, sound: bool) -> Facts:  # noqa: ARG002 - the servers go on either way
        for one in self._nodes:
            one.drop_copy()
        return {"stopped": False}

    def abandon(self) -> None:
        """Drop the trial's own databases."""
        for one in self._nodes:
            one.drop_copy()
            one.found = None


def permitted(template: TemplateSpec) -> AttachedServer:
    """What the role of a template's server may do there."""
    attached = template.installation.attached
    if attached is None:
        raise RuntimeError(f"{template.installation.name} is not attached")
    return attached


def _is_of_machine(name: str) -> bool:
    return name.startswith(MACHINE_METRICS) or name.endswith("_cpu_share")
