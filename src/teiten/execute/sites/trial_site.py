"""What the sites of trials have in common, wherever their servers run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic

import psycopg

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.process_io import ProcessIo
from teiten.execute.sites.contract import StackSource
from teiten.execute.sites.nodes import Nodes, SomeNode
from teiten.host.system.affinity import kept_off
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.units import Bytes, Seconds


class TrialSite(Generic[SomeNode]):
    """A trial's nodes, each of which takes every step. ``execute.sites.contract.Site`` says what
    the methods do; what is answered here with "not" is what a site on other machines cannot do."""

    warm = False
    moves_processes = False

    def __init__(
        self, bench: Bench, trial: PlannedTrial, nodes: Nodes[SomeNode], client: Client
    ) -> None:
        self._bench, self._trial, self._nodes = bench, trial, nodes
        self._measure = bench.plan.study.measure
        self.client = client

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._nodes.numbers

    @property
    def facts(self) -> Facts:
        return self._nodes.facts

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        return tuple(file for node in self._nodes for file in node.evidence)

    def _start_each(self, start: Callable[[SomeNode], Facts]) -> Facts:
        """Start the servers, and record what the first one says of itself."""
        started = self._nodes.of_each(start)
        first = self._nodes.first
        level = self._trial.cell.server or first.template.installation.name
        self._bench.note_server(level, first.told, self._trial)
        return started

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return self._nodes.of_each(lambda node: node.prewarm())

    def settle(self) -> Facts:
        settled = self._nodes.of_each(lambda node: node.checkpoint())
        self._apply_io_limits()
        return {**settled, "rested": self._rest()}

    def _apply_io_limits(self) -> None:
        """What follows is measured."""

    def _rest(self) -> Seconds:
        """Rest once for all sides that run at the same time, after the last checkpoint: one that
        had rested before another's checkpoint would have rested longer."""
        last = self._bench.plan.pair_of(self._trial)[-1]
        seconds = self._measure.settle if self._trial.number == last.number else Seconds(0.0)
        time.sleep(seconds)
        return seconds

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        return self._nodes.connect(node)

    def spawn(self, program: Program) -> Running:
        return self.client.spawn(program)

    def spawn_beside(self, program: Program, node: Node = FIRST) -> Running:
        name = self._nodes.node(node).template.installation.name
        raise WorkloadError(
            f"{program.name} cannot run beside the server {name}: it is attached",
            "compare servers that Teiten starts: --servers 17,18",
        )

    def server_reader(self, node: Node = FIRST) -> OsReader | None:
        del node
        return None

    def off_server_cpus(self) -> AbstractContextManager[None]:
        """Off the processors that only the servers have; they may share them with the client."""
        cpus = self._trial.server_cpus
        return kept_off(() if set(cpus) & set(self._trial.client_cpus) else cpus)

    def without_io_limits(self) -> AbstractContextManager[None]:
        return nullcontext()

    def page_cache(
        self, relation: str | None = None, node: Node = FIRST, *, first: Bytes | None = None
    ) -> PageCache | None:
        del relation, node, first
        return None

    def evict(self, relation: str, node: Node = FIRST) -> bool:
        del relation, node
        return False

    def process_io(self, pid: int, node: Node = FIRST) -> ProcessIo | None:
        del pid, node
        return None

    def stacks(self) -> StackSource | None:
        return None
