"""Databases of a trial on servers that Teiten did not start: METHOD.md's steps as far as they go
there.

No restart, no files, no server log; the database is dropped where the trial changed it. The
telemetry is that of servers which may be on this machine or elsewhere.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import MachineError, ServerError, TeitenError
from teiten.execute.client.address import Address
from teiten.execute.executor import Facts
from teiten.execute.probes.procfs import ProcessIo, process_io
from teiten.execute.probes.sampler import Sampler, Sampling, open_reader
from teiten.execute.sites.attached.connection import unanswered
from teiten.execute.sites.contract import Site
from teiten.execute.sites.nodes import Nodes, TrialNode
from teiten.execute.sites.server_facts import non_default_settings, read_server_facts
from teiten.model.attached import AttachedServer
from teiten.model.installation import Version
from teiten.model.plan import FIRST, Node, PlannedTrial, TemplateSpec
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.attached.campaign import AttachedDatabase, AttachedDatabases


SECRET = re.compile(r"password|passphrase|secret|token|conninfo|_command$|_key", re.IGNORECASE)
"""In the names of parameters whose values may hold a password, such as primary_conninfo."""


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a server that is somebody's, as they may stand in a ledger."""
    return {name: value for name, value in settings.items() if SECRET.search(name) is None}


class AttachedNode(TrialNode):
    """A database of one trial on one of its servers."""

    def __init__(self, campaign: AttachedDatabases, trial: PlannedTrial, number: Node) -> None:
        super().__init__(campaign.bench, trial, number)
        self._campaign = campaign
        self.server: AttachedServer = permitted(self.template)
        self.found: AttachedDatabase | None = None
        self._copy: str | None = None
        self._sound = False

    @property
    def database(self) -> AttachedDatabase:
        if self.found is None:
            raise ServerError("the trial has no database yet", "see the trial's log")
        return self.found

    @property
    def name(self) -> str | None:
        """The database's, once there is one."""
        return None if self.found is None else self.found.database

    def restore(self, like: str | None) -> Facts:
        """``like``: how the first node's database is named, where tables are spread: some engines
        know one name on all nodes."""
        campaign, cluster = self._campaign, self._trial.cluster_of(self.number)
        if self._restores and self._trial.distribution is not None:
            name = self._copy = campaign.create(self.template, like)[0]
        else:
            name = campaign.original(self.template, cluster, like)
            if self._restores:
                name = self._copy = campaign.copy(self.template, name)
        self.found = campaign.open(self.template, name)
        return {"restored": self._restores, "database": name}

    def start(self) -> Facts:
        reported = self.reported = read_server_facts(self.connect)
        settings = without_secrets(non_default_settings(self.connect))
        self._require_version(Version(reported["version_number"]))
        self._own_facts |= {
            "version": reported["version"],
            "settings": settings,
            "session_settings": dict(self._trial.settings),
        }
        return {"version": reported["version_number"], "started": False}

    def prewarm(self) -> Facts:
        return super().prewarm() if self.server.can_prewarm else {"prewarmed": False}

    def checkpoint(self) -> Facts:
        if self.server.can_checkpoint:
            super().checkpoint()
        return {"checkpoint": self.server.can_checkpoint}

    def connect(self) -> psycopg.Connection[Any]:
        return self.database.connect(settings=self._trial.settings)

    def stop(self, *, sound: bool) -> None:
        self._sound = sound
        self._drop_copy()

    def give_back(self) -> None:
        """Drop the copy, and a kept database that a failed trial may have left half made."""
        if not self._restores and self._trial.distribution is not None and not self._sound:
            self._copy = self.name
        self._drop_copy()
        self.found = None

    def _drop_copy(self) -> None:
        """One that cannot be dropped now is dropped at the campaign's end, or by teiten clean."""
        if self._copy is not None:
            with contextlib.suppress(TeitenError, OSError):
                self._campaign.drop(self.server.address, self._copy)
            self._copy = None

    def _require_version(self, running: Version) -> None:
        """The server may have been replaced since it was planned."""
        planned = self.template.installation.version
        if running != planned:
            raise ServerError(
                f"the server {self.database.route.name} is PostgreSQL {running} now; the campaign"
                f" was planned for {planned}",
                "begin a new campaign: versions are not mixed on one side",
            )


def permitted(template: TemplateSpec) -> AttachedServer:
    """Find what the role of a template's server may do there."""
    attached = template.installation.attached
    if attached is None:
        raise RuntimeError(f"{template.installation.name} is not attached")
    return attached


