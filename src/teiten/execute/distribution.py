"""A trial's tables on several servers: made one database by an engine, and its commits counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from teiten.engines.contract import Engine
from teiten.engines.counters import NodeCounters, read, read_settled
from teiten.engines.registry import engine_of
from teiten.errors import ServerError
from teiten.execute.client.address import Address
from teiten.execute.executor import Facts
from teiten.execute.sites.contract import Site
from teiten.model.distribution import ClientEntry, Distribution
from teiten.model.metrics import NODE_COMMITS, NODE_PREPARED, PARTICIPANTS, of_node
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.trial import Problem

LEFT_PREPARED = "left-prepared"


class SiteServers:
    """A site as engines see it."""

    coordinator = FIRST

    def __init__(self, site: Site, planned: Distribution) -> None:
        self._site, self._planned = site, planned

    @property
    def nodes(self) -> Sequence[Node]:
        return tuple(self._planned.holders)

    @property
    def entries(self) -> Sequence[Node]:
        return self.nodes if self._planned.entry is ClientEntry.ALL else (self.coordinator,)

    def connect(self, node: Node) -> psycopg.Connection[Any]:
        return self._site.connect(node)

    def parameters(self, node: Node) -> dict[str, str]:
        return self._site.peer_address(node).parameters


class DistributedTables:
    """The tables of one trial."""

    def __init__(self, planned: Distribution, site: Site) -> None:
        self._servers = SiteServers(site, planned)
        self._planned = planned
        self._engine: Engine = engine_of(planned.engine)
        self._before: dict[Node, NodeCounters] = {}
        self._after: dict[Node, NodeCounters] = {}

    def distribute(self) -> Facts:
        """Raises ServerError where the servers are of different versions; errors of connections are
        psycopg's."""
        versions = {}
        for node in dict.fromkeys((FIRST, *self._servers.nodes)):
            with self._servers.connect(node) as connection:
                versions[node] = connection.info.server_version
        if len(set(versions.values())) > 1:
            listed = ", ".join(f"node {node}: {version}" for node, version in versions.items())
            raise ServerError(
                f"the nodes are of different versions ({listed})",
                "one database wants one version on all of its nodes",
            )
        self._engine.distribute(self._servers, self._planned)
        planned = self._planned
        shards = {"shards": planned.shards} if planned.shards else {}
        return {"engine": planned.engine, "nodes": planned.nodes, "by": planned.by.value, **shards}

    def begin(self) -> None:
        """Before the first measured slice."""
        if not self._before:
            self._before = read(self._servers)

    def end(self) -> None:
        """After the last one."""
        self._after = read_settled(self._servers)

    def metrics(self, transactions: float | None) -> dict[str, float]:
        """The commits of each node, and how many nodes a transaction has written to; nothing where
        none has."""
        commits = {
            node: float(after.commits_since(self._before[node]))
            for node, after in self._after.items()
        }
        if not transactions or sum(commits.values()) == 0:
            return {}
        counted = {of_node(node, NODE_COMMITS): count for node, count in commits.items()}
        counted |= {
            of_node(node, NODE_PREPARED): float(x.prepared) for node, x in self._after.items()
        }
        return {**counted, PARTICIPANTS.name: sum(commits.values()) / transactions}

    def problems(self) -> tuple[Problem, ...]:
        """Transactions that were prepared, and neither committed nor rolled back."""
        return tuple(
            Problem(LEFT_PREPARED, f"node {node}: {left.prepared} of {self._planned.engine}")
            for node, left in self._after.items()
            if left.prepared
        )


def entry_address(trial: PlannedTrial, site: Site) -> Address:
    """Where the load of a trial goes: its first server, or by chance one of those that hold its
    rows for each connection."""
    planned = trial.distribution
    if planned is None or planned.entry is ClientEntry.COORDINATOR:
        return site.address()
    entries = SiteServers(site, planned).entries
    session = engine_of(planned.engine).session
    return Address.of_any([site.address(node) for node in entries], session)


def distributed(trial: PlannedTrial, site: Site) -> DistributedTables | None:
    """None of a trial whose first server has all tables."""
    planned = trial.distribution
    return None if planned is None else DistributedTables(planned, site)
