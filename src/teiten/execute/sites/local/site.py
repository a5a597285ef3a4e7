"""A cluster of this machine, cloned from a template: METHOD.md's steps on the server's side."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program, Running
from teiten.execute.client.here import ChildHere, Here
from teiten.execute.executor import Facts
from teiten.execute.pinning import confirm
from teiten.execute.postgres.cluster import Cluster, StopManner
from teiten.execute.postgres.initdb import BENCH_DATABASE
from teiten.execute.postgres.relation_files import path_of, segments
from teiten.execute.postgres.server_log import scan
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.contract import WARM, Node, StackSource
from teiten.execute.sites.evidence import keep, replaced
from teiten.execute.sites.failure import failure
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.server_facts import (
    non_default_settings,
    prewarm,
    read_server_facts,
    require_checksums,
)
from teiten.host.system.affinity import kept_off
from teiten.host.system.caches import drop_page_cache, evict_files
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.page_cache import NOTHING, PageCache, cached, cached_below, evict
from teiten.model.plan import PlannedTrial
from teiten.model.quantities import format_size
from teiten.model.starts import Start, start_of
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.local.keeper import LocalKeeper

OF_START = ("version", "settings", "data_checksums", "data_directory")
"""The facts that a server's start settles."""
SERVER = "server"
LEFT_OUTSIDE = 0.02
"""Of a limit of memory: so much of its cluster may be in the page cache outside of it."""
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
    limit: Limit | None = None

    def end(self, *, immediately: bool = False) -> None:
        self.cluster.stop(immediately=immediately)
        if self.limit is not None:
            self.limit.remove()


