"""One server of a trial: a cluster that is cloned from a template, on its host.

Files of a server that are kept beside its trial, and what became of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import ServerError, TeitenError
from teiten.execute.applied import command_of
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import BENCH_DATABASE, StartOptions, StopManner
from teiten.execute.postgres.server_log import scan, wait_until_ready
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.hosted import (
    CampaignClusters,
    ClusterPlace,
    HostedCluster,
    HostLostError,
    Launch,
    RunningServer,
)
from teiten.execute.sites.local.limit import out_of_memory
from teiten.execute.sites.local.node_emulation import TrialLimits
from teiten.execute.sites.nodes import TrialNode, file_of
from teiten.execute.sites.server_facts import (
    non_default_settings,
    read_server_facts,
    require_checksums,
)
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.model.plan import Node, PlannedTrial
from teiten.model.trial import BOOT, Problem
from teiten.model.units import Seconds

SERVER = "server"
CRASHED = "server-crash"
ENDED_UNSAID = "the server has ended, and its log does not say why"
"""Somebody killed its postmaster, or the kernel did."""
LOG, CONFIGURATION = "server.log", "postgresql.conf"
KILL_ITSELF = "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'"
"""A shell's parent is the backend that has started it."""
CRASH_HANDLED = b"all server processes terminated; reinitializing"
"""The postmaster's word for each crash; messages of our clusters are in English."""
CRASH_SHUTDOWN = "57P02"
"""SQLSTATE of the last word to a connection when another process has crashed."""
LOOK_EVERY = 0.005
"""Seconds between two attempts to connect to a server that recovers."""
NOT_KEPT = "evidence_not_kept"
"""The fact that says why a file of the server is not in the evidence, by its kind."""


