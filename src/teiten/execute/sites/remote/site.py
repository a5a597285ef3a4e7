"""Clusters on the db host, with the load on the client host: all of METHOD.md's steps.

A connection that is lost ends the campaign, not the trial alone.
"""

from __future__ import annotations

import statistics
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import MachineError, ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.postgres.initdb import BENCH_DATABASE
from teiten.execute.probes.os import OfOneServer
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.nodes import Nodes
from teiten.execute.sites.remote.node import RemoteNode
from teiten.execute.sites.remote.sampling import RemoteReader, RemoteSampler
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.remote.keeper import RemoteKeeper

ROUND_TRIPS = 9


class RemoteSite:
    """One trial's clusters. Where a host is lost, its agent gives everything back by itself."""

    warm = False
    moves_processes = False

    def __init__(self, keeper: RemoteKeeper, trial: PlannedTrial, folder: Path) -> None:
        bench = keeper.bench
        self._keeper, self._bench, self._trial = keeper, bench, trial
        self._measure = bench.plan.study.measure
        self._nodes = Nodes(RemoteNode(keeper, trial, number, folder) for number, _ in trial.nodes)
        self._told: Facts = {}
        """Of the way there, and of clocks."""
        self.client: Client = keeper.client

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._nodes.numbers

    @property
    def facts(self) -> Facts:
        return {**self._nodes.facts, **self._told}

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        return tuple(one for node in self._nodes for one in node.evidence)

    def restore(self) -> Facts:
        return self._nodes.of_each(RemoteNode.restore)

    def caches(self) -> Facts:
        policy = self._measure.caches
        if policy is CachePolicy.KEEP:
            return {"caches": "kept"}
        return self._nodes.of_each(
            lambda one: {
                "caches": one.place.host.call(
                    "clusters.caches", key=one.cluster.key, policy=str(policy)
                )
            }
        )

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        if cpus is None and memory is None:
            return {}
        raise MachineError(
            "what servers and load programs on other hosts use cannot be limited yet",
            "leave the limit out, or run the study on that host itself",
        )

    def start(self) -> Facts:
        started = self._nodes.of_each(RemoteNode.start)
        passwords = [line for one in self._nodes for line in one.cluster.password_lines()]
        if passwords:
            self._nodes.first.cluster.put_passwords(passwords)
        level = self._trial.cell.server or self._nodes.first.template.installation.name
        self._bench.note_server(level, self._nodes.first.told, self._trial)
        self._told["round_trip"] = self._round_trip()
        return started

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
        return self._nodes.of_each(RemoteNode.prewarm)

    def settle(self) -> Facts:
        self._nodes.of_each(RemoteNode.checkpoint)
        clocks = self._keeper.clocks()
        self._told["clocks"] = clocks
        time.sleep(self._measure.settle)
        return {"clocks": clocks}

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        return self._nodes.connect(node)

    def address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).cluster.address()

    def peer_address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).cluster.peer_address()

    def spawn(self, program: Program) -> Running:
        return self.client.spawn(program)

    def sampler(self, node: Node = FIRST) -> Sampler:
        one = self._nodes.node(node)
        pair, place = self._keeper.pair, one.place
        conninfo = one.cluster.conninfo(BENCH_DATABASE)
        version = one.template.installation.version
        there = [each for each in self._nodes if each.place is place]
        if one is not there[0]:
            own = OfOneServer(RemoteReader(place.host, (one.pid or 0,), ()))
            return Sampler(
                conninfo=conninfo, version=version, postmasters=(), devices=(), reader=own
            )
        server = RemoteReader(place.host, tuple(each.pid or 0 for each in there), place.devices)
        if one is not self._nodes.first:
            return Sampler(
                conninfo=conninfo, version=version, postmasters=(), devices=(), reader=server
            )
        client = None
        if pair.client is not pair.db:
            client = RemoteReader(pair.client, (), self._keeper.client_devices)
        return RemoteSampler(conninfo=conninfo, version=version, server=server, client=client)

    def quiet(self) -> AbstractContextManager[None]:
        return nullcontext()

    def at_ease(self) -> AbstractContextManager[None]:
        return nullcontext()

    def page_cache(
        self,
        _relation: str | None = None,
        _node: Node = FIRST,
        *,
        first: Bytes | None = None,
    ) -> None:
        """Not asked of another host's agent yet."""

    def evict(self, _relation: str, _node: Node = FIRST) -> bool:
        return False

    def process_io(self, _pid: int, _node: Node = FIRST) -> None:
        """A process of another machine."""

    def is_running(self) -> bool:
        return all(one.is_running() for one in self._nodes)

    def problems(self) -> tuple[Problem, ...]:
        return self._nodes.problems(RemoteNode.problems)

    def stacks(self) -> None:
        return None

    def failure(self, error: psycopg.Error) -> ServerError:
        """An error does not say which node's it is: one that has ended, else the one that was asked
        last."""
        found = next((one for one in self._nodes if one.has_ended()), self._nodes.asked)
        return found.cluster.failure(error)

    def stop(self, *, sound: bool) -> Facts:  # noqa: ARG002 - no server is shared by pairs
        return self._nodes.of_each(RemoteNode.stop)

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back clusters that were changed."""
        with ExitStack() as ending:  # each, whatever happens at another
            for one in self._nodes:
                ending.callback(one.give_back)
