"""One trial whose server, load generator or both are on other hosts: all of METHOD.md's steps."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import StopManner
from teiten.execute.postgres.server_log import scan
from teiten.execute.postgres.templates.store import BENCH_DATABASE
from teiten.execute.remote.cluster import RemoteCluster
from teiten.execute.remote.pgbench import RemoteChild, RemotePgbench
from teiten.execute.remote.sampling import RemoteReader, RemoteSampler
from teiten.execute.topology.bench import Bench
from teiten.execute.topology.remote_site import RemoteSite
from teiten.execute.topology.server_facts import prewarm
from teiten.execute.topology.single_trial import SingleServerTrial
from teiten.execute.workload.command import PgbenchRun
from teiten.execute.workload.pgbench import PgbenchProcess, try_script
from teiten.model.plan import PlannedTrial
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem

REACH_TIMEOUT = 10.0
"""Seconds within which the client host must reach the server."""
SERVER_LOG, CONFIGURATION = "server.log", "postgresql.conf"


class RemoteTrial(SingleServerTrial):
    """As on this machine; a connection that is lost ends the campaign, not the trial alone."""

    def __init__(self, bench: Bench, trial: PlannedTrial, attempt: int, site: RemoteSite) -> None:
        super().__init__(bench, trial, attempt)
        self._site = site
        self._remote: RemoteCluster | None = None

    @property
    def server(self) -> RemoteCluster:
        if self._remote is None:
            raise RuntimeError("the trial has no cluster yet")
        return self._remote

    def restore(self) -> Facts:
        shutil.rmtree(self.evidence, ignore_errors=True)
        self.evidence.mkdir(parents=True)
        kept = self._site.kept.get(self._place) if self._keeps else None
        if kept is not None:
            self._remote = kept
            return {"restored": False}
        use = "kept" if self._keeps else "once"
        copy = "" if self._trial.copy == 1 else f"-{self._trial.copy}"
        template = self._trial.template
        name = f"{template.fingerprint[:12]}{copy}-{use}"
        self._remote, report = self._site.clone(template, name)
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
        done = self._site.pair.db.call("clusters.caches", key=self.server.key, policy=str(policy))
        return {"caches": done}

    def start(self) -> Facts:
        with self._answering():
            return super().start()

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        with self._answering():
            return prewarm(self._connect)

    def settle(self) -> Facts:
        with self._answering(), self._connect() as connection:
            connection.execute("CHECKPOINT")
        clocks = self._site.clocks()
        self._gathered.facts["clocks"] = clocks
        time.sleep(self._measure.settle)
        return {"clocks": clocks}

    def try_script(self) -> None:
        run = self._remote_run(self._rehearsed_run())
        client, line = self._site.pair.client, self.server.password_line
        try_script(run, launch=lambda run, arguments: RemoteChild(client, run, arguments, line))

    @property
    def profiles(self) -> bool:
        return False

    def stop(self, *, sound: bool) -> Facts:  # noqa: ARG002 - no server is shared by pairs
        if self._remote is None:
            return {}
        manner = self._remote.stop(immediately=not self._keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back a cluster that was changed.

        Where a host is lost, its agent does that by itself."""
        for end in (self._end_load, self._end_sampling, self._end_server):
            with contextlib.suppress(Exception):
                end()
        self._note_evidence(self._kept_evidence())
        self._remote = None

    def _end_load(self) -> None:
        if self._pgbench is not None and self._site.pair.lost is None:
            self._pgbench.stop()

    def _end_sampling(self) -> None:
        if self._sampler is not None:
            self._sampler.stop()

    def _end_server(self) -> None:
        cluster = self._remote
        if cluster is None or cluster.host.link.lost:
            return
        cluster.stop(immediately=True)
        self._keep(SERVER_LOG, cluster.log())
        self._keep(CONFIGURATION, cluster.configuration())
        if self._keeps and self._sound:
            self._site.kept[self._place] = cluster
        else:
            self._site.kept.pop(self._place, None)
            cluster.remove()

    def _kept_evidence(self) -> list[tuple[str, str]]:
        named = (("server log", SERVER_LOG), ("configuration", CONFIGURATION))
        return [(kind, name) for kind, name in named if (self.evidence / name).exists()]

    def _launch(self) -> None:
        site = self._site
        self.server.start(self._bench.settings_of(self._trial), site.way, site.port)
        if site.way is not None:
            site.pair.client.call(
                "machine.reach",
                address=site.way.address,
                port=self.server.port,
                timeout=REACH_TIMEOUT,
            )

    def _new_load(self, run: PgbenchRun) -> PgbenchProcess:
        line = self.server.password_line
        return RemotePgbench(self._remote_run(run), self._site.pair.client, line)

    def _remote_run(self, run: PgbenchRun) -> PgbenchRun:
        return replace(run, pgbench=self._site.pgbench, log_folder=None, cpus=())

    def _new_sampler(self) -> RemoteSampler:
        pair, (db_disks, client_disks) = self._site.pair, self._site.devices
        client = None
        if pair.client is not pair.db:
            client = RemoteReader(pair.client, None, client_disks)
        return RemoteSampler(
            conninfo=self.server.conninfo(BENCH_DATABASE),
            version=self._trial.template.installation.version,
            server=RemoteReader(pair.db, self.server.pid or 0, db_disks),
            client=client,
        )

    def _is_running(self) -> bool:
        return self._remote is not None and self._remote.is_running()

    def _connect(self) -> psycopg.Connection[Any]:
        return self.server.connect(BENCH_DATABASE)

    def _log_problems(self) -> tuple[Problem, ...]:
        if self._remote is None:
            return ()
        problems = scan(self._remote.log().decode("utf-8", "replace"))
        self._crashed = any(problem.code == "server-crash" for problem in problems)
        return problems

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        """A statement that fails is the server's, unless the host is lost."""
        try:
            yield
        except psycopg.Error as error:
            self._site.pair.db.call("machine.clock")
            raise ServerError(
                f"{self.server.name}: {str(error).strip()}", "see the server's log of this trial"
            ) from error
