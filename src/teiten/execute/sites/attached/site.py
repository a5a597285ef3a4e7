"""A database on a server that Teiten did not start: METHOD.md's steps as far as they go there.

No restart, no files, no server log; the database is dropped where the trial changed it.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import MachineError, ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.probes.process_io import ProcessIo, process_io
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.attached.connection import unanswered
from teiten.execute.sites.attached.node import AttachedNode
from teiten.execute.sites.attached.sampling import AttachedSampler
from teiten.execute.sites.nodes import Nodes
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.trial import Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.attached.keeper import AttachedKeeper


class AttachedSite:
    """One trial's databases; the servers go on whatever happens."""

    warm = False
    moves_processes = False

    def __init__(self, keeper: AttachedKeeper, trial: PlannedTrial) -> None:
        bench = keeper.bench
        self._bench, self._trial = bench, trial
        self._measure = bench.plan.study.measure
        self._nodes = Nodes(AttachedNode(keeper, trial, number) for number, _ in trial.nodes)
        self.client: Client = keeper.client
        self.evidence: tuple[tuple[str, str], ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._nodes.numbers

    @property
    def facts(self) -> Facts:
        return self._nodes.facts

    def restore(self) -> Facts:
        first = self._nodes.first
        return self._nodes.of_each(lambda one: one.restore(None if one is first else first.name))

    def caches(self) -> Facts:
        return {"caches": "kept: the server is attached"}

    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        if cpus is None and memory is None:
            return {}
        name = self._nodes.first.template.installation.name
        raise MachineError(
            f"the server {name} is attached: Teiten does not start it, and cannot limit what it"
            " uses",
            "leave the limit out, or compare servers that Teiten starts: --servers 17,18",
        )

    def start(self) -> Facts:
        started = self._nodes.of_each(AttachedNode.start)
        level = self._trial.cell.server or self._nodes.first.template.installation.name
        self._bench.note_server(level, self._nodes.first.told, self._trial)
        return started

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return self._nodes.of_each(AttachedNode.prewarm)

    def settle(self) -> Facts:
        settled = self._nodes.of_each(AttachedNode.checkpoint)
        time.sleep(self._measure.settle)
        return settled

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        return self._nodes.connect(node)

    def address(self, node: Node = FIRST) -> Address:
        return self._nodes.node(node).database.address(self._trial.settings)

    def peer_address(self, node: Node = FIRST) -> Address:
        return self.address(node)

    def spawn(self, program: Program) -> Running:
        return self.client.spawn(program)

    def sampler(self, node: Node = FIRST) -> Sampler:
        one = self._nodes.node(node)
        others = tuple(each.database for each in self._nodes if each is not one)
        return AttachedSampler(
            one.database,
            one.template.installation.version,
            loopback=one.server.loopback,
            beside=others if one is self._nodes.first else None,
        )

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
        """Nobody but the server sees its files."""

    def evict(self, _relation: str, _node: Node = FIRST) -> bool:
        return False

    def process_io(self, pid: int, node: Node = FIRST) -> ProcessIo | None:
        """Only of a server whose processes are this machine's."""
        return process_io(pid) if self._nodes.node(node).server.local else None

    def is_running(self) -> bool:
        return all(one.found is not None for one in self._nodes)

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def stacks(self) -> None:
        return None

    def failure(self, error: psycopg.Error) -> ServerError:
        """An error does not say which node's it is: the one that was asked last."""
        return unanswered(self._nodes.asked.database.route, error)

    def stop(self, *, sound: bool) -> Facts:
        for one in self._nodes:
            one.stop(sound=sound)
        return {"stopped": False}

    def abandon(self) -> None:
        """Drop the trial's own databases."""
        for one in self._nodes:
            one.give_back()
