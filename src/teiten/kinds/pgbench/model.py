"""A load of pgbench: a workload's options, and the clients of a trial."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from teiten.model.plan import PlannedLoad, PlannedTrial
from teiten.model.rows import VariableRows
from teiten.model.study import QueryMode, Script, Workload, WorkloadOptions
from teiten.model.units import Seconds

NAME = "pgbench"
NODES = "nodes"
"""The factor by which tables are spread over several servers."""
REHEARSAL = Seconds(60.0)
"""How long the transaction may take by which a script is tried."""
_RETRIES = re.compile(r"--max-tries=(?!1$)\d+$")


@dataclass(frozen=True)
class PgbenchOptions(WorkloadOptions):
    """The script that the clients of a workload repeat, and how they do."""

    script: Script
    query_mode: QueryMode = QueryMode.SIMPLE
    invariants: tuple[str, ...] = ()
    """Checks on the data after a trial, by name: ``tpcb-balances``."""
    pgbench_options: tuple[str, ...] = ()
    """Further options of pgbench, verbatim."""
    index_lookups: bool = False
    """Count lookups by the tables' indexes, and the rows that they fetch from the tables."""
    random_rows: int | None = None
    """How many rows a transaction chooses at random and changes, for the model of commits; None for
    what is known of pgbench's own scripts."""
    clients_per_node: bool = False
    """The levels of clients are for each node: four nodes have four times as many."""
    variables: VariableRows | None = None
    """A list of values for the script's variables, of which each transaction draws a row."""
    statements: tuple[tuple[str, Script], ...] = ()
    """By a level of the factor statements: what its trials run in the place of the script."""
    idle_connections: int = 0
    """Connections to each server that do nothing while it is loaded."""
    reconnect: bool = False
    """Each transaction has a connection of its own, which is part of its time; with pgbench it is
    in TPS alone."""

    @property
    def source(self) -> str:
        return self.script.name

    @property
    def texts(self) -> tuple[Script, ...]:
        return tuple(script for _, script in self.statements) or (self.script,)

    @property
    def statement_levels(self) -> tuple[str, ...]:
        return tuple(level for level, _ in self.statements)

    @property
    def drawn(self) -> str:
        return "" if self.variables is None else self.variables.comment


def tries_again(options: Iterable[str]) -> bool:
    """Whether pgbench is told to repeat transactions that end in serialization failures."""
    return any(_RETRIES.match(option) for option in options)


@dataclass(frozen=True)
class PgbenchClients(PlannedLoad):
    """Who repeats the script in one trial."""

    clients: int = 1
    threads: int = 1
    """Threads of pgbench, among which the clients are divided."""
    query_mode: QueryMode = QueryMode.SIMPLE
    per_node: bool = False
    """Their number was multiplied by the trial's nodes."""
    statements: str = ""
    """The level of the factor statements; empty where that is not varied."""
    idle: int = 0
    """Connections that do nothing beside them."""
    reconnect: bool = False
    """Each transaction has a connection of its own."""

    @property
    def connections(self) -> int:
        return self.clients

    @property
    def most_connections(self) -> int:
        """With those that still end while their clients' next ones begin."""
        return super().most_connections + (self.clients if self.reconnect else 0)

    @property
    def asked(self) -> str:
        beside = f" with idle_connections={self.idle}" if self.idle else ""
        return f"clients={self.clients}{beside}"

    @property
    def manner(self) -> object:
        return self.query_mode, self.statements

    @property
    def noise(self) -> tuple[object, ...]:
        return self.clients, self.query_mode.value


def script_of(options: PgbenchOptions, clients: PgbenchClients) -> Script:
    """The script that the clients of a trial repeat."""
    return dict(options.statements).get(clients.statements, options.script)


def clients_of(trial: PlannedTrial) -> PgbenchClients:
    """The load of a trial of this kind. Raises TypeError for another one's."""
    if not isinstance(trial.load, PgbenchClients):
        raise TypeError(f"trial {trial.number} is no load of pgbench")
    return trial.load


def pgbench_of(workload: Workload) -> PgbenchOptions:
    """The options of a workload of this kind. Raises TypeError for another one's."""
    return workload.options_as(PgbenchOptions)
