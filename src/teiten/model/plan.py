"""A plan: the trials of a campaign in order, with what they need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from teiten.model.distribution import Distribution
from teiten.model.facts import HostFacts
from teiten.model.hosts import HostAssignment
from teiten.model.installation import Installation, Pgbench
from teiten.model.nodes import NodeMachine
from teiten.model.storage import FilePlacement
from teiten.model.study import SERVER, DataSet, Measure, Study
from teiten.model.units import Bytes, Seconds


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions of a trial's servers: set by factors, kept by planned trials, read by sites."""

    server_cpus: tuple[int, ...] = ()
    """The processors that the server is pinned to; empty where it is not."""
    client_cpus: tuple[int, ...] = ()
    """The processors that the load generator is pinned to; empty where it is not."""
    directory: str | None = None
    """Where the cluster's data are; None for Teiten's working folder."""
    placement: FilePlacement | None = None
    """On which storage each part of the cluster lies; None for all of it in one folder."""
    memory_limit: Bytes | None = None
    """The memory that server and load generator together may use, the page cache of their files
    included; None for no limit."""
    distribution: Distribution | None = None
    """How its tables are spread over its servers; None where the first one has all of them."""
    applied: tuple[tuple[str, str], ...] = ()
    """Factors that are applied as a server starts (``factors/NAME/run.py``), with their levels."""

    def conditions(self) -> dict[str, Any]:
        """The fields above, by name: what a planned trial takes over from its setup."""
        return {field.name: getattr(self, field.name) for field in fields(Conditions)}


@dataclass(frozen=True)
class Cell:
    """One combination of levels of one workload."""

    workload: str
    levels: tuple[tuple[str, str], ...]
    """Factor and level, in the order of the study's factors."""

    def level(self, factor: str) -> str | None:
        return dict(self.levels).get(factor)

    @property
    def server(self) -> str:
        """The level of the factor server, which every cell has."""
        return self.level(SERVER) or ""

    def context(self, contrast: str) -> Context:
        """The levels of all factors but the contrasted one."""
        return tuple(pair for pair in self.levels if pair[0] != contrast)

    def __str__(self) -> str:
        return " ".join((self.workload, *(f"{name}={level}" for name, level in self.levels)))


Context = tuple[tuple[str, str], ...]
"""The levels of all factors but the contrasted one."""
Level = tuple[str, Context]
"""A workload, and the levels of all factors but the contrasted one: what is compared together."""


@dataclass(frozen=True)
class TemplateSpec:
    """The contents of a template: a data set in a cluster of one installation."""

    installation: Installation
    checksums: bool
    data: DataSet
    fingerprint: str
    """A hash of the binaries, the initdb options and the data set: the template's name on disk."""
    expected_bytes: Bytes
    origin: Installation | None = None
    """The installation whose cluster is upgraded; None for a cluster that initdb makes."""


Node = int
"""One of the servers of a trial, by its number."""
FIRST: Node = 1
"""The node that is meant where none is named."""
ClusterKey = tuple[str, int, int]
"""By which a node's cluster is known to the trials that have the same: its template's fingerprint,
the copy, and which of its trial's clusters of that template it is, from 1."""


@dataclass(frozen=True)
class PlannedLoad:
    """Load on the servers of one trial, as far as trials of a workload differ in it; what a kind
    has of it stands in ``kinds/KIND/model.py``."""

    @property
    def connections(self) -> int:
        """How many it has to the first node at the same time."""
        return 1

    @property
    def idle(self) -> int:
        """How many further connections do nothing meanwhile."""
        return 0

    @property
    def most_connections(self) -> int:
        """How many the first node has to allow it."""
        return self.connections + self.idle

    @property
    def asked(self) -> str:
        """The number of connections, in the words of a study: ``clients=4``."""
        return "a connection"

    @property
    def manner(self) -> object:
        """A key of loads that do the same: one of them is rehearsed."""
        return None

    @property
    def noise(self) -> tuple[object, ...]:
        """The parts on which the noise of a trial depends, as JSON."""
        return ()


