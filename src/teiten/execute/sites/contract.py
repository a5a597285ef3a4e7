"""The place where a trial's servers run, as far as the trial needs it (METHOD.md, A trial).

A site is one trial's; what outlives a trial belongs to the campaign's servers. Trials and loads
know no more of either than this: not where the servers are, and not how many.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from teiten.errors import ServerError, WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.procfs import ProcessIo
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.nodes import Nodes, TrialNode
from teiten.host.system.affinity import kept_off
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import FIRST, Node, PlannedTrial, TemplateSpec
from teiten.model.trial import Problem
from teiten.model.units import Bytes, Seconds

WARM: Facts = {"running": "since an earlier pair"}
"""The facts of a step that is not needed, because the server is up and warm."""


@dataclass(frozen=True)
class StackSource:
    """A server whose call stacks can be sampled."""

    postmaster: int
    cflags: str
    """The compiler's flags with which it was built."""
    name: str
    """For a caution: ``PostgreSQL 13.23``."""


class Site(ABC):
    """Where the servers of one trial run: METHOD.md's steps on the server's side.

    Each template of the trial has a server, its node; all of them take every step. What is answered
    here with None, False or a refusal is what not every kind of site can do.

    What goes wrong with a connection is raised as psycopg has it, here and by whoever works on a
    connection; ``failure`` says what it means. Everything else is raised as TeitenError.
    """

    warm = False
    """The servers are up since an earlier pair, and need no warm-up."""
    moves_processes = False
    """The servers' processes run on this machine, and a load may choose their processors."""
    client: Client
    """Where load programs run."""

    def __init__(
        self, bench: Bench, trial: PlannedTrial, nodes: Nodes[TrialNode], client: Client
    ) -> None:
        self._bench, self._trial, self._nodes = bench, trial, nodes
        self._measure = bench.plan.study.measure
        self.client = client

    @property
    def facts(self) -> Facts:
        """For the trial's record; it grows with the steps."""
        return self._nodes.facts

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        """Kinds and names of the files that were kept in the trial's folder."""
        return tuple(file for node in self._nodes for file in node.evidence)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The servers, the first one first."""
        return self._nodes.numbers

    @abstractmethod
    def restore(self) -> Facts: ...

    @abstractmethod
    def caches(self) -> Facts: ...

    @abstractmethod
    def limit(self, memory: Bytes | None) -> Facts:
        """Limit, before the start, the memory that servers and load programs together may use; None
        for no limit.

        Raises MachineError where it cannot be kept to.
        """

    @abstractmethod
    def start(self) -> Facts: ...

    def prewarm(self) -> Facts:
        if not self._measure.prewarm:
            return {"prewarmed": False}
        return self._nodes.of_each(lambda node: node.prewarm())

    def settle(self) -> Facts:
        """CHECKPOINT, then a rest, which all sides have together that run at the same time."""
        return {**self._checkpoint(), "rested": self._rest()}

    def _checkpoint(self) -> Facts:
        return self._nodes.of_each(lambda node: node.checkpoint())

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        """A connection to a node's database, with the trial's parameters. Its errors, those of
        connecting among them, are psycopg's, ServerError's or HostLostError's."""
        return self._nodes.connect(node)

    @abstractmethod
    def address(self, node: Node = FIRST) -> Address:
        """For load programs."""

    @abstractmethod
    def peer_address(self, node: Node = FIRST) -> Address:
        """By which the other nodes' servers reach it."""

    def spawn(self, program: Program) -> Running:
        """Start a load program where the client is. Raises WorkloadError or MachineError."""
        return self.client.spawn(program)

    def spawn_beside(self, program: Program) -> Running:
        """Start a program of the first server's installation on that server's host, as its user:
        its name is the path, the server what libpq finds by itself (``execute.postgres.beside``).
        Raises as ``spawn``, WorkloadError where Teiten did not start the server."""
        raise self._attached(f"{program.name} cannot run beside")

    def crash(self) -> Seconds:
        """Crash the first server; how long it took until it took connections again. All that were
        open are lost. Raises WorkloadError where Teiten did not start the server, ServerError where
        it does not recover."""
        raise self._attached("Teiten does not crash")

    def _attached(self, refused: str) -> WorkloadError:
        """The error of what cannot be done to a server that Teiten did not start."""
        name = self._nodes.first.template.installation.name
        hint = "compare servers that Teiten starts: --servers 17,18"
        return WorkloadError(f"{refused} the server {name}: it is attached", hint)

    def server_reader(self) -> OsReader | None:
        """Reads what the first server's processes use; None where that cannot be seen."""
        return None

    @abstractmethod
    def sampler(self, node: Node = FIRST) -> Sampler:
        """New telemetry of one window. What nodes on one machine have in common, their processors
        and disks, is told of the first one alone."""

    def off_server_cpus(self) -> AbstractContextManager[None]:
        """Off the processors that only the servers have; they may share them with the client."""
        cpus = self._trial.server_cpus
        return kept_off(() if set(cpus) & set(self._trial.client_cpus) else cpus)

    def without_io_limits(self) -> AbstractContextManager[None]:
        """Meanwhile nodes' storage is not held to their bandwidth: for what comes after the
        measurement. Before it, up to ``settle``, it is not either."""
        return nullcontext()

    def page_cache(
        self, relation: str | None = None, node: Node = FIRST, *, first: Bytes | None = None
    ) -> PageCache | None:
        """How much of a relation's main fork the OS page cache holds, or of all files of a server.

        ``relation``: as for regclass; it must have files of its own. ``first``: only of so many
        bytes at its beginning. None where that cannot be seen.
        """
        del relation, node, first
        return None

    def evict(self, relation: str, node: Node = FIRST) -> bool:
        """Let a relation's main fork leave the OS page cache; its pages in shared buffers stay,
        and dirty ones come back once they are written. False where that cannot be done."""
        del relation, node
        return False

    def process_io(self, pid: int) -> ProcessIo | None:
        """Find what a process of the first server has read; None where that cannot be asked."""
        del pid
        return None

    @abstractmethod
    def is_running(self) -> bool:
        """Whether every server still runs, as far as that can be seen."""

    @abstractmethod
    def problems(self) -> tuple[Problem, ...]:
        """List the problems that the servers' logs tell of this trial."""

    def stacks(self) -> StackSource | None:
        """The first node's server; None where call stacks cannot be sampled."""
        return None

    @abstractmethod
    def failure(self, error: psycopg.Error) -> ServerError:
        """Say what an error of a connection to this site means; shows no secret.

        Raises HostLostError where the host itself is lost, which ends the campaign.
        """

    @abstractmethod
    def stop(self, *, sound: bool) -> Facts: ...

    @abstractmethod
    def abandon(self) -> None:
        """End what still runs, keep the evidence, give back what was changed; may be called
        twice."""

    def _noted(self, started: Facts) -> Facts:
        """Record what the first server says of itself; all of them are up."""
        first = self._nodes.first
        level = self._trial.cell.server or first.template.installation.name
        self._bench.note_server(level, first.reported, self._trial)
        return started

    def _rest(self) -> Seconds:
        """Rest once for all sides that run at the same time, after the last checkpoint: one that
        had rested before another's checkpoint would have rested longer."""
        last = self._bench.plan.pair_of(self._trial)[-1]
        seconds = self._measure.settle if self._trial.number == last.number else Seconds(0.0)
        time.sleep(seconds)
        return seconds


class CampaignServers(Protocol):
    """The servers of a campaign on one kind of sites: what is prepared for its trials, and kept
    from one to the next."""

    def prepare(self, template: TemplateSpec) -> Facts:
        """Make a template ready. Raises ServerError, MachineError or WorkloadError."""

    def site(self, trial: PlannedTrial, attempt: int) -> Site: ...

    def finish(self) -> None:
        """Give everything back; never raises."""
