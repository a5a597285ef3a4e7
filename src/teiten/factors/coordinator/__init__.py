"""Whether the coordinator of tables that are spread is one of the nodes; pure."""

from __future__ import annotations

from teiten.engines.registry import engine_of
from teiten.errors import UsageError
from teiten.factors.nodes import OfNodes
from teiten.model.distribution import CoordinatorRows
from teiten.model.plan import PlannedTrial


class CoordinatorFactor(OfNodes):
    name = "coordinator"
    says = "says whether the coordinator holds rows"
    rank = 64
    choices = tuple(CoordinatorRows)

    def check_trial(self, trial: PlannedTrial) -> None:
        """Not every engine is able of each."""
        planned = trial.distribution
        able = () if planned is None else engine_of(planned.engine).coordinators
        if planned is not None and planned.coordinator not in able:
            raise UsageError(
                f"with the engine {planned.engine} the coordinator is no node",
                f"--set coordinator={','.join(able)}, or another engine: --set engine=citus",
            )


FACTOR = CoordinatorFactor()
