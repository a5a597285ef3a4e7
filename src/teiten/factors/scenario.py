"""How the size of the tables goes with the number of nodes (2013 §5.4.1); pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from teiten.factors.contract import FactorRule
from teiten.factors.nodes import FACTOR as NODES
from teiten.factors.nodes import check_has_nodes, most_nodes
from teiten.model.study import Factor, Workload
from teiten.suggest import did_you_mean

if TYPE_CHECKING:
    from teiten.plan.setup import Around, Setup
    from teiten.study.draft import Draft
    from teiten.study.file import StudyFile

THROUGHPUT = "throughput"
"""The size is fixed: the scale for each node, times the most nodes of the study."""
SIZE = "size"
"""The size grows with the nodes: the scale for each node, times the trial's."""


class ScenarioFactor(FactorRule):
    name = "scenario"
    rank = 63
    of_server = False
    of_data = True

    def level(self, value: Any) -> str:
        known, text = (THROUGHPUT, SIZE), str(value).strip()
        if text not in known:
            near = did_you_mean(text, known)
            raise ValueError(f"must be one of {', '.join(known)}, not {text!r}.{near}")
        return text

    def applies(self, workload: Workload) -> bool:
        return NODES.applies(workload)

    def check_study(
        self, draft: Draft, tables: StudyFile, factor: Factor, workloads: Sequence[Workload]
    ) -> None:
        check_has_nodes(draft, tables, self.name, "says how the tables grow with the nodes")

    def set(self, setup: Setup, factor: str, level: str, around: Around) -> Setup:
        """The study's scale is that for each node."""
        study, scale = around.study, setup.data.scale
        own = max(1, int(around.cell.level(NODES.name) or 1))
        times = most_nodes(study) if level == THROUGHPUT else own
        data = replace(setup.data, scale=None if scale is None else scale * times)
        return replace(setup, data=data)


FACTOR = ScenarioFactor()
