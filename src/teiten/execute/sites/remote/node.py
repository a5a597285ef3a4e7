"""One server of a trial on the db host: a cluster that is cloned from a template."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import TeitenError
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import StopManner
from teiten.execute.postgres.initdb import BENCH_DATABASE
from teiten.execute.postgres.server_log import scan
from teiten.execute.sites.evidence import keep, replaced
from teiten.execute.sites.nodes import cluster_name, file_of
from teiten.execute.sites.prewarming import prewarm
from teiten.execute.sites.remote.cluster import RemoteCluster
from teiten.execute.sites.remote.hosts import REACH_TIMEOUT
from teiten.execute.sites.server_facts import (
    non_default_settings,
    read_server_facts,
    require_checksums,
)
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.trial import Problem

if TYPE_CHECKING:
    from teiten.execute.sites.remote.keeper import RemoteKeeper

FILES = (("server log", "server.log"), ("configuration", "postgresql.conf"))
"""What is kept of a server, and the names of the files."""


class RemoteNode:
    """A cluster of one trial, and its server while it runs."""

    def __init__(
        self, keeper: RemoteKeeper, trial: PlannedTrial, number: Node, folder: Path
    ) -> None:
        """``folder``: for evidence."""
        self._keeper, self._trial, self._folder = keeper, trial, folder
        self.number = number
        self.place = keeper.place(trial, number)
        self.template = dict(trial.nodes)[number]
        self._keeps = not keeper.bench.plan.study.workload(trial.cell.workload).changes_data
        self._key = cluster_name(trial, number, kept=self._keeps)
        self.found: RemoteCluster | None = None
        """None before there is one, and after it was given back."""
        self.facts: Facts = {}
        self.told: dict[str, Any] = {}
        """What the server has said of itself when it was started."""
        self._started = False
        self._crashed = False
        self._sound = False

    @property
    def cluster(self) -> RemoteCluster:
        if self.found is None:
            raise RuntimeError("the trial has no cluster yet")
        return self.found

    @property
    def _kept_as(self) -> tuple[int, str]:
        return self.place.number, self._key

    def restore(self) -> Facts:
        kept = self._keeper.kept.get(self._kept_as) if self._keeps else None
        if kept is not None:
            self.found = kept
            return {"restored": False}
        self.found, report = self._keeper.clone(self.place, self.template, self._key)
        return {
            "restored": True,
            "method": report["method"],
            "clone_seconds": report["seconds"],
            "bytes": report["bytes"],
        }

    def start(self) -> Facts:
        self._launch()
        self._started = True
        told = self.told = read_server_facts(self.connect)
        require_checksums(told, self.template)
        self.facts["version"] = told["version"]
        self.facts["data_checksums"] = told["data_checksums"]
        self.facts["settings"] = non_default_settings(self.connect)
        return {"version": told["version_number"]}

    def _launch(self) -> None:
        """Where the study keeps to one port, further nodes of a host have those after it, and so
        has the other side of a pair whose servers run at the same time."""
        keeper, place = self._keeper, self.place
        pair = [one.number for one in keeper.bench.plan.pair_of(self._trial)]
        there = [one for one, _ in self._trial.nodes if keeper.place(self._trial, one) is place]
        before = pair.index(self._trial.number) * len(there) + there.index(self.number)
        port = None if keeper.port is None else keeper.port + before
        self.cluster.start(
            keeper.bench.settings_of(self._trial),
            place.way,
            port,
            passwords=self.number == FIRST and len(there) < len(self._trial.nodes),
        )
        if place.way is not None:
            client = keeper.pair.client
            keeper.pair.client.call(
                "machine.reach",
                address=place.way.address,
                port=self.cluster.port,
                timeout=REACH_TIMEOUT,
                who=f"the host {client.shown}",
            )

    def prewarm(self) -> Facts:
        return prewarm(self.connect)

    def checkpoint(self) -> Facts:
        with self.connect() as connection:
            connection.execute("CHECKPOINT")
        return {}

    def connect(self) -> psycopg.Connection[Any]:
        return self.cluster.connect(BENCH_DATABASE)

    @property
    def pid(self) -> int | None:
        """The postmaster's on its host, while it runs."""
        return None if self.found is None else self.found.pid

    def has_ended(self) -> bool:
        """By itself, or by somebody else."""
        return self._started and self.found is not None and not self.found.is_running()

    def is_running(self) -> bool:
        return self.found is not None and self.found.is_running()

    def problems(self) -> tuple[Problem, ...]:
        if self.found is None:
            return ()
        problems = scan(self.found.log().decode("utf-8", "replace"))
        self._crashed = any(problem.code == "server-crash" for problem in problems)
        return (*replaced(self.found), *problems)

    def stop(self) -> Facts:
        if self.found is None:
            return {}
        manner = self.found.stop(immediately=not self._keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def give_back(self) -> None:
        """End what still runs, keep the evidence, and the cluster where the next trial can have
        it."""
        cluster, self.found = self.found, None
        if cluster is None or cluster.host.link.lost:
            return
        with contextlib.suppress(Exception):
            cluster.stop(immediately=True)
        try:
            with contextlib.suppress(TeitenError):  # the host is lost
                found = (cluster.log(), cluster.configuration())
                for (_, name), content in zip(FILES, found, strict=True):
                    keep(self._folder, file_of(self.number, name), content)
        finally:
            with contextlib.suppress(Exception):
                self._keep_or_remove(cluster)

    def _keep_or_remove(self, cluster: RemoteCluster) -> None:
        if self._keeps and self._sound:
            self._keeper.kept[self._kept_as] = cluster
            return
        self._keeper.kept.pop(self._kept_as, None)
        cluster.remove()

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        named = ((kind, file_of(self.number, name)) for kind, name in FILES)
        return tuple((kind, name) for kind, name in named if (self._folder / name).exists())
