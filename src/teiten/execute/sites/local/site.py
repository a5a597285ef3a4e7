"""Clusters of this machine, cloned from templates: METHOD.md's steps on the servers' side."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program, Running
from teiten.execute.client.here import ChildHere, Here
from teiten.execute.executor import Facts
from teiten.execute.pinning import confirm
from teiten.execute.probes.process_io import ProcessIo, process_io
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.contract import WARM, StackSource
from teiten.execute.sites.failure import failure
from teiten.execute.sites.local.limit import Limit, out_of_memory
from teiten.execute.sites.local.limit_files import Allowed
from teiten.execute.sites.local.node import CRASHED, LocalNode, Place, RunningServer
from teiten.execute.sites.local.node_emulation import NodeEmulation
from teiten.execute.sites.nodes import Nodes
from teiten.host.system.affinity import kept_off
from teiten.host.system.caches import drop_page_cache
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.quantities import format_size
from teiten.model.starts import Start, start_of
from teiten.model.study import CachePolicy
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.local.keeper import LocalKeeper

LEFT_OUTSIDE = 0.02
"""Of a limit of memory: so much of its clusters may be in the page cache outside of it."""
Places = tuple[Place, ...]
"""Of the clusters of a trial, one for each node."""


@dataclass(frozen=True)
class RunningServers:
    """The servers of a trial that a pair has left running for the next one."""

    servers: tuple[RunningServer, ...]
    start: Start
    limit: Limit | None = None
    emulation: NodeEmulation | None = None

    @property
    def are_running(self) -> bool:
        return all(one.cluster.is_running() for one in self.servers)

    def end(self, *, immediately: bool = False) -> None:
        for one in self.servers:
            one.cluster.stop(immediately=immediately)
        if self.limit is not None:
            self.limit.remove()
        if self.emulation is not None:
            self.emulation.remove()


class LocalSite:
    """One trial's clusters. Every process of its servers ends with ``stop`` or ``abandon``."""

    moves_processes = True

    def __init__(
        self, keeper: LocalKeeper, trial: PlannedTrial, folder: Path, *, goes_on: bool
    ) -> None:
        """``folder``: for evidence. ``goes_on``: a later trial shares the start of this one's
        servers."""
        bench = keeper.bench
        self._keeper, self._bench, self._trial = keeper, bench, trial
        self._measure = bench.plan.study.measure
        self._nodes = Nodes(LocalNode(keeper, trial, number, folder) for number, _ in trial.nodes)
        self._goes_on = goes_on
        self._limit: Limit | None = None
        self._pinned: Facts = {}
        """By program: the processors that a load program was found on."""
        self._emulation: NodeEmulation | None = None
        self._told: Facts = {}
        """Of the limit."""
        self.client: Here = keeper.client
        self.warm = False
        """The servers were started by an earlier pair."""
        self._left_running = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._nodes.numbers

    @property
    def facts(self) -> Facts:
        found = {**self._nodes.facts, **self._told}
        if not self._pinned:
            return found
        return {**found, "pinned": {**found.get("pinned", {}), **self._pinned}}

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        return tuple(one for node in self._nodes for one in node.evidence)

    @property
    def _places(self) -> Places:
        return tuple(one.place for one in self._nodes)

    def restore(self) -> Facts:
        if self._take_running():
            return dict(WARM)
        return self._nodes.of_each(LocalNode.restore)

    def _take_running(self) -> bool:
        """Go on with the servers of an earlier pair, where they run and belong to this one."""
        found = self._keeper.running.pop(self._places, None)
        if found is None:
            return False
        if found.start != start_of(self._trial) or not found.are_running:
            found.end(immediately=True)
            for node, server in zip(self._nodes, found.servers, strict=True):
                if self._keeper.kept.pop(node.place, None) is not None:
                    self._keeper.remove(server.cluster)
            return False
        for node, server in zip(self._nodes, found.servers, strict=True):
            node.take(server)
        self.warm, self._limit = True, found.limit
        self._emulate(found.emulation)
        return True

    def _emulate(self, emulation: NodeEmulation | None) -> None:
        self._emulation = emulation
        if emulation is not None:
            for node, own in zip(self._nodes, emulation.nodes, strict=True):
                node.emulated = own

    def caches(self) -> Facts:
        if self.warm:
            return dict(WARM)
        policy, limited = self._measure.caches, bool(self._trial.memory_limits)
        if policy is CachePolicy.KEEP and not limited:
            return {"caches": "kept"}
        if policy is CachePolicy.DROP and drop_page_cache():
            return {"caches": "dropped", **self._left_outside()}
        evicted = [one.evict_all() for one in self._nodes]
        said = "evicted" if all(evicted) else "kept: this system cannot evict"
        return {"caches": said, **self._left_outside()}

    def _left_outside(self) -> Facts:
        """What the page cache still holds of the clusters is not charged to their limit of memory:
        it was restored, or read by another trial, outside of it."""
        if not self._trial.memory_limits:
            return {}
        limit = min(self._trial.memory_limits)
        found = [one.page_cache(None, None) for one in self._nodes]
        left = sum(one.resident for one in found if one is not None)
        if None in found or left > limit * LEFT_OUTSIDE:
            what = "an unknown part" if None in found else format_size(left)
            raise ServerError(
                f"{what} of the cluster's files stays in the page cache, outside of the limit of"
                f" {format_size(limit)}",
                "another program reads or maps them; or let the whole cache be dropped, as root:"
                " --set caches=drop",
            )
        return {"left_in_cache": left}

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        """By a control group that servers and load programs are started in; nodes that are
        emulated become machines of their own."""
        if self.warm:
            return {}
        made: Facts = {}
        workdir = self._keeper.machine.workdir
        placement = self._trial.placement
        transfers = () if placement is None else self._keeper.storages.limits(placement)
        if cpus is not None or memory is not None or transfers:
            self._limit = Limit.make(workdir, Allowed(cpus, memory, transfers=transfers))
            made["limit"] = self._limit.facts
        if self._trial.machines:
            folder = self._nodes.first.cluster.data_directory.parent
            emulation = NodeEmulation.make(workdir, self._trial.machines, folder)
            self._emulate(emulation)
            emulation.ease()
            made["emulated"] = len(self._trial.machines)
        return made

    def start(self) -> Facts:
        if self.warm:
            return dict(WARM)
        groups = self._limit.groups if self._limit is not None else ()
        started = self._nodes.of_each(lambda one: one.start(groups))
        level = self._trial.cell.server or self._nodes.first.template.installation.name
        self._bench.note_server(level, self._nodes.first.told, self._trial)
        return started

    def prewarm(self) -> Facts:
        if self.warm:
            return dict(WARM)
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return self._nodes.of_each(LocalNode.prewarm)

    def settle(self) -> Facts:
        if self.warm:
            return dict(WARM)
        self._nodes.of_each(LocalNode.checkpoint)
        if self._emulation is not None:
            self._emulation.hold()
        pair = self._bench.plan.pair_of(self._trial)
        if not self._measure.paired or self._trial.number == pair[-1].number:
            time.sleep(self._measure.settle)  # both sides at once
        return {}

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        return self._nodes.connect(node)

    def address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).address()

    def peer_address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).peer_address()

    def spawn(self, program: Program) -> Running:
        child = ChildHere(program, self._limit.groups if self._limit is not None else ())
        try:
            if program.cpus:
                self._pinned[program.name] = confirm(program.name, child.pid, program.cpus)
        except BaseException:
            child.end(0.0)
            raise
        return child

    def sampler(self, node: Node = FIRST) -> Sampler:
        one = self._nodes.node(node)
        if one is not self._nodes.first:
            return one.sampler_beside_others()
        pids = tuple(each.pid or 0 for each in self._nodes)
        return one.sampler(pids, self._keeper.machine.devices)

    def quiet(self) -> AbstractContextManager[None]:
        """Off the processors that only the servers have; they may share them with the client."""
        cpus = self._trial.server_cpus
        return kept_off(() if set(cpus) & set(self._trial.client_cpus) else cpus)

    @contextmanager
    def at_ease(self) -> Iterator[None]:
        emulation = self._emulation
        if emulation is None:
            yield
            return
        emulation.ease()
        try:
            yield
        finally:
            emulation.hold()

    def page_cache(
        self, relation: str | None = None, node: Node = FIRST, *, first: Bytes | None = None
    ) -> PageCache | None:
        return self._nodes.node(node).page_cache(relation, first)

    def evict(self, relation: str, node: Node = FIRST) -> bool:
        return self._nodes.node(node).evict(relation)

    def process_io(self, pid: int, _node: Node = FIRST) -> ProcessIo | None:
        return process_io(pid)

    def is_running(self) -> bool:
        return all(one.is_running() for one in self._nodes)

    def problems(self) -> tuple[Problem, ...]:
        found = (*self._out_of_memory(), *self._nodes.problems(LocalNode.problems))
        return tuple(sorted(found, key=lambda one: one.code != CRASHED))  # what others suffer from

    def _out_of_memory(self) -> tuple[Problem, ...]:
        """Processes of the servers or their load that the kernel ended because of the limit."""
        limit, found = self._trial.memory_limit, self._limit
        if limit is None or found is None:
            return ()
        readings = self._told["memory"] = found.readings()
        return out_of_memory(readings, limit)

    def stacks(self) -> StackSource | None:
        version = self._nodes.first.template.installation.version
        return StackSource(
            self._nodes.first.pid or 0, self._nodes.first.cflags, f"PostgreSQL {version}"
        )

    def failure(self, error: psycopg.Error) -> ServerError:
        """An error does not say which node's it is: one that has ended, else the one that was asked
        last."""
        found = next((one for one in self._nodes if one.has_ended()), self._nodes.asked)
        return failure(self._nodes.named(found, found.name), error)

    def stop(self, *, sound: bool) -> Facts:
        if sound and self._goes_on and self._nodes.first.keeps and self.is_running():
            self._left_running = True
            return {"stopped": "not yet: the next pair goes on with this server"}
        return self._nodes.of_each(LocalNode.stop)

    def abandon(self) -> None:
        """End what still runs, keep the evidence, and give back clusters that were changed."""
        if self._left_running:
            clusters = [one.cluster for one in self._nodes]
            servers = tuple(one.leave_running() for one in self._nodes)
            self._keeper.running[self._places] = RunningServers(
                servers, start_of(self._trial), self._limit, self._emulation
            )
            self._left_running, self._limit, self._emulation = False, None, None
            for one, cluster in zip(self._nodes, clusters, strict=True):
                one.keep_evidence(cluster)
            return
        with ExitStack() as ending:  # each, whatever happens at another; the last one first
            for one in self._nodes:
                ending.callback(one.give_back)
            ending.callback(self._end_limit)
            for one in self._nodes:
                ending.callback(one.end)

    def _end_limit(self) -> None:
        limit, self._limit = self._limit, None
        emulation, self._emulation = self._emulation, None
        if limit is not None:
            limit.remove()
        if emulation is not None:
            emulation.remove()
