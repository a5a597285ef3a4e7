"""By what rows go to nodes, where tables are spread over several; pure."""

from __future__ import annotations

from collections.abc import Iterable

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

    def check_trials(self, trials: Iterable[PlannedTrial]) -> None:
        """Not every engine is able of each."""
        for planned in {trial.distribution for trial in trials if trial.distribution is not None}:
            able = engine_of(planned.engine).spreads_by
            if planned.by not in able:
                raise UsageError(
                    f"{planned.engine} does not spread tables by {planned.by}",
                    f"--set distribution={','.join(able)}, or another engine: --set engine=citus",
                )


FACTOR = DistributionFactor()
