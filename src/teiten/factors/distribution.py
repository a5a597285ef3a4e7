"""By what rows go to nodes, where tables are spread over several; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from teiten.engines.registry import engine_of
from teiten.errors import UsageError
from teiten.factors.contract import FactorRule
from teiten.factors.nodes import FACTOR as NODES
from teiten.factors.nodes import check_has_nodes
from teiten.model.distribution import SpreadBy
from teiten.model.plan import PlannedTrial
from teiten.model.study import Factor, Workload
from teiten.suggest import did_you_mean

if TYPE_CHECKING:
    from teiten.study.draft import Draft
    from teiten.study.file import StudyFile


class DistributionFactor(FactorRule):
    name = "distribution"
    rank = 64
    of_server = False
    of_data = True

    def level(self, value: Any) -> str:
        known, text = tuple(SpreadBy), str(value).strip()
        if text not in known:
            near = did_you_mean(text, known)
            raise ValueError(f"must be one of {', '.join(known)}, not {text!r}.{near}")
        return text

    def applies(self, workload: Workload) -> bool:
        return NODES.applies(workload)

    def check_study(
        self, draft: Draft, tables: StudyFile, factor: Factor, workloads: Sequence[Workload]
    ) -> None:
        check_has_nodes(draft, tables, self.name, "says by what rows go to nodes")

    def check_trials(self, trials: Iterable[PlannedTrial]) -> None:
        """Not every engine is able of each."""
        for planned in {one.distribution for one in trials if one.distribution is not None}:
            able = engine_of(planned.engine).spreads_by
            if planned.by not in able:
                raise UsageError(
                    f"{planned.engine} does not spread tables by {planned.by}",
                    f"--set distribution={','.join(able)}, or another engine: --set engine=citus",
                )


FACTOR = DistributionFactor()