@dataclass(frozen=True, kw_only=True)
class PlannedTrial(Conditions):
    """One trial: where it stands in the order, and everything that its execution needs."""

    number: int
    """From 1, in the order of execution."""
    block: int
    """From 1."""
    cell: Cell
    seed: int
    """pgbench's --random-seed: the same within the cells of a context in a block."""
    templates: tuple[TemplateSpec, ...]
    """The template that each node is a copy of, in the order of their numbers."""
    load: PlannedLoad
    settings: tuple[tuple[str, str], ...]
    """Server parameters of this trial, after the factors' levels were applied."""
    copy: int = 1
    """Which copy of the templates: sides that are the same in everything (a server against itself)
    have one each, as two versions have, and so do sides whose servers run side by side; others of
    one template share one."""
    turns: tuple[int, ...] = ()
    """The places of this trial's slices among those of its pair, from 1 and rising; empty where a
    trial runs by itself."""
    restart: int = 0
    """Pairs of one number, from 1, share a start of their servers; 0 where a trial runs by itself.
    """
    machines: tuple[NodeMachine, ...] = ()
    """The machine of each node, in the order of their numbers, where nodes are emulated as machines
    of their own; empty where they are plain servers."""

    @property
    def template(self) -> TemplateSpec:
        """The first node's, which is asked where none is named."""
        return self.templates[0]

    @property
    def scale(self) -> int | float | None:
        """The scale of all tables together, wherever they are."""
        return self.template.data.scale if self.distribution is None else self.distribution.scale

    @property
    def nodes(self) -> tuple[tuple[Node, TemplateSpec], ...]:
        return tuple(enumerate(self.templates, start=FIRST))

    def cluster_of(self, node: Node) -> ClusterKey:
        fingerprints = self.fingerprints[:node]
        return fingerprints[-1], self.copy, fingerprints.count(fingerprints[-1])

    def host_of(self, node: Node) -> int:
        """Find which of several db hosts a node is on, from 0: each node that holds rows has its
        own, and a coordinator that holds none is on the first."""
        planned = self.distribution
        holders = range(0) if planned is None else planned.holders
        return holders.index(node) if node in holders else 0

    @property
    def memory_limits(self) -> tuple[Bytes, ...]:
        """The limits of its control groups: one for servers and load, or one for each node."""
        own = tuple(machine.memory for machine in self.machines if machine.memory is not None)
        return own if self.memory_limit is None else (self.memory_limit, *own)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The fingerprints of its templates: equal for equal servers."""
        return tuple(template.fingerprint for template in self.templates)

    @property
    def kind(self) -> tuple[object, ...]:
        """Kind of servers and script: one rehearsal serves for all trials of a kind."""
        return (
            self.fingerprints,
            self.settings,
            self.cell.workload,
            self.load.manner,
            *self.conditions().values(),
            self.machines,
        )


def of_each_kind(measure: Measure, trials: Iterable[PlannedTrial]) -> tuple[PlannedTrial, ...]:
    """The first trial of each kind of servers and script, whatever its sessions set."""
    kinds: dict[tuple[object, ...], PlannedTrial] = {}
    for trial in trials:
        started = replace(trial, settings=measure.of_server(trial.settings))
        kinds.setdefault(started.kind, trial)
    return tuple(kinds.values())


@dataclass(frozen=True)
class Needs:
    """The needs of a campaign: time, disk and memory of the machine."""

    seconds: Seconds
    measured_seconds: Seconds
    disk: Bytes
    """In Teiten's working folder."""
    memory: Bytes
    directories: tuple[tuple[str, Bytes], ...] = ()
    """The disk that clusters need in each folder that the study names."""
    storages: tuple[tuple[str, Bytes], ...] = ()
    """The disk that clusters need on each storage class of a placement, by its name."""