class ClusterNode(TrialNode):
    """A cluster of one trial, and its server while it runs."""

    def __init__(
        self, clusters: CampaignClusters, trial: PlannedTrial, number: Node, folder: Path
    ) -> None:
        """``folder``: for evidence."""
        super().__init__(clusters.bench, trial, number)
        self._clusters, self._folder = clusters, folder
        self.host = clusters.host(trial, number)
        self.place: ClusterPlace = (self.host.number, trial.cluster_of(number), trial.directory)
        self.keeps = not self._restores and trial.placement is None
        """No trial changes the data, so that the next one can have the cluster. Clusters of
        placements are not kept: a fast storage is small, and holds one at a time."""
        self.found: HostedCluster | None = None
        """None before there is one, and after it was given back."""
        self.cflags = ""
        self._of_start: Facts = {}
        """The facts that a server's start settles."""
        self._log_begins = 0
        """Where this trial's part of the server's log begins."""
        self._recovered = 0
        """Where the log's part after a crash of ours begins; 0 where there was none."""
        self._before_crash: tuple[Problem, ...] = ()
        self._started = self._crashed = False
        self._sound = False
        """The cluster ended as it should, so that a kept one may be used again."""

    @property
    def cluster(self) -> HostedCluster:
        if self.found is None:
            raise RuntimeError("the trial has no cluster yet")
        return self.found

    @property
    def facts(self) -> Facts:
        return {**self._of_start, **self._own_facts}

    def restore(self) -> Facts:
        self.found = self._clusters.kept.get(self.place) if self.keeps else None
        if self.found is not None:
            self._log_begins = self.found.log_size()
            return {"restored": False}
        self.found, report = self._clusters.clone(self._trial, self.number, kept=self.keeps)
        self._own_facts |= self.found.facts
        return {
            "restored": True,
            "method": str(report.method),
            "clone_seconds": report.seconds,
            "bytes": report.bytes,
        }

    def take(self, server: RunningServer) -> None:
        """Go on with the server of an earlier pair."""
        self.found, self.cflags, self._started = server.cluster, server.cflags, True
        self._of_start |= server.facts
        self._log_begins = server.cluster.log_size()

    def start(self, limits: TrialLimits, *, knows_passwords: bool) -> Facts:
        own, trial = limits.of_node(self.number), self._trial
        options = StartOptions(
            cpus=(own.machine.cpus if own is not None else ()) or trial.server_cpus,
            command=command_of(trial.applied),
            groups=limits.groups if own is None else (*limits.groups, *own.limit.groups),
            space=None if own is None else own.space,
            opening=None if own is None else own.opening,
            port=self._clusters.port(trial, self.number),
            knows_passwords=knows_passwords,
        )
        launch = Launch(self._clusters.bench.settings_of(trial), options, own, trial.applied)
        self._log_begins = 0
        self._of_start |= self.cluster.launch(launch)
        self._started = True
        reported = self.reported = read_server_facts(self.connect)
        require_checksums(reported, self.template)
        self.cflags = str(reported.get("build", {}).get("CFLAGS", ""))
        self._of_start |= {
            "version": reported["version"],
            BOOT: self.host.boot,
            "data_checksums": reported["data_checksums"],
            "settings": non_default_settings(self.connect),
        }
        return {"version": reported["version_number"]}

    def connect(self) -> psycopg.Connection[Any]:
        return self.cluster.connect(BENCH_DATABASE)

    def crash(self, check: Callable[[], None]) -> Seconds:
        """Have a backend killed, as its own user: the postmaster then ends all the others and
        recovers, within the same process. The seconds until it takes connections again. ``check``:
        raises where someone asked for the end. Raises ServerError where it does not recover."""
        before = self._logged(self.cluster)
        with closing(self.connect()) as victim, closing(self.connect()) as witness:
            begun = time.perf_counter()
            with _suppress_lost():
                victim.execute(KILL_ITSELF)
                raise ServerError(f"{self.name} did not crash", "see what its log says of it")
            with _suppress_lost():  # until it is ended too, the postmaster has not noticed
                while True:
                    check()
                    witness.execute("SELECT 1")

        def ended() -> bool:
            check()
            return self.has_ended()

        if wait_until_ready(ended, self.connect, interval=LOOK_EVERY) is not None:
            raise ServerError(f"{self.name} did not recover from a crash", "see its log")
        seconds = Seconds(time.perf_counter() - begun)
        if self.cluster.read_log(self._log_begins).count(CRASH_HANDLED) != 1:
            raise ServerError(f"{self.name} crashed again while it recovered", "see its log")
        self._before_crash, self._recovered = before, self.cluster.log_size()
        return seconds

    def sampler(self, reader: OsReader, **options: Any) -> Sampler:
        """``reader``: of the host, perhaps of this server alone."""
        return Sampler(
            conninfo=self.cluster.conninfo(BENCH_DATABASE),
            version=self.template.installation.version,
            reader=self.cluster.with_own_use(reader),
            **options,
        )

    @property
    def name(self) -> str:
        """For messages."""
        return self.found.name if self.found is not None else SERVER

    @property
    def pid(self) -> int | None:
        """The postmaster's on its host, while it runs."""
        return self.found.pid if self.found is not None else None

    def has_ended(self) -> bool:
        """By itself, or by somebody else."""
        return self._started and self.found is not None and self.found.has_ended()

    def is_running(self) -> bool:
        return self.found is not None and self.found.is_running()

    def problems(self) -> tuple[Problem, ...]:
        if self.found is None:
            return ()
        problems = self._logged(self.found)
        if self.has_ended() and not any(problem.code == CRASHED for problem in problems):
            problems = (Problem(CRASHED, ENDED_UNSAID), *problems)
        self._crashed = any(problem.code == CRASHED for problem in problems)
        replaced = self.found.replaced_file()
        if replaced is not None:  # a trial of a server whose files are others' says nothing
            problems = (Problem("replaced-file", replaced), *problems)
        own = self.found.emulated
        if own is not None:
            ended = out_of_memory(own.limit, own.machine.memory, self._own_facts)
            problems = (*ended, *problems)
        return problems

    def _logged(self, cluster: HostedCluster) -> tuple[Problem, ...]:
        """Problems that the server's log tells of, but for a crash of ours."""
        log = cluster.read_log(self._recovered or self._log_begins)
        return (*self._before_crash, *scan(log.decode("utf-8", "replace")))

    def stop(self) -> Facts:
        """Fast where the cluster is kept; data that was changed is thrown away, so that its
        shutdown checkpoint, which can take minutes, would be for nothing."""
        if self.found is None:
            return {}
        manner = self.found.stop(immediately=not self.keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def leave_running(self) -> RunningServer:
        """For the next pair; from now on it belongs to the campaign."""
        cluster, self.found = self.cluster, None
        self._clusters.kept[self.place] = cluster
        return RunningServer(cluster, self._of_start, self.cflags)

    def end(self) -> None:
        """At once, where it still runs."""
        if self.found is not None and not self.host.lost:
            with contextlib.suppress(TeitenError, OSError):
                self.found.stop(immediately=True)

    def give_back(self) -> None:
        """Keep the evidence, and the cluster where the next trial can have it."""
        cluster, self.found = self.found, None
        if cluster is None or self.host.lost:
            return
        try:
            self.keep_evidence(cluster)
        finally:
            if self.keeps and self._sound:
                self._clusters.kept[self.place] = cluster
            else:
                if self.keeps:
                    self._clusters.kept.pop(self.place, None)
                self._clusters.remove(cluster)

    def keep_evidence(self, cluster: HostedCluster) -> None:
        """Copy the server's files; the trial has been measured, and counts without them too."""
        self._keep("server log", LOG, lambda: cluster.read_log(self._log_begins))
        self._keep("configuration", CONFIGURATION, cluster.read_configuration)

    def _keep(self, kind: str, file: str, read: Callable[[], bytes | None]) -> None:
        name = file_of(self.number, file)
        with contextlib.suppress(HostLostError, UnsafePlaceError):  # the trial's problems have it
            try:
                content = read()
                if content is None:
                    return
                keep(self._folder, name, content)
            except OSError as error:  # a full disk
                self._own_facts.setdefault(NOT_KEPT, {})[kind] = str(error)
                return
            self.evidence.append((kind, name))


@contextlib.contextmanager
def _suppress_lost() -> Iterator[None]:
    """Go on where a connection is lost because its server's processes end."""
    try:
        yield
    except psycopg.OperationalError as error:
        if error.sqlstate not in (None, CRASH_SHUTDOWN):
            raise


def keep(folder: Path, name: str, content: bytes) -> None:
    """Write a server's file into the evidence, for those alone who may read the server's."""
    with HeldFolder.open_itself(folder) as evidence:
        evidence.write(name, content, durable=True)