class LocalSite:
    """One trial's cluster. Every process of its server ends with ``stop`` or ``abandon``."""

    def __init__(
        self, keeper: LocalKeeper, trial: PlannedTrial, folder: Path, *, goes_on: bool
    ) -> None:
        """``folder``: for evidence. ``goes_on``: a later trial shares the start of this one's
        server."""
        bench = keeper.bench
        self._keeper, self._bench, self._trial = keeper, bench, trial
        self._measure = bench.plan.study.measure
        self._keeps = not bench.plan.study.workload(trial.cell.workload).changes_data
        self._folder, self._goes_on = folder, goes_on
        self._place: Place = (trial.template.fingerprint, trial.copy, trial.directory)
        self._cluster: Cluster | None = None
        self._limit: Limit | None = None
        self.client: Here = keeper.client
        self.facts: Facts = {}
        self.evidence: list[tuple[str, str]] = []
        self.warm = False
        """The server was started by an earlier pair."""
        self._left_running = False
        self._log_begins = 0
        """Where this trial's part of the server's log begins."""
        self._cflags = ""
        self._crashed = False
        self._sound = False
        """The cluster ended as it should, so that a kept one may be used again."""

    @property
    def cluster(self) -> Cluster:
        if self._cluster is None:
            raise RuntimeError("the trial has no cluster yet")
        return self._cluster

    def restore(self) -> Facts:
        if self._take_running():
            return dict(WARM)
        kept = self._keeper.kept.get(self._place) if self._keeps else None
        if kept is not None:
            kept.forget_log()
            self._cluster = kept
            return {"restored": False}
        self._cluster, report = self._keeper.clone(self._trial, kept=self._keeps)
        return {
            "restored": True,
            "method": str(report.method),
            "clone_seconds": report.seconds,
            "bytes": report.bytes,
        }

    def _take_running(self) -> bool:
        """Go on with the server of an earlier pair, where that runs and belongs to this one."""
        server = self._keeper.running.pop(self._place, None)
        if server is None:
            return False
        if server.start != start_of(self._trial) or not server.cluster.is_running():
            server.end(immediately=True)
            if self._keeper.kept.pop(self._place, None) is not None:
                self._keeper.remove(server.cluster)
            return False
        self._cluster, self.warm = server.cluster, True
        self._cflags, self._limit = server.cflags, server.limit
        self.facts |= server.facts
        self._log_begins = server.cluster.log_size()
        return True

    def caches(self) -> Facts:
        if self.warm:
            return dict(WARM)
        policy, limited = self._measure.caches, self._trial.memory_limit is not None
        if policy is CachePolicy.KEEP and not limited:
            return {"caches": "kept"}
        if policy is CachePolicy.DROP and drop_page_cache():
            return {"caches": "dropped", **self._left_outside()}
        evicted = evict_files(self.cluster.data_directory.parent)
        said = "evicted" if evicted else "kept: this system cannot evict"
        return {"caches": said, **self._left_outside()}

    def _left_outside(self) -> Facts:
        """What the page cache still holds of the cluster is not charged to its limit of memory: it
        was restored, or read by another trial, outside of it."""
        limit = self._trial.memory_limit
        if limit is None:
            return {}
        left = self.page_cache()
        if left is None or left.resident > limit * LEFT_OUTSIDE:
            what = "an unknown part" if left is None else format_size(left.resident)
            raise ServerError(
                f"{what} of the cluster's files stays in the page cache, outside of the limit of"
                f" {format_size(limit)}",
                "another program reads or maps them; or let the whole cache be dropped, as root:"
                " --set caches=drop",
            )
        return {"left_in_cache": left.resident}

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        """By a control group that server and load programs are started in."""
        if self.warm or (cpus is None and memory is None):
            return {}
        self._limit = Limit.make(self._keeper.machine.workdir, cpus, memory)
        return {"limit": self._limit.facts}

    def start(self) -> Facts:
        if self.warm:
            return dict(WARM)
        self.cluster.configure(self._bench.settings_of(self._trial))
        self.cluster.pin(self._trial.server_cpus)
        self.cluster.join(self._limit.groups if self._limit is not None else ())
        self.cluster.start()
        self._confirm_pinning(SERVER, self.cluster.pid, self._trial.server_cpus)
        facts = read_server_facts(self.connect)
        require_checksums(facts, self._trial.template)
        level = self._trial.cell.level("server") or self._trial.template.installation.name
        self._bench.note_server(level, facts, self._trial)
        self.facts["version"] = facts["version"]
        self.facts["data_checksums"] = facts["data_checksums"]
        if self._trial.directory is not None:
            self.facts["data_directory"] = str(self.cluster.data_directory)
        self._cflags = str(facts["build"].get("CFLAGS", ""))
        self.facts["settings"] = non_default_settings(self.connect)
        return {"version": facts["version_number"]}

    def prewarm(self) -> Facts:
        if self.warm:
            return dict(WARM)
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return prewarm(self.connect)

    def settle(self) -> Facts:
        if self.warm:
            return dict(WARM)
        with self.connect() as connection:
            connection.execute("CHECKPOINT")
        time.sleep(self._measure.settle)
        return {}

    def connect(self, _node: Node = None) -> psycopg.Connection[Any]:
        return self.cluster.connect(BENCH_DATABASE)

    def address(self, _node: Node = None) -> Address:
        cluster = self.cluster
        return Address.by_socket(
            cluster.socket_directory,
            cluster.port,
            cluster.user_name,
            BENCH_DATABASE,
            cluster.client_environment,
        )

    def spawn(self, program: Program) -> Running:
        child = ChildHere(program, self._limit.groups if self._limit is not None else ())
        try:
            self._confirm_pinning(program.name, child.pid, program.cpus)
        except BaseException:
            child.end(0.0)
            raise
        return child

    def sampler(self, _node: Node = None) -> Sampler:
        return Sampler(
            conninfo=self.cluster.conninfo(BENCH_DATABASE),
            version=self._trial.template.installation.version,
            postmaster_pid=self.cluster.pid or 0,
            devices=self._keeper.machine.devices,
        )

    def quiet(self) -> AbstractContextManager[None]:
        """Off the processors that only the server has; it may share them with the client."""
        cpus = self._trial.server_cpus
        return kept_off(() if set(cpus) & set(self._trial.client_cpus) else cpus)

    def page_cache(
        self, relation: str | None = None, _node: Node = None, *, first: Bytes | None = None
    ) -> PageCache | None:
        if relation is None:
            return cached_below(self.cluster.data_directory.parent)
        found, left = NOTHING, first
        with contextlib.closing(self._segments(relation)) as files:
            for file in files:
                one = cached(file, left)
                if one is None:
                    return None
                found += one
                left = None if first is None else Bytes(first - found.size)
        return found

    def evict(self, relation: str, _node: Node = None) -> bool:
        complete = True
        with contextlib.closing(self._segments(relation)) as files:
            for file in files:
                complete &= evict(file)
        return complete

    def _segments(self, relation: str) -> Generator[IO[bytes], None, None]:
        with self.connect() as connection:
            path = path_of(connection, relation)
        if path is None:
            raise ServerError(f"{relation} has no files of its own", "name a table or an index")
        try:
            yield from segments(self.cluster.data_directory, path)
        except OSError as error:
            raise ServerError(
                f"the files of {relation} cannot be read: {error}", "see the trial's log"
            ) from error

    def is_running(self) -> bool:
        return self._cluster is not None and self._cluster.is_running()

    def problems(self) -> tuple[Problem, ...]:
        if self._cluster is None:
            return ()
        log = self._cluster.read_log(self._log_begins).decode("utf-8", "replace")
        problems = scan(log)
        self._crashed = any(problem.code == "server-crash" for problem in problems)
        return (*self._out_of_memory(), *replaced(self._cluster), *problems)

    def _out_of_memory(self) -> tuple[Problem, ...]:
        """Processes of the server or its load that the kernel ended because of the limit."""
        limit, found = self._trial.memory_limit, self._limit
        if limit is None or found is None:
            return ()
        readings = self.facts["memory"] = found.readings()
        killed = readings.get("oom_kills", 0)
        if not killed:
            return ()
        return (Problem("out-of-memory", f"{killed} in {format_size(limit)}"),)

    def stacks(self) -> StackSource | None:
        version = self._trial.template.installation.version
        pid = self._cluster.pid if self._cluster is not None else None
        return StackSource(pid or 0, self._cflags, f"PostgreSQL {version}")

    def failure(self, error: psycopg.Error) -> ServerError:
        return failure(self._cluster.name if self._cluster is not None else SERVER, error)

    def stop(self, *, sound: bool) -> Facts:
        """Fast where the cluster is kept; data that was changed is thrown away, so that its
        shutdown checkpoint, which can take minutes, would be for nothing."""
        if self._cluster is None:
            return {}
        if sound and self._goes_on and self._keeps and self._cluster.is_running():
            self._left_running = True
            return {"stopped": "not yet: the next pair goes on with this server"}
        manner = self._cluster.stop(immediately=not self._keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back a cluster that was changed."""
        cluster = self._cluster
        if cluster is None:
            self._end_limit()
            return
        if self._left_running:
            self._keeper.running[self._place] = RunningServer(
                cluster, start_of(self._trial), self._facts_of_start(), self._cflags, self._limit
            )
            self._keeper.kept[self._place] = cluster
            self._cluster = self._limit = None
            self._keep_evidence(cluster)
            return
        cluster.stop(immediately=True)
        self._end_limit()
        try:
            self._keep_evidence(cluster)
        finally:
            self._cluster = None
            self._give_back(cluster)

    def _give_back(self, cluster: Cluster) -> None:
        if self._keeps and self._sound:
            self._keeper.kept[self._place] = cluster
            return
        if self._keeps:
            self._keeper.kept.pop(self._place, None)
        self._keeper.remove(cluster)

    def _end_limit(self) -> None:
        if self._limit is not None:
            self._limit.remove()
            self._limit = None

    def _facts_of_start(self) -> Facts:
        """What holds for every trial until the server is started anew."""
        found = {name: one for name, one in self.facts.items() if name in OF_START}
        pinned = self.facts.get("pinned", {})
        return found | ({"pinned": {SERVER: pinned[SERVER]}} if SERVER in pinned else {})

    def _confirm_pinning(self, what: str, pid: int | None, cpus: tuple[int, ...]) -> None:
        if cpus:
            self.facts.setdefault("pinned", {})[what] = confirm(what, pid, cpus)

    def _keep_evidence(self, cluster: Cluster) -> None:
        with contextlib.suppress(UnsafePlaceError):  # the trial's problems have told it
            keep(self._folder, cluster.log.name, cluster.read_log(self._log_begins))
            self.evidence.append(("server log", cluster.log.name))
        with contextlib.suppress(UnsafePlaceError):
            configuration = cluster.read_configuration()
            if configuration is not None:
                keep(self._folder, cluster.configuration.name, configuration)
                self.evidence.append(("configuration", cluster.configuration.name))
