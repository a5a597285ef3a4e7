"""By what rows go to nodes, where tables are spread over several; pure."""

from __future__ import annotations

from teiten.engines.registry import engine_of
from teiten.errors import UsageError
from teiten.factors.nodes import OfNodes
from teiten.model.distribution import SpreadBy
from teiten.model.plan import PlannedTrial


class DistributionFactor(OfNodes):
    name = "distribution"
    says = "says by what rows go to nodes"
    rank = 64
    choices = tuple(SpreadBy)

    def check_trial(self, trial: PlannedTrial) -> None:
        """Not every engine is able of each."""
        planned = trial.distribution
        able = () if planned is None else engine_of(planned.engine).spreads_by
        if planned is not None and planned.by not in able:
            raise UsageError(
                f"{planned.engine} does not spread tables by {planned.by}",
                f"--set distribution={','.join(able)}, or another engine: --set engine=citus",
            )


FACTOR = DistributionFactor()