class AttachedSite(Site):
    """One trial's databases; the servers go on whatever happens."""

    _nodes: Nodes[AttachedNode]

    def __init__(self, campaign: AttachedDatabases, trial: PlannedTrial) -> None:
        nodes = Nodes(AttachedNode(campaign, trial, number) for number, _ in trial.nodes)
        super().__init__(campaign.bench, trial, nodes, campaign.client)

    def restore(self) -> Facts:
        first, spread = self._nodes.first, self._trial.distribution is not None
        return self._nodes.of_each(lambda node: node.restore(first.name if spread else None))

    def caches(self) -> Facts:
        return {"caches": "kept: the server is attached"}

    def limit(self, memory: Bytes | None) -> Facts:
        if memory is None:
            return {}
        name = self._nodes.first.template.installation.name
        raise MachineError(
            f"the server {name} is attached: Teiten does not start it, and cannot limit what it"
            " uses",
            "leave the limit out, or compare servers that Teiten starts: --servers 17,18",
        )

    def start(self) -> Facts:
        return self._noted(self._nodes.of_each(AttachedNode.start))

    def address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).database.address(self._trial.settings)

    def peer_address(self, node: Node = FIRST) -> Address:
        return self.address(node)

    def sampler(self, node: Node = FIRST) -> Sampler:
        asked = self._nodes.node(node)
        others = tuple(member.database for member in self._nodes if member is not asked)
        return AttachedSampler(
            asked.database,
            asked.template.installation.version,
            loopback=asked.server.loopback,
            beside=others if asked is self._nodes.first else None,
        )

    def process_io(self, pid: int) -> ProcessIo | None:
        """Only of a server whose processes are this machine's."""
        return process_io(pid) if self._nodes.first.server.local else None

    def is_running(self) -> bool:
        return all(node.found is not None for node in self._nodes)

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def failure(self, error: psycopg.Error) -> ServerError:
        """An error does not say which node's it is: the one that was asked last."""
        return unanswered(self._nodes.asked.database.route, error)

    def stop(self, *, sound: bool) -> Facts:
        for node in self._nodes:
            node.stop(sound=sound)
        return {"stopped": False}

    def abandon(self) -> None:
        """Drop the trial's own databases."""
        for node in self._nodes:
            node.give_back()


OF_THE_CLIENT = frozenset(
    {"cpu_steal_share", "cpu_other_share", "pgbench_cpu_share", "teiten_cpu_share"}
)
OF_THE_SERVER = "server_cpu_share"
DISK_METRICS = "disk_"
MACHINE_METRICS = ("cpu_", DISK_METRICS, "context_")


class AttachedSampler(Sampler):
    """Tells of this machine only what says something of a server that may be elsewhere; and what
    nodes have in common of the first one alone."""

    def __init__(
        self,
        database: AttachedDatabase,
        version: Version,
        *,
        loopback: bool,
        beside: tuple[AttachedDatabase, ...] | None,
    ) -> None:
        """``beside``: of the trial's other nodes; None where this is not the first one."""
        here = [node.pid for node in (database, *(beside or ())) if node.pid is not None]
        super().__init__(
            conninfo=database.conninfo(),
            version=version,
            reader=open_reader(tuple(dict.fromkeys(here)), ()),
        )
        self._here, self._loopback = database.pid is not None, loopback
        self._first = beside is not None

    def _collect(self) -> Sampling:
        sampling = super()._collect()
        whole = self._here and self._first
        sources = ("disk:",) if whole else ("os", "cpu:", "disk:")
        return replace(
            sampling,
            metrics={
                name: value for name, value in sampling.metrics.items() if self._is_told(name)
            },
            series=tuple(
                series for series in sampling.series if not series.source.startswith(sources)
            ),
        )

    def _is_told(self, name: str) -> bool:
        """The load generator's machine is all that we see of a server elsewhere. Which disk is an
        attached server's is never known."""
        if not name.startswith(MACHINE_METRICS) and not name.endswith("_cpu_share"):
            return True
        if not self._first:
            return self._here and name == OF_THE_SERVER
        if self._here:
            return not name.startswith(DISK_METRICS)
        # on a loopback it is here, but its processes cannot be told from those of others
        return name in OF_THE_CLIENT and not (self._loopback and name == "cpu_other_share")
