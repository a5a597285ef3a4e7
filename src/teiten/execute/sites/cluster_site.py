"""The site of a trial whose servers are clusters that are cloned from templates, each on its host.

A connection to another host that is lost ends the campaign, not the trial alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import psycopg

from teiten.connections import first_value
from teiten.errors import ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program, Running
from teiten.execute.executor import Facts
from teiten.execute.postgres.beside import with_installation
from teiten.execute.probes.os import OfOneServer, OsReader
from teiten.execute.probes.procfs import ProcessIo, process_io
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.cluster_node import CRASHED, ClusterNode
from teiten.execute.sites.contract import WARM, Site, StackSource
from teiten.execute.sites.hosted import CampaignClusters, ClusterPlace, RunningServers, failure
from teiten.execute.sites.local.limit import out_of_memory
from teiten.execute.sites.local.node_emulation import NO_LIMITS, TrialLimits
from teiten.execute.sites.nodes import Nodes
from teiten.host.system.affinity import confirm_pinned
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.quantities import format_size
from teiten.model.starts import start_of
from teiten.model.study import CachePolicy, Settings
from teiten.model.trial import Problem
from teiten.model.units import Bytes, Seconds

SHARED: Facts = {"running": "for all sides of the pair"}
"""The facts of a step that the host takes for all sides."""
SET = "SELECT set_config(%s, %s, false)"
LEFT_OUTSIDE = 0.02
"""The share of a limit of memory that its clusters may have in the page cache outside of it."""


class ClusterSite(Site):
    """One trial's clusters. Every process of their servers ends with ``stop`` or ``abandon``; on a
    host that is lost, by itself."""

    _nodes: Nodes[ClusterNode]

    def __init__(
        self,
        clusters: CampaignClusters,
        trial: PlannedTrial,
        nodes: Nodes[ClusterNode],
        *,
        stays_up: bool,
    ) -> None:
        """``stays_up``: a later trial shares the start of this one's servers."""
        super().__init__(clusters.bench, trial, nodes, clusters.client)
        self._clusters, self._stays_up = clusters, stays_up
        self.moves_processes = clusters.moves_processes
        self._limits = NO_LIMITS
        self._pinned: Facts = {}
        """By program: the processors that a load program was found on."""
        self._own_facts: Facts = {}
        """About the limit, the way to the servers, clocks, and what its sessions set."""
        self._left_running = False

    @property
    def facts(self) -> Facts:
        facts = {**self._nodes.facts, **self._own_facts}
        if not self._pinned:
            return facts
        return {**facts, "pinned": {**facts.get("pinned", {}), **self._pinned}}

    @property
    def _places(self) -> tuple[ClusterPlace, ...]:
        return tuple(node.place for node in self._nodes)

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        connection = super().connect(node)
        wanted = self._measure.of_session(self._trial.settings)
        if wanted:
            self._own_facts["session_settings"] = set_parameters(connection, wanted)
        return connection

    def restore(self) -> Facts:
        if self._take_running():
            return dict(WARM)
        return self._nodes.of_each(ClusterNode.restore)

    def _take_running(self) -> bool:
        """Go on with the servers of an earlier pair, where they run and belong to this one."""
        left = self._clusters.running.pop(self._places, None)
        if left is None:
            return False
        running = all(server.cluster.is_running() for server in left.servers)
        if left.start != start_of(self._trial) or not running:
            left.end(immediately=True)
            for node, server in zip(self._nodes, left.servers, strict=True):
                if self._clusters.kept.pop(node.place, None) is not None:
                    self._clusters.remove(server.cluster)
            return False
        for node, server in zip(self._nodes, left.servers, strict=True):
            node.take(server)
        self.warm, self._limits = True, left.limits
        return True

    def caches(self) -> Facts:
        if self.warm:
            return dict(WARM)
        policy = self._measure.caches
        if policy is CachePolicy.KEEP and not self._trial.memory_limits:
            return {"caches": "kept"}
        emptied = self._nodes.of_each(lambda node: {"caches": node.cluster.empty_caches(policy)})
        return {**emptied, **self._left_outside()}

    def _left_outside(self) -> Facts:
        """Find what the page cache still holds of the clusters: it is not charged to their limit of
        memory, since it was restored, or read by another trial, outside of it. Raises ServerError
        where it is too much, or not known."""
        if not self._trial.memory_limits:
            return {}
        limit = min(self._trial.memory_limits)
        cached = [node.cluster.page_cache(None, None) for node in self._nodes]
        left = sum(files.resident for files in cached if files is not None)
        if None in cached or left > limit * LEFT_OUTSIDE:
            what = "an unknown part" if None in cached else format_size(left)
            raise ServerError(
                f"{what} of the cluster's files stays in the page cache, outside of the limit of"
                f" {format_size(limit)}",
                "another program reads or maps them; or let the whole cache be dropped, as root:"
                " --set caches=drop",
            )
        return {"left_in_cache": left}

    def limit(self, memory: Bytes | None) -> Facts:
        if self.warm:
            return {}
        self._limits, made = self._clusters.limits(self._trial, memory)
        return made

    def start(self) -> Facts:
        started = dict(WARM)
        if not self.warm:
            started = self._noted(self._nodes.of_each(self._start_node))
            lines = [line for node in self._nodes for line in node.cluster.password_lines()]
            if lines:
                self._nodes.first.cluster.put_passwords(lines)
        self._own_facts |= self._clusters.way_facts(self.connect)
        return started

    def _start_node(self, node: ClusterNode) -> Facts:
        elsewhere = any(member.host is not node.host for member in self._nodes)
        return node.start(self._limits, knows_passwords=node.number == FIRST and elsewhere)

    def prewarm(self) -> Facts:
        return dict(WARM) if self.warm else super().prewarm()

    def settle(self) -> Facts:
        clocks = self._clusters.clocks()
        self._own_facts |= clocks
        return {**(WARM if self.warm else super().settle()), **clocks}

    def _checkpoint(self) -> Facts:
        """Checkpoint, then apply the limits of storage, with which what follows is measured."""
        done = super()._checkpoint()
        self._limits.apply_to_io()
        return done

    @contextmanager
    def without_io_limits(self) -> Iterator[None]:
        self._limits.lift_from_io()
        try:
            yield
        finally:
            self._limits.apply_to_io()

    def address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).cluster.address()

    def peer_address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).cluster.peer_address()

    def spawn(self, program: Program) -> Running:
        child = self.client.spawn(replace(program, groups=self._limits.groups))
        try:
            if program.cpus:
                self._pinned[program.name] = confirm_pinned(program.name, child.pid, program.cpus)
        except BaseException:
            child.end(0.0)
            raise
        return child

    def spawn_beside(self, program: Program) -> Running:
        first = self._nodes.first
        arguments = tuple(with_installation(program.arguments, first.template))
        own = replace(program, arguments=arguments, groups=self._limits.groups)
        return first.cluster.spawn(own)

    def crash(self) -> Seconds:
        return self._nodes.first.crash(self._bench.check_interruption)

    def server_reader(self) -> OsReader | None:
        first = self._nodes.first
        return first.host.reader((first.pid or 0,), ())

    def sampler(self, node: Node = FIRST) -> Sampler:
        asked = self._nodes.node(node)
        there = [member for member in self._nodes if member.host is asked.host]
        if asked is not there[0]:  # which has what the host tells
            return asked.sampler(OfOneServer(asked.host.reader((asked.pid or 0,), ())))
        reader = asked.host.reader(tuple(member.pid or 0 for member in there), asked.host.devices)
        if asked is not self._nodes.first:
            return asked.sampler(reader)
        return asked.sampler(reader, **self._clusters.sampler_options())

    def page_cache(
        self, relation: str | None = None, node: Node = FIRST, *, first: Bytes | None = None
    ) -> PageCache | None:
        return self._nodes.node(node).cluster.page_cache(relation, first)

    def evict(self, relation: str, node: Node = FIRST) -> bool:
        return self._nodes.node(node).cluster.evict(relation)

    def process_io(self, pid: int) -> ProcessIo | None:
        return process_io(pid) if self._nodes.first.host.is_here else None

    def is_running(self) -> bool:
        return all(node.is_running() for node in self._nodes)

    def problems(self) -> tuple[Problem, ...]:
        # processes of the servers or their load that the kernel ended, then what the logs say
        ended = out_of_memory(self._limits.limit, self._trial.memory_limit, self._own_facts)
        problems = (*ended, *self._nodes.problems(ClusterNode.problems))
        # a crash is what others suffer from
        return tuple(sorted(problems, key=lambda problem: problem.code != CRASHED))

    def stacks(self) -> StackSource | None:
        first = self._nodes.first
        if not first.host.is_here:
            return None
        name = f"PostgreSQL {first.template.installation.version}"
        return StackSource(first.pid or 0, first.cflags, name)

    def failure(self, error: psycopg.Error) -> ServerError:
        """An error does not say which node's it is: one that has ended, else the one that was asked
        last."""
        ended = (node for node in self._nodes if node.has_ended())
        blamed = next(ended, self._nodes.asked)
        blamed.host.check()
        return failure(self._nodes.named(blamed, blamed.name), error)

    def stop(self, *, sound: bool) -> Facts:
        if sound and self._stays_up and self._nodes.first.keeps and self.is_running():
            self._left_running = True
            return {"stopped": "not yet: the next pair goes on with this server"}
        return self._nodes.of_each(ClusterNode.stop)

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back clusters that were changed."""
        if self._left_running:
            self._leave_running()
            return
        with ExitStack() as ending:  # each, whatever happens at another; the last one first
            for node in self._nodes:
                ending.callback(node.give_back)
            ending.callback(self._remaining_limits().remove)
            for node in self._nodes:
                ending.callback(node.end)

    def _leave_running(self) -> None:
        """Hand what outlives the trial to the campaign before anything else can go wrong."""
        self._left_running = False
        servers = tuple(node.leave_running() for node in self._nodes)
        self._clusters.running[self._places] = RunningServers(
            servers, start_of(self._trial), self._remaining_limits()
        )
        for node, server in zip(self._nodes, servers, strict=True):
            node.keep_evidence(server.cluster)

    def _remaining_limits(self) -> TrialLimits:
        """They are not this trial's any more."""
        limits, self._limits = self._limits, NO_LIMITS
        return limits


