"""What a trial needs of the place where its servers run (METHOD.md, A trial).

A site is one trial's; what outlives a trial belongs to the campaign's servers. Trials and loads
know no more of either than this: not where the servers are, and not how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from teiten.errors import ServerError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Client, Program, Running
from teiten.execute.executor import Facts
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.process_io import ProcessIo
from teiten.execute.probes.sampler import Sampler
from teiten.host.system.page_cache import PageCache
from teiten.model.plan import FIRST, Node, PlannedTrial, TemplateSpec
from teiten.model.trial import Problem
from teiten.model.units import Bytes

WARM: Facts = {"running": "since an earlier pair"}
"""The facts of a step that is not needed, because the server is up and warm."""


@dataclass(frozen=True)
class StackSource:
    """A server whose call stacks can be sampled."""

    postmaster: int
    cflags: str
    """That it was compiled with."""
    name: str
    """For a caution: ``PostgreSQL 13.23``."""


class Site(Protocol):
    """Where the servers of one trial run: METHOD.md's steps on the server's side.

    Each template of the trial has a server, its node; all of them take every step.

    What goes wrong with a connection is raised as psycopg has it, here and by whoever works on a
    connection; ``failure`` says what it means. Everything else is raised as TeitenError.
    """

    @property
    def facts(self) -> Facts:
        """For the trial's record; it grows with the steps."""
        ...

    @property
    def evidence(self) -> Sequence[tuple[str, str]]:
        """Kinds and names of the files that were kept in the trial's folder."""
        ...

    @property
    def client(self) -> Client:
        """Where load programs run."""
        ...

    @property
    def nodes(self) -> Sequence[Node]:
        """The servers, the first one first."""
        ...

    @property
    def warm(self) -> bool:
        """The servers are up since an earlier pair, and need no warm-up."""
        ...

    @property
    def moves_processes(self) -> bool:
        """The servers' processes run on this machine, and a load may choose their processors."""
        ...

    def restore(self) -> Facts: ...
    def caches(self) -> Facts: ...
    def limit(self, cpus: float | None, memory: Bytes | None) -> Facts:
        """Before the start: what servers and load programs together may use; None for no limit.

        Raises MachineError where it cannot be kept to.
        """
        ...

    def start(self) -> Facts: ...
    def prewarm(self) -> Facts: ...
    def settle(self) -> Facts:
        """CHECKPOINT, then a rest, which all sides have together that run at the same time."""
        ...

    def connect(self, node: Node = FIRST) -> psycopg.Connection[Any]:
        """A connection to a node's database, with the trial's parameters. Its errors, those of
        connecting among them, are psycopg's, ServerError's or HostLostError's."""
        ...

    def address(self, node: Node = FIRST) -> Address:
        """For load programs."""
        ...

    def peer_address(self, node: Node = FIRST) -> Address:
        """By which the other nodes' servers reach it."""
        ...

    def spawn(self, program: Program) -> Running:
        """Start a load program where the client is. Raises WorkloadError or MachineError."""
        ...

    def spawn_beside(self, program: Program, node: Node = FIRST) -> Running:
        """Start a program of a server's installation on the server's host, as its user: its name is
        the path, the server what libpq finds by itself (``execute.postgres.beside``). Raises as
        ``spawn``, WorkloadError where Teiten did not start the server."""
        ...

    def server_reader(self, node: Node = FIRST) -> OsReader | None:
        """Reads what a server's processes use; None where that cannot be seen."""
        ...

    def sampler(self, node: Node = FIRST) -> Sampler:
        """New telemetry of one window. What nodes on one machine have in common, their processors
        and disks, is told of the first one alone."""
        ...

    def off_server_cpus(self) -> AbstractContextManager[None]:
        """Meanwhile Teiten itself keeps off the processors that only the servers have."""
        ...

    def without_io_limits(self) -> AbstractContextManager[None]:
        """Meanwhile nodes' storage is not held to their bandwidth: for what comes after the
        measurement. Before it, up to ``settle``, it is not either."""
        ...

    def page_cache(
        self, relation: str | None = None, node: Node = FIRST, *, first: Bytes | None = None
    ) -> PageCache | None:
        """How much of a relation's main fork the OS page cache holds, or of all files of a server.

        ``relation``: as for regclass; it must have files of its own. ``first``: only of so many
        bytes at its beginning. None where that cannot be seen.
        """
        ...

    def evict(self, relation: str, node: Node = FIRST) -> bool:
        """Let a relation's main fork leave the OS page cache; its pages in shared buffers stay,
        and dirty ones come back once they are written. False where that cannot be done."""
        ...

    def process_io(self, pid: int, node: Node = FIRST) -> ProcessIo | None:
        """What a process of a server has read; None where that cannot be asked."""
        ...

    def is_running(self) -> bool:
        """Whether every server still runs, as far as that can be seen."""
        ...

    def problems(self) -> tuple[Problem, ...]:
        """What the servers' logs tell of this trial."""
        ...

    def stacks(self) -> StackSource | None:
        """Of the first node; None where call stacks cannot be sampled."""
        ...

    def failure(self, error: psycopg.Error) -> ServerError:
        """What an error of a connection to this site means; shows no secret.

        Raises HostLostError where the host itself is lost, which ends the campaign.
        """
        ...

    def stop(self, *, sound: bool) -> Facts: ...
    def abandon(self) -> None:
        """End what still runs, keep the evidence, give back what was changed; may be called
        twice."""
        ...


class CampaignServers(Protocol):
    """The servers of a campaign on one kind of sites: what is prepared for its trials, and kept
    from one to the next."""

    def prepare(self, template: TemplateSpec) -> Facts:
        """Make a template ready. Raises ServerError, MachineError or WorkloadError."""
        ...

    def site(self, trial: PlannedTrial, attempt: int) -> Site: ...

    def finish(self) -> None:
        """Give everything back; never raises."""
        ...
