"""A cluster on the db host, with the load on the client host: all of METHOD.md's steps.

A connection that is lost ends the campaign, not the trial alone.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import MachineError, ServerError, TeitenError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import StopManner
from teiten.execute.postgres.initdb import BENCH_DATABASE
from teiten.execute.postgres.server_log import scan
from teiten.execute.sites.contract import Node
from teiten.execute.sites.evidence import keep, replaced
from teiten.execute.sites.remote.cluster import RemoteCluster
from teiten.execute.sites.remote.sampling import RemoteReader, RemoteSampler
from teiten.execute.sites.server_facts import (
    non_default_settings,
    prewarm,
    read_server_facts,
    require_checksums,
)
from teiten.model.plan import PlannedTrial
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.remote.keeper import RemoteKeeper

REACH_TIMEOUT = 10.0
"""Seconds within which the client host must reach the server."""
SERVER_LOG, CONFIGURATION = "server.log", "postgresql.conf"
ROUND_TRIPS = 9


class RemoteSite:
    """One trial's cluster. Where a host is lost, its agent gives everything back by itself."""

    warm = False

    def __init__(self, keeper: RemoteKeeper, trial: PlannedTrial, folder: Path) -> None:
        bench = keeper.bench
        self._keeper, self._bench, self._trial, self._folder = keeper, bench, trial, folder
        self._measure = bench.plan.study.measure
        self._keeps = not bench.plan.study.workload(trial.cell.workload).changes_data
        use = "kept" if self._keeps else "once"
        copy = "" if trial.copy == 1 else f"-{trial.copy}"
        self._key = f"{trial.template.fingerprint[:12]}{copy}-{use}"
        self._cluster: RemoteCluster | None = None
        self._crashed = False
        self._sound = False
        self.client: Client = keeper.client
        self.facts: Facts = {}

    @property
    def cluster(self) -> RemoteCluster:
        if self._cluster is None:
            raise RuntimeError("the trial has no cluster yet")
        return self._cluster

    def restore(self) -> Facts:
        kept = self._keeper.kept.get(self._key) if self._keeps else None
        if kept is not None:
            self._cluster = kept
            return {"restored": False}
        self._cluster, report = self._keeper.clone(self._trial.template, self._key)
        return {
            "restored": True,
            "method": report["method"],
            "clone_seconds": report["seconds"],
            "bytes": report["bytes"],
        }

    def caches(self) -> Facts:
        policy = self._measure.caches
        if policy is CachePolicy.KEEP:
            return {"caches": "kept"}
        db = self._keeper.pair.db
        return {"caches": db.call("clusters.caches", key=self.cluster.key, policy=str(policy))}

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        if cpus is None and memory is None:
            return {}
        raise MachineError(
            "what servers and load programs on other hosts use cannot be limited yet",
            "leave the limit out, or run the study on that host itself",
        )

    def start(self) -> Facts:
        self._launch()
        facts = read_server_facts(self.connect)
        require_checksums(facts, self._trial.template)
        level = self._trial.cell.level("server") or self._trial.template.installation.name
        self._bench.note_server(level, facts, self._trial)
        self.facts["version"] = facts["version"]
        self.facts["data_checksums"] = facts["data_checksums"]
        self.facts["settings"] = non_default_settings(self.connect)
        self.facts["round_trip"] = self._round_trip()
        return {"version": facts["version_number"]}

    def _launch(self) -> None:
        keeper = self._keeper
        self.cluster.start(self._bench.settings_of(self._trial), keeper.way, keeper.port)
        if keeper.way is not None:
            keeper.pair.client.call(
                "machine.reach",
                address=keeper.way.address,
                port=self.cluster.port,
                timeout=REACH_TIMEOUT,
            )

    def _round_trip(self) -> float:
        """Seconds of a statement that does nothing on our own connection, the median of some: what
        is timed from here holds so much of the way."""
        seconds = []
        with self.connect() as connection:
            for _ in range(ROUND_TRIPS):
                begun = time.perf_counter()
                connection.execute("SELECT 1")
                seconds.append(time.perf_counter() - begun)
        return statistics.median(seconds)

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return prewarm(self.connect)

    def settle(self) -> Facts:
        with self.connect() as connection:
            connection.execute("CHECKPOINT")
        clocks = self._keeper.clocks()
        self.facts["clocks"] = clocks
        time.sleep(self._measure.settle)
        return {"clocks": clocks}

    def connect(self, _node: Node = None) -> psycopg.Connection[Any]:
        return self.cluster.connect(BENCH_DATABASE)

    def address(self, _node: Node = None) -> Address:
        return self.cluster.address()

    def spawn(self, program: Program) -> Running:
        return self.client.spawn(program)

    def sampler(self, _node: Node = None) -> RemoteSampler:
        pair, (db_disks, client_disks) = self._keeper.pair, self._keeper.devices
        client = None
        if pair.client is not pair.db:
            client = RemoteReader(pair.client, None, client_disks)
        return RemoteSampler(
            conninfo=self.cluster.conninfo(BENCH_DATABASE),
            version=self._trial.template.installation.version,
            server=RemoteReader(pair.db, self.cluster.pid or 0, db_disks),
            client=client,
        )

    def quiet(self) -> AbstractContextManager[None]:
        return nullcontext()

    def page_cache(
        self,
        _relation: str | None = None,
        _node: Node = None,
        *,
        first: Bytes | None = None,
    ) -> None:
        """Not asked of another host's agent yet."""

    def evict(self, _relation: str, _node: Node = None) -> bool:
        return False

    def is_running(self) -> bool:
        return self._cluster is not None and self._cluster.is_running()

    def problems(self) -> tuple[Problem, ...]:
        if self._cluster is None:
            return ()
        problems = scan(self._cluster.log().decode("utf-8", "replace"))
        self._crashed = any(problem.code == "server-crash" for problem in problems)
        return (*replaced(self._cluster), *problems)

    def stacks(self) -> None:
        return None

    def failure(self, error: psycopg.Error) -> ServerError:
        return self.cluster.failure(error)

    def stop(self, *, sound: bool) -> Facts:  # noqa: ARG002 - no server is shared by pairs
        if self._cluster is None:
            return {}
        manner = self._cluster.stop(immediately=not self._keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back a cluster that was changed."""
        cluster, self._cluster = self._cluster, None
        if cluster is None or cluster.host.link.lost:
            return
        with contextlib.suppress(Exception):
            cluster.stop(immediately=True)
        try:
            with contextlib.suppress(TeitenError):  # the host is lost
                keep(self._folder, SERVER_LOG, cluster.log())
                keep(self._folder, CONFIGURATION, cluster.configuration())
        finally:
            with contextlib.suppress(Exception):
                self._give_back(cluster)

    def _give_back(self, cluster: RemoteCluster) -> None:
        if self._keeps and self._sound:
            self._keeper.kept[self._key] = cluster
            return
        self._keeper.kept.pop(self._key, None)
        cluster.remove()

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        named = (("server log", SERVER_LOG), ("configuration", CONFIGURATION))
        return tuple((kind, name) for kind, name in named if (self._folder / name).exists())
