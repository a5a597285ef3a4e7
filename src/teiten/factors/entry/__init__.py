"""Which servers of spread tables the clients reach (2013 §5.3.2: all of them); pure."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from teiten.engines.registry import engine_of
from teiten.errors import UsageError
from teiten.factors.contract import Need
from teiten.factors.nodes import OfNodes
from teiten.model.distribution import ClientEntry
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.setup import PlannedCell, Setup
from teiten.ways.registry import way_of

CHOOSES_SINCE = 160000
"""pgbench whose library (libpq) chooses one of several servers for each connection."""


class EntryFactor(OfNodes):
    name = "entry"
    says = "says which nodes the clients reach"
    rank = 66
    of_data = False
    choices = tuple(ClientEntry)
    needs: ClassVar[frozenset[Need]] = frozenset({Need.INITDB, Need.START, Need.HERE})

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        if setup.distribution is None:
            return setup
        return replace(setup, distribution=replace(setup.distribution, entry=ClientEntry(level)))

    def check_plan(self, plan: Plan, facts: HostFacts) -> None:
        """Raise UsageError where the clients cannot enter through all nodes."""
        spread = [trial.distribution for trial in plan.trials if trial.distribution is not None]
        engines = {planned.engine for planned in spread if planned.entry is ClientEntry.ALL}
        if not engines:
            return
        for engine in sorted(engines):
            if not engine_of(engine).everywhere:
                raise UsageError(
                    f"with the engine {engine} clients enter through the coordinator alone",
                    "leave out entry=all",
                )
        if way_of(plan.study.measure).concurrent:
            raise UsageError(
                "paired transactions go to one server, and entry=all has several",
                "leave out entry=all, or measure trials one after another: --way classic",
            )
        if plan.pgbench.version.number < CHOOSES_SINCE:
            raise UsageError(
                f"pgbench {plan.pgbench.version} reaches one server only, and entry=all needs one"
                " that chooses among several: 16 or later",
                "teiten pg install pgbench; or leave out entry=all",
            )


FACTOR = EntryFactor()