@dataclass(frozen=True)
class Plan:
    """Everything decided before a campaign starts; reproducible from study, facts and seed."""

    study: Study
    """Sized: no value is left open."""
    seed: int
    servers: tuple[tuple[str, Installation], ...]
    """The level of the factor ``server`` and its installation."""
    pgbench: Pgbench
    templates: tuple[TemplateSpec, ...]
    trials: tuple[PlannedTrial, ...]
    needs: Needs
    hosts: HostAssignment | None = None
    """Where it runs; None for this machine."""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of all trials, each once, in the order in which they come first. There are some
        dozens of them where there are thousands of trials."""
        return tuple(dict.fromkeys(trial.cell for trial in self.trials))

    def cells_of(self, workload: str) -> tuple[Cell, ...]:
        """Those of one workload."""
        return tuple(cell for cell in self.cells if cell.workload == workload)

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """The numbers of all blocks, each once, in the order in which they come first."""
        return tuple(dict.fromkeys(trial.block for trial in self.trials))

    @cached_property
    def pairs_of_a_start(self) -> int:
        """How many pairs share a start of their servers, at most; they count as one pair."""
        blocks: dict[int, set[int]] = {}
        for trial in self.trials:
            if trial.restart:
                blocks.setdefault(trial.restart, set()).add(trial.block)
        return max(map(len, blocks.values()), default=1)

    @property
    def blocks_of_a_number(self) -> int:
        """How many blocks give a comparison one number that stands for itself."""
        return self.pairs_of_a_start * self.study.starts_of_all

    @property
    def client_machine(self) -> HostFacts | None:
        """The load generator's, where it is another than the servers'."""
        if self.hosts is None or self.hosts.together:
            return None
        return self.hosts.client.facts

    def machine_of(self, trial: PlannedTrial, node: Node, first: HostFacts) -> HostFacts:
        """The machine of a node's server; ``first``: that of the first node."""
        if self.hosts is None or not self.hosts.more:
            return first
        return self.hosts.servers[trial.host_of(node)].facts

    @property
    def servers_elsewhere(self) -> frozenset[str]:
        """The levels of servers of which it is not known on which machine they run."""
        return frozenset(level for level, server in self.servers if server.attached is not None)

    @property
    def is_of_one_start(self) -> bool:
        """Whether the pairs share a start of a server that Teiten does not restart."""
        return bool(self.servers_elsewhere)

    def servers_without(self, extension: str) -> tuple[str, ...]:
        """The levels of servers whose modules are known, and do not have this one."""
        return tuple(
            level
            for level, server in self.servers
            if server.contrib and extension not in server.contrib
        )

    def place_of(self, trial: PlannedTrial) -> tuple[str, ...]:
        """The addresses and hosts where a trial runs; empty for this machine."""
        servers = (template.installation.attached for template in trial.templates)
        addresses = tuple(server.address for server in servers if server is not None)
        if self.hosts is None:
            return addresses
        hosts = (self.hosts.db, self.hosts.client, *(node.host for node in self.hosts.more))
        return (*addresses, *(host.name for host in hosts))

    def starter_of(self, trial: PlannedTrial) -> PlannedTrial:
        """The trial on whose server a trial runs: of sides that share one, the pair's first."""
        return self.pair_of(trial)[0] if self.study.measure.by_session else trial

    def pair_of(self, trial: PlannedTrial) -> tuple[PlannedTrial, ...]:
        """The trials whose slices are run in turn with those of this one, itself among them, in
        the plan's order; the trial alone where it runs by itself."""
        if not trial.turns:
            return (trial,)
        contrast = self.study.contrast
        context = trial.cell.context(contrast)
        sides = len(self.study.contrasted_levels) or 1
        near = self.trials[max(0, trial.number - sides) :][: 2 * sides]
        return tuple(
            side
            for side in near
            if side.block == trial.block
            and side.cell.workload == trial.cell.workload
            and side.cell.context(contrast) == context
        )
