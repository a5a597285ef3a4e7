"""The engine that spreads the tables over several nodes; pure."""

from __future__ import annotations

from typing import Any, ClassVar

from teiten.engines.contract import Engine
from teiten.engines.registry import engine_of, names
from teiten.errors import UsageError
from teiten.factors.contract import Need
from teiten.factors.nodes import OfOwnServers
from teiten.model.distribution import CoordinatorRows
from teiten.model.facts import HostFacts
from teiten.model.installation import Installation
from teiten.model.plan import Plan, PlannedTrial
from teiten.study.values import one_of

SPARE = 10
"""Connections of Teiten, and those that only superusers get."""
USUAL_CONNECTIONS = 100
"""PostgreSQL's own."""


class EngineFactor(OfOwnServers):
    name = "engine"
    rank = 64
    needs: ClassVar[frozenset[Need]] = frozenset({Need.INITDB, Need.START})

    def level(self, value: Any) -> str:
        return one_of(str(value).strip(), names())

    def check_trial(self, trial: PlannedTrial) -> None:
        """Every server of a trial has the engine, and all are of one version."""
        if trial.distribution is None:
            return
        for template in trial.templates:
            _check_server(engine_of(trial.distribution.engine), template.installation)
        _check_versions(trial)

    def check_plan(self, plan: Plan, facts: HostFacts) -> None:
        """Every node has as many connections and prepared transactions as its trial may need."""
        for trial in plan.trials:
            _check_connections(trial)


def _check_server(engine: Engine, installation: Installation) -> None:
    if installation.version.number < engine.oldest * 10_000:
        raise UsageError(
            f"{engine.name} needs PostgreSQL {engine.oldest} or later, and {installation.name} is"
            f" {installation.version}",
            f"choose a later server, for example --servers {engine.oldest + 7}",
        )
    if installation.surely_lacks(engine.extension):
        raise UsageError(
            f"{installation.name} has no extension {engine.extension}, which the engine"
            f" {engine.name} needs",
            engine.installing,
        )


def _check_versions(trial: PlannedTrial) -> None:
    versions = {str(template.installation.version) for template in trial.templates}
    if len(versions) > 1:
        raise UsageError(
            f"the nodes of a trial are of different versions: {', '.join(sorted(versions))}",
            "one database wants one version on all of its nodes",
        )


def _check_connections(trial: PlannedTrial) -> None:
    """The coordinator's clients and connections to nodes against what a node allows."""
    planned, clients = trial.distribution, trial.load.connections
    if planned is None or not engine_of(planned.engine).starts:
        return  # what is free on servers that run already, their sites know
    engine = engine_of(planned.engine)
    needed = engine.connections(clients, planned.nodes)
    if planned.coordinator is CoordinatorRows.NODE:
        needed += clients  # the clients' own, on the same server
    prepared = int(engine.settings(clients).get("max_prepared_transactions", 0))
    for name, wanted, usual in (
        ("max_connections", needed + SPARE, USUAL_CONNECTIONS),
        ("max_prepared_transactions", prepared, 0),
    ):
        given = dict(trial.settings).get(name, str(usual))
        if given.isdecimal() and int(given) < wanted:
            raise UsageError(
                f"{trial.cell}: {name} = {given}, and each node needs {wanted} for"
                f" {clients} clients through {planned.engine}",
                f"--guc {name}={wanted}, or fewer clients: --set clients=…",
            )


FACTOR = EngineFactor()