class GuestSite(ClusterSite):
    """The site of a trial on the server of another side of its pair, the host, which takes every
    step on the server's side: only what its sessions set is its own."""

    def __init__(self, host: ClusterSite, trial: PlannedTrial) -> None:
        super().__init__(host._clusters, trial, host._nodes, stays_up=False)
        self._host = host

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        return ()

    def restore(self) -> Facts:
        self.warm = self._host.warm
        return dict(SHARED)

    def caches(self) -> Facts:
        return dict(SHARED)

    def limit(self, memory: Bytes | None) -> Facts:
        del memory
        self._limits = self._host._limits
        return {}

    def start(self) -> Facts:
        return dict(SHARED)

    def prewarm(self) -> Facts:
        return dict(SHARED)

    def settle(self) -> Facts:
        return dict(WARM) if self.warm else {"rested": self._rest()}

    def problems(self) -> tuple[Problem, ...]:
        """The host tells them, and no side counts without the others."""
        return ()

    def stop(self, *, sound: bool) -> Facts:
        del sound
        return dict(SHARED)

    def abandon(self) -> None:
        return


def set_parameters(connection: psycopg.Connection[Any], wanted: Settings) -> dict[str, str]:
    """Set parameters for a session; what the server has of each."""
    try:
        return {name: str(first_value(connection, SET, (name, value))) for name, value in wanted}
    except BaseException:
        connection.close()
        raise


def cluster_site(clusters: CampaignClusters, trial: PlannedTrial, attempt: int) -> ClusterSite:
    """The site of a trial on clusters of a campaign; servers that were left running for others are
    stopped."""
    starter, host = clusters.bench.plan.starter_of(trial), clusters.host_site
    if attempt and trial.number != starter.number and host is not None:
        return GuestSite(host, trial)
    clusters.end_running(trial, attempt)
    folder = clusters.bench.evidence_folder(trial, attempt)
    nodes = Nodes(ClusterNode(clusters, trial, number, folder) for number, _ in trial.nodes)
    site = ClusterSite(clusters, trial, nodes, stays_up=clusters.stays_up(trial, attempt))
    clusters.host_site = site
    return site
